"""The tables in assets/pairs: whole, said once, and apart from the sentences that judge the translator."""

import re
from pathlib import Path

import pytest

from attnviz.training.corpus import read_table

ASSETS = Path(__file__).parents[2] / "assets"
TABLES = sorted((ASSETS / "pairs").glob("*.tsv"))
HELD_OUT = (ASSETS / "held-out.txt").read_text(encoding="utf-8").splitlines()


def _words(sentence: str) -> set[str]:
    return set(re.findall(r"[a-z']+", sentence.lower()))


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_every_sentence_stands_once_in_all_languages(path):
    table = read_table(path)
    assert set(table) == {"fr", "de", "es", "zh"}
    for pairs in table.values():
        english = [sentence for sentence, _ in pairs]
        assert len(set(english)) == len(english)
        assert all(sentence == sentence.strip() and sentence for pair in pairs for sentence in pair)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_chinese_ends_as_chinese_does_and_others_as_english(path):
    ends = {".": "。", "?": "？", "!": "！"}
    for to, pairs in read_table(path).items():
        for english, translation in pairs:
            assert translation[-1] == (ends[english[-1]] if to == "zh" else english[-1])


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_no_table_comes_near_a_held_out_sentence(path):
    assert len(HELD_OUT) == 20
    for english, _ in read_table(path)["fr"]:
        for judge in HELD_OUT:
            shared, all_words = _words(english) & _words(judge), _words(english) | _words(judge)
            assert len(shared) < 0.6 * len(all_words), f"{english!r} is nearly {judge!r}"
