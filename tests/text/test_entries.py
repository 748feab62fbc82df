"""What a vocabulary has for a token, in words and in tables; and text that it has no piece for."""

from attnviz.text.display import display_token
from attnviz.text.entries import TokenText, columns_of, entry, entry_columns, entry_of, entry_text, token_texts
from attnviz.text.tokens import Token
from tests.each_case import each_case

LOVE = Token("love", 3893, 2, 6, piece="▁love")
UNKNOWN = Token("龘", 1, 7, 8, piece="[UNK]", is_unknown=True)
END = Token("", 203, 6, 7, piece="Ċ")
NOBODY_SAID = Token("love", -1, 0, 4)


@each_case(
    ("tokens", "said"),
    [
        ([LOVE], "piece ▁love, id 3893"),
        ([LOVE, END], "pieces ▁love Ċ, ids 3893, 203"),
        ([UNKNOWN], "piece [UNK], id 1, unknown to the model"),
        ([Token("x", 7, 0, 1)], "id 7"),
        ([NOBODY_SAID], ""),
        ([], ""),
    ],
)
def test_an_entry_in_words(tokens: list[Token], said: str) -> None:
    assert entry_text(tokens) == said


def test_four_texts_that_a_model_cannot_tell_apart_say_so_and_stay_four() -> None:
    four = [Token(text, 1, at, at + 1, piece="[UNK]", is_unknown=True) for at, text in enumerate("龘龖靐🚴")]
    assert token_texts(four) == ["[UNK] 龘", "[UNK] 龖", "[UNK] 靐", "[UNK] 🚴"]
    assert display_token(LOVE) == "love"


def test_a_piece_that_cannot_be_seen_is_named() -> None:
    assert entry(Token("", 9, 0, 0, piece="\u200b")) == ["U+200B", 9]


def test_columns_of_single_tokens_hold_numbers_and_those_of_words_texts() -> None:
    assert entry_columns("key", [[LOVE], [UNKNOWN]]) == {"key_piece": ["▁love", "[UNK]"], "key_id": [3893, 1]}
    assert entry_columns("key", [[LOVE, END], []]) == {"key_piece": ["▁love Ċ", ""], "key_id": ["3893 203", ""]}
    assert entry_columns("key", [[NOBODY_SAID], []]) == {}


def test_a_shown_text_knows_its_tokens_and_a_plain_one_none() -> None:
    assert entry_of(TokenText("love", LOVE)) == entry_text([LOVE])
    assert entry_of("love") == ""
    assert columns_of("row", ["love"]) == {}
    assert columns_of("row", token_texts([LOVE]))["row_id"] == [3893]
