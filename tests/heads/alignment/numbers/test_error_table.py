"""The shipped alignment errors belong to the shipped weights."""

import pytest

from attnviz.heads.alignment.numbers import alignment_errors
from attnviz.heads.alignment.numbers.alignment_ways import Aligner, KnownMaps, scores, ways
from attnviz.heads.alignment.numbers.gold import gold_languages, gold_pairs
from attnviz.heads.alignment.numbers.word_alignment import alignment_error, word_links
from attnviz.models.catalogue import translator

BEST = Aligner("attribution", 1, None, "out")
CHECKED = (Aligner("mean of heads", 1, None, "out"), Aligner("norm of one head", 0, 0, "in"))


@pytest.fixture(scope="module")
def shipped_translator():
    return translator(device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def table(shipped_translator):
    found = alignment_errors.known_errors(shipped_translator.model_id)
    assert found is not None, "python -m attnviz.heads.alignment.numbers --write"
    return found


def test_every_way_has_its_rate_in_every_language(shipped_translator, table) -> None:
    trace = shipped_translator.trace("I love you.", to="fr")
    there = {*ways(KnownMaps.find(shipped_translator, trace), trace), Aligner("diagonal", None, None, "out")}
    there |= {Aligner("max flow", None, None, reading) for reading in ("out", "in")}
    for to in gold_languages():
        rates = alignment_errors.rates(table, to)
        assert set(rates) == there
        assert all(0 <= rate <= 1 for rate in rates.values())
        assert min(rates, key=rates.__getitem__) == BEST, "what is offered first aligns best"
    assert alignment_errors.rates(table, "it") == {}


def test_a_rate_is_what_the_model_gives(shipped_translator, table) -> None:
    """All eighty sentences of a language, for two of the ways that cost least."""
    known, found, sure, possible = None, {way: set() for way in CHECKED}, set(), set()
    for number, pair in enumerate(gold_pairs("es")):
        trace = shipped_translator.trace(pair.src_text, to="es", tgt_text=pair.tgt_text)
        known = known or KnownMaps.find(shipped_translator, trace)
        gold = pair.links(trace)
        sure |= {(number, *link) for link in gold.sure}
        possible |= {(number, *link) for link in gold.possible}
        for way in CHECKED:
            links = word_links(scores(way, known, trace), trace, reading=way.reading)
            found[way] |= {(number, *link) for link in links}
    rates = alignment_errors.rates(table, "es")
    for way in CHECKED:
        assert rates[way] == pytest.approx(alignment_error(found[way], sure, possible), abs=2e-3)


def test_a_table_is_written_and_read_again_and_none_is_found_by_a_path(table, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(alignment_errors, "ERRORS", tmp_path / "errors")
    alignment_errors.write_errors(table, "old")
    alignment_errors.write_errors(table, "new")
    assert alignment_errors.known_errors("old") is None, "what is known of other weights goes"
    again = alignment_errors.known_errors("new")
    assert again is not None
    assert alignment_errors.rates(again, "fr") == alignment_errors.rates(table, "fr")
    for name in ("../errors/new", "", "new.tsv", "*"):
        assert alignment_errors.known_errors(name) is None
