"""Ways of aligning words, scored against links made by hand: on the translator that comes along."""

import copy

import pytest

from attnviz.heads.alignment.numbers.__main__ import main
from attnviz.heads.alignment.numbers.alignment_errors import alignment_errors
from attnviz.heads.alignment.numbers.gold import gold_pairs
from attnviz.heads.alignment.numbers.word_alignment import alignment_error, attention_scores, word_links
from attnviz.models.catalogue import translator

PAIRS = {"es": gold_pairs("es")[::8], "de": gold_pairs("de")[::8]}


@pytest.fixture(scope="module")
def shipped_translator():
    return translator(device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def table(shipped_translator):
    return alignment_errors(shipped_translator, PAIRS)


def test_every_layer_every_head_and_every_method_has_its_row(table, shipped_translator) -> None:
    layers, heads = shipped_translator.shapes["cross"]
    assert list(table.columns) == ["method", "layer", "head", "reading", "es", "de"]
    assert not table.duplicated(["method", "layer", "head", "reading"]).any()
    counts = table.groupby(["method", "reading"]).size().to_dict()
    assert counts.pop(("attribution", "out")) == layers + 1  # of what comes out: it has no other reading
    for reading in ("in", "out"):
        for of_layers, of_heads in (("mean of heads", "one head"), ("norm of heads' sum", "norm of one head")):
            assert counts.pop((of_layers, reading)) == layers + 1
            assert counts.pop((of_heads, reading)) == layers * heads
        for of_all in ("rollout", "rollout, measured residual", "ALTI"):
            assert counts.pop((of_all, reading)) == 1
    assert counts == {("diagonal", "out"): 1}
    assert table[["es", "de"]].to_numpy().min() >= 0
    assert table[["es", "de"]].to_numpy().max() <= 1
    assert table[["es", "de"]].mean(axis=1).is_monotonic_increasing


def test_attribution_in_the_middle_layer_aligns_best(table) -> None:
    best = table.iloc[0]
    assert (best["method"], best["layer"]) == ("attribution", 1)


def test_a_rate_is_of_all_links_together(table, shipped_translator) -> None:
    found, sure, possible = set(), set(), set()
    for pair in PAIRS["es"]:
        trace = shipped_translator.trace(pair.src_text, to="es", tgt_text=pair.tgt_text)
        links = pair.links(trace)
        found |= {(pair, *link) for link in word_links(attention_scores(trace, layer=1), trace)}
        sure |= {(pair, *link) for link in links.sure}
        possible |= {(pair, *link) for link in links.possible}
    row = table.query("method == 'mean of heads' and layer == 1 and reading == 'out'")
    assert row["es"].item() == pytest.approx(alignment_error(found, sure, possible))


def test_what_cannot_be_compared_is_told(shipped_translator, capsys) -> None:
    for none in ({}, {"es": ()}):
        with pytest.raises(ValueError, match="There are no word alignments to compare with"):
            alignment_errors(shipped_translator, none)
    alone = copy.copy(shipped_translator)
    alone.name = "alone"
    alone.__class__ = type("WithoutEncoder", (type(shipped_translator),), {"kinds": ("decoder_self",)})
    with pytest.raises(ValueError, match="alone has no cross-attention"):
        alignment_errors(alone, PAIRS)
    assert main(["it"]) == 2
    assert "no word alignments for 'it'" in capsys.readouterr().err
