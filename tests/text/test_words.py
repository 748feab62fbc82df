"""Which tokens make up a word."""

from hypothesis import given
from hypothesis import strategies as st

from attnviz.text.tokens import Token
from attnviz.text.words import word_groups
from tests.each_case import each_case


def tokens(*pieces: str) -> list[Token]:
    return [
        Token(piece.removeprefix("▁"), 0, 0, 0, is_special=piece.startswith("<"), starts_word=piece.startswith("▁"))
        for piece in pieces
    ]


def words(*pieces: str) -> list[str]:
    made = tokens(*pieces)
    return ["".join(made[at].text for at in group) for group in word_groups(made)]


@each_case(
    ("pieces", "expected"),
    [
        (["▁ho", "use", "▁fire", "<eos>"], ["house", "fire", "<eos>"]),
        (["<bos:fr>", "un", "▁chien"], ["<bos:fr>", "un", "chien"]),
        (["▁pond", ".", "<eos>"], ["pond", ".", "<eos>"]),
        (["▁don", "'", "t"], ["don't"]),
        (["▁par", "-", "dess", "us"], ["par-dessus"]),
        (["▁«", "oui", "»", "!"], ["«", "oui", "»", "!"]),
        (["▁", "π", "2"], ["π2"]),
        (["▁", "?", "<eos>"], ["?", "<eos>"]),
        (["▁$", "5"], ["$5"]),
        (["<bos:zh>", "我", "爱", "你", "。", "<eos>"], ["<bos:zh>", "我", "爱", "你", "。", "<eos>"]),
        (["机", "器", "GP", "U", "学"], ["机", "器", "GPU", "学"]),
        (["▁", "爱"], ["", "爱"]),
        (["▁に", "ほ"], ["に", "ほ"]),
        (["▁a", "▁🚴", "", "", "▁riding"], ["a", "🚴", "riding"]),  # a character of several tokens, then a space
        (["▁🚴", "", "▁", "r", "iding"], ["🚴", "riding"]),
        (["▁나", "", "는", "", "▁학", "", "교"], ["나는", "학교"]),
        (["▁龘", "", "x"], ["龘", "x"]),
        (["▁龘", "", "", "龖", ""], ["龘", "龖"]),
        (["▁ฉัน", "รัก", "คุณ", "▁มาก"], ["ฉัน", "รัก", "คุณ", "มาก"]),  # Thai
        (
            ["▁ก", "\u0e34", "น", "\u0e33", "", "ข", "", "าว"],
            ["กิ", "นำ", "ขาว"],
        ),  # signs and vowels, bytes between them
        (["▁ຂ້ອຍ", "ຮັກ", "ເຈົ້າ"], ["ຂ້ອຍ", "ຮັກ", "ເຈົ້າ"]),  # Lao
        (["▁ខ្ញុំ", "ស្រឡាញ់", "អ្នក"], ["ខ្ញុំ", "ស្រឡាញ់", "អ្នក"]),  # Khmer
        (["▁ငါ", "မင်းကို", "ချစ်တယ်", "။"], ["ငါ", "မင်းကို", "ချစ်တယ်", "။"]),  # Burmese
        (["▁ང་", "ཁྱེད་", "ལ་", "དགའ"], ["ང་", "ཁྱེད་", "ལ་", "དགའ"]),  # Tibetan
        (["▁ꦲꦏꦸ", "ꦠꦿꦺꦱ꧀ꦤ", "GP", "U"], ["ꦲꦏꦸ", "ꦠꦿꦺꦱ꧀ꦤ", "GPU"]),  # Javanese
        (["▁नम", "स्ते"], ["नमस्ते"]),  # Hindi has spaces
        ([], []),
    ],
)
def test_words_joins_pieces_into_words(pieces: list[str], expected: list[str]) -> None:
    assert words(*pieces) == expected


def test_two_special_tokens_stay_two() -> None:
    assert words("<bos:fr>", "<eos>") == ["<bos:fr>", "<eos>"]


@given(
    st.lists(
        st.builds(
            Token,
            st.text(max_size=3),
            st.just(0),
            st.just(0),
            st.just(0),
            is_special=st.booleans(),
            starts_word=st.booleans(),
        ),
        max_size=13,
    )
)
def test_every_token_is_in_one_group_and_groups_are_in_order(some: list[Token]) -> None:
    groups = word_groups(some)
    assert [at for group in groups for at in group] == list(range(len(some)))
    assert all(group for group in groups)
    assert all(len(group) == 1 for group in groups if any(some[at].is_special for at in group))
