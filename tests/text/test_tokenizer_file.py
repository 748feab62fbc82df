"""tokenizer.json: saved and read again, and anything else refused in one sentence."""

import json

import pytest

from attnviz.text.limits import MAX_TOKENIZER_BYTES, TextError
from attnviz.text.tokenizer import TranslatorTokenizer


def test_save_and_load_keep_the_ids(codec, tmp_path):
    codec.save(tmp_path / "tokenizer.json")
    again = TranslatorTokenizer.load(tmp_path / "tokenizer.json")
    assert again.encode_source("A big red dog").ids == codec.encode_source("A big red dog").ids
    assert again.special_ids == codec.special_ids


def _content(codec) -> dict:
    return json.loads(codec._json)


def test_broken_tokenizers_are_one_sentence(codec, tmp_path):
    path = tmp_path / "tokenizer.json"
    no_end = _content(codec)
    del no_end["model"]["vocab"]["<eos>"]
    no_model, other = _content(codec), _content(codec)
    del no_model["model"]
    other["model"]["type"] = "WordPiece"
    broken = ["", "{", "[]", "null", "5", '"text"', "[" * 100_000, json.dumps(no_end)]
    for content in (*broken, json.dumps(no_model), json.dumps(other), json.dumps(_content(codec))[:500]):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(TextError, match="tokenizer") as error:
            TranslatorTokenizer.load(path)
        assert len(str(error.value).splitlines()) == 1, str(error.value)


def test_tokenizer_that_is_missing_or_not_text_is_one_sentence(tmp_path):
    with pytest.raises(TextError, match="no tokenizer"):
        TranslatorTokenizer.load(tmp_path / "tokenizer.json")
    (tmp_path / "tokenizer.json").write_bytes(b"\x80\x05\xff\xfe")
    with pytest.raises(TextError, match="not UTF-8"):
        TranslatorTokenizer.load(tmp_path / "tokenizer.json")


def test_tokenizer_of_fifty_megabytes_is_refused_unread(tmp_path):
    path = tmp_path / "tokenizer.json"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    assert MAX_TOKENIZER_BYTES < 50_000_000
    with pytest.raises(TextError, match=r"50 MB; tokenizers up to 20 MB"):
        TranslatorTokenizer.load(path)
