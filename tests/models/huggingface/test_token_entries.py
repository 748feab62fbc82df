"""A checkpoint's tokens know their piece and id, as transformers' own tokenizer has them; unknown text and ends of
lines are told apart from all else.
"""

import copy
from collections.abc import Sequence

import pytest
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from attnviz.maps.options import MapOptions
from attnviz.maps.selection import select
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer
from attnviz.text.display import display_token
from attnviz.text.limits import TextError
from tests.each_case import each_case

STRANGE = "Hello 龘 나는\nworld, it sleeps 🚴 riding."


@each_case("name", ["bert", "gpt2", "llama", "t5"])
def test_every_token_has_the_piece_and_id_that_transformers_has(model, checkpoint, name: str) -> None:
    loaded, text = model(name), "The quick brown fox 龘"
    theirs = transformers.AutoTokenizer.from_pretrained(checkpoint(name))
    read = loaded.text.encode(text).tokens
    assert [token.id for token in read] == theirs(text)["input_ids"]
    assert [token.piece for token in read] == theirs.convert_ids_to_tokens([token.id for token in read])
    written = loaded.decode_ids([token.id for token in read])[1]
    assert [token.piece for token in written] == [token.piece for token in read]


@pytest.mark.parametrize(("name", "unknown"), [("bert", {"龘", "나는", "🚴"}), ("gpt2", set())])
def test_text_without_a_piece_of_its_own_is_unknown(model, name: str, unknown: set[str]) -> None:
    tokens = model(name).text.encode(STRANGE).tokens
    assert {token.text for token in tokens if token.is_unknown} == unknown
    assert {token.piece for token in tokens if token.is_unknown} == ({"[UNK]"} if unknown else set())


def test_the_end_of_a_line_is_a_word_of_its_own_where_the_model_reads_it(model) -> None:
    words = MapOptions(words=True)
    gpt2 = [col.text for col in select(model("gpt2").trace(STRANGE, new_tokens=0), "decoder_self", words).cols]
    assert gpt2[gpt2.index("↵") - 1 : gpt2.index("↵") + 2] == ["나는", "↵", "world"]
    assert {"🚴", "riding", "sleeps"} <= set(gpt2)
    bert = [col.text for col in select(model("bert").trace(STRANGE), "encoder_self", words).cols]
    assert "↵" not in bert, "BERT's tokenizer reads it as a space"
    assert {"[UNK] 나는", "world", "[UNK] 🚴", "riding"} <= set(bert)


def test_a_tokenizer_that_panics_while_it_decodes_is_one_sentence(model) -> None:
    backend = copy.deepcopy(model("gpt2").text._backend)
    letter = backend._tokenizer.token_to_id("a")
    backend._tokenizer.decoder = decoders.Strip("a", 3, 9)  # takes more letters off a token than it has
    with pytest.raises(TextError, match=r"^The model's tokenizer crashes: its files are damaged \([^\n]*\)\.$"):
        backend.decode([letter])


_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def _unigram(*pieces: str, splits: bool = False, composes: bool = False, byte_fallback: bool = False) -> Tokenizer:
    """Make a sentencepiece-like tokenizer of a few pieces, the more likely the earlier."""
    vocabulary = [("<unk>", 0.0), *((piece, -1.0 - at / 100) for at, piece in enumerate(pieces))]
    made = Tokenizer(models.Unigram(vocabulary, unk_id=0, byte_fallback=byte_fallback))
    metaspace = pre_tokenizers.Metaspace()
    whole = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace])
    made.pre_tokenizer = whole if splits else metaspace
    if composes:
        made.normalizer = normalizers.NFC()
    made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return made


def _bytes(**options: bool) -> Tokenizer:
    """Make a byte-level tokenizer without merges, with a token that was added to it."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({letter: id_ for id_, letter in enumerate(alphabet)}, []))
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(**options), decoders.ByteLevel()
    made.add_tokens([AddedToken("<x>")])
    return made


_WORDS = ("▁", "▁work", "▁is", "sufficient", "中文", "猫")


@each_case(
    ("tokenizer", "text", "pieces", "texts"),
    [
        (
            _unigram(*_WORDS, splits=True), "work is sufficient",
            "▁work ▁is ▁ sufficient", ["work", "is", "", "sufficient"],
        ),
        (_unigram(*_WORDS, splits=True), "中文", "▁ 中文", ["", "中文"]),
        (_unigram(*_WORDS), "猫 work 猫", "▁ 猫 ▁work ▁ 猫", ["", "猫", "work", "", "猫"]),
        (_bytes(add_prefix_space=True), "a<x>b", "Ġ a <x> Ġ b", ["", "a", "<x>", "", "b"]),
        (_bytes(add_prefix_space=True), "é", "Ġ Ã ©", ["", "é", ""]),
        (_unigram("▁", *"cafeé", composes=True), "cafe\u0301a", "▁ c a f é a", ["", "c", "a", "f", "e\u0301", "a"]),
        (_unigram("▁", "한", "a", composes=True), "\u1112\u1161\u11aba", "▁ 한 a", ["", "\u1112\u1161\u11ab", "a"]),
        (
            _unigram("▁", "a", *_BYTES, byte_fallback=True), "é猫a",
            "▁ <0xC3> <0xA9> <0xE7> <0x8C> <0xAB> a", ["", "é", "", "猫", "", "", "a"],
        ),
        (_unigram("a", *_BYTES, byte_fallback=True), "é a", "<0xE2> <0x96> <0x81> <0xC3> <0xA9> <0xE2> <0x96> <0x81> a",
         ["", "", "", "é", "", "", "", "", "a"]),
    ],
)  # fmt: skip
def test_a_token_shows_the_characters_that_it_was_made_from(
    tokenizer: Tokenizer, text: str, pieces: str, texts: Sequence[str]
) -> None:
    theirs = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")
    tokens = CheckpointTokenizer(theirs, max_tokens=99).encode(text).tokens
    assert theirs.convert_ids_to_tokens([token.id for token in tokens]) == pieces.split()
    assert [token.text for token in tokens] == texts
    assert all(display_token(token) == "␣" for token in tokens if token.piece in ("▁", "Ġ"))


def test_a_token_that_is_special_by_its_flag_alone_is_special_read_and_written() -> None:
    tokenizer = _bytes(add_prefix_space=False)
    tokenizer.add_special_tokens([AddedToken("<|turn|>", special=True)])
    theirs = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<x>")
    turn = theirs.convert_tokens_to_ids("<|turn|>")
    assert turn not in theirs.all_special_ids
    ours = CheckpointTokenizer(theirs, max_tokens=99)
    read = ours.encode("a<|turn|>b")
    written = ours.append_ids(ours.encode("a"), read.ids[1:])
    for encoded in (read, written):
        assert [display_token(token) for token in encoded.tokens] == ["a", "<|turn|>", "b"]
        assert [token.is_special for token in encoded.tokens] == [False, True, False]
    assert written.text == theirs.decode(written.ids, skip_special_tokens=True) == "ab"
