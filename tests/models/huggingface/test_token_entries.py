"""A checkpoint's tokens know their piece and id, as transformers' own tokenizer has them; unknown text and ends of
lines are told apart from all else.
"""

import copy

import pytest
import transformers
from tokenizers import decoders

from attnviz.maps.options import MapOptions
from attnviz.maps.selection import select
from attnviz.text.limits import TextError

STRANGE = "Hello 龘 나는\nworld, it sleeps 🚴 riding."


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "t5"])
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
    with pytest.raises(TextError, match=r"^The model's tokenizer breaks off: its files are damaged \([^\n]*\)\.$"):
        backend.decode([letter])
