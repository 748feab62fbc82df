"""Pairs on disk to batches: nothing lost, nothing seen too often, the same order for the same seed."""

import gzip
import re
from collections import Counter
from pathlib import Path

import pytest

from attnviz.training.corpus import Corpus, epoch_batches, read_pairs, read_table
from tests.each_case import each_case

TOKENS = 150


def _rows(batch) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    real = [[tuple(id_ for id_ in row if id_ != 0) for row in side.tolist()] for side in (batch.src, batch.tgt)]
    return list(zip(*real, strict=True))


def _epoch(corpora, **changes) -> list:
    return list(epoch_batches(corpora, **{"epoch": 0, "seed": 1, "batch_tokens": TOKENS, **changes}))


def test_an_epoch_shows_every_pair_as_often_as_asked(corpora):
    seen = Counter(row for batch in _epoch(corpora) for row in _rows(batch))
    expected = Counter()
    for corpus in corpora:
        for src, tgt in corpus.pairs:
            expected[tuple(src.tolist()), tuple(tgt.tolist())] += corpus.repeat
    assert seen == expected
    assert set(seen.values()) == {1, 3}


def test_order_hangs_on_seed_and_epoch_only(corpora):
    def rows(**changes):
        return [_rows(batch) for batch in _epoch(corpora, **changes)]

    assert rows() == rows()
    assert rows() != rows(epoch=1)
    assert rows() != rows(seed=2)


def test_batches_keep_to_their_tokens_and_pad_at_the_end(corpora):
    batches = _epoch(corpora)
    assert len(batches) > 3
    for batch in batches:
        assert batch.src.numel() + batch.tgt.numel() <= TOKENS
        assert batch.n_tokens == sum(len(src) + len(tgt) for src, tgt in _rows(batch))
        for side in (batch.src, batch.tgt):
            assert side[:, -1].any()
            padded = side == 0
            assert (padded.int().diff(dim=1) >= 0).all(), "no real token stands after padding"


def test_a_pair_larger_than_a_batch_gets_one_of_its_own(corpora):
    batches = _epoch(corpora, batch_tokens=1)
    assert all(len(batch.src) == 1 for batch in batches)


def test_pairs_that_are_too_long_are_left_out(codec):
    pairs = [("The red dog.", "Le chien."), ("dog " * 40, "Le chien."), ("The dog.", "chien " * 40)]
    corpus = Corpus.encode(codec, pairs, "fr", repeat=2, max_tokens=12)
    assert len(corpus.src) == len(corpus.tgt) == 1
    assert corpus.tgt[0][0] == codec.bos_id("fr")
    assert corpus.src[0][-1] == corpus.tgt[0][-1] == codec.eos_id


def test_pairs_are_read_plain_and_gzipped(tmp_path):
    (tmp_path / "a.tsv").write_text("Hi.\tSalut.\nNo.\t不。\n", encoding="utf-8")
    with gzip.open(tmp_path / "a.tsv.gz", "wt", encoding="utf-8") as file:
        file.write("Hi.\tSalut.\nNo.\t不。\n")
    expected = [("Hi.", "Salut."), ("No.", "不。")]
    assert read_pairs(tmp_path / "a.tsv") == read_pairs(tmp_path / "a.tsv.gz") == expected


def test_a_bad_line_is_named(tmp_path):
    (tmp_path / "a.tsv").write_text("Hi.\tSalut.\nNo.\n")
    with pytest.raises(ValueError, match=r"a\.tsv, line 2: expected English, a tab and the translation"):
        read_pairs(tmp_path / "a.tsv")


def test_a_table_is_pairs_in_every_language_it_names(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("en\tzh\tfr\nOne.\t一。\tUn.\nTwo.\t二。\tDeux.\n", encoding="utf-8")
    assert read_table(path) == {"zh": [("One.", "一。"), ("Two.", "二。")], "fr": [("One.", "Un."), ("Two.", "Deux.")]}


@each_case(
    ("text", "reason"),
    [
        ("", "the first line must name the columns"),
        ("en\n", "the first line must name the columns"),
        ("fr\ten\nUn.\tOne.\n", "en first"),
        ("en\tfr\tfr\nOne.\tUn.\tUne.\n", "each once"),
        ("en\tfr\nOne.\tUn.\nTwo.\n", "t.tsv, line 3: expected 2 columns"),
        ("en\tfr\nOne.\tUn.\t\n", "t.tsv, line 2: expected 2 columns"),
    ],
)
def test_a_table_that_is_none_names_its_first_bad_line(tmp_path, text, reason):
    (tmp_path / "t.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=reason):
        read_table(tmp_path / "t.tsv")


ASSETS = Path(__file__).parents[2] / "assets"


@pytest.mark.parametrize("name", ["everyday", "machine-learning"])
def test_our_own_pairs_hold_none_of_the_sentences_that_the_reader_judges(name):
    """The twenty of the demonstration, and the twenty that are held out."""
    table = read_table(ASSETS / "pairs" / f"{name}.tsv")
    (card,) = ASSETS.glob("models/translator-*/README.md")
    judged = set(re.findall(r"^\| \d+ \| (.+?) \|", card.read_text(encoding="utf-8"), re.MULTILINE))
    assert len(judged) == 40
    assert set(table) == {"fr", "de", "es", "zh"}
    for pairs in table.values():
        assert not judged & {english for english, _ in pairs}
        assert len({english for english, _ in pairs}) == len(pairs)
