"""Links in files, shares of what speaks for a word, and the order of the ways."""

import pytest

from attnviz.heads.alignment.alignment import AlignmentFacts, alignment_payload
from attnviz.heads.alignment.numbers.alignment_ways import Aligner, KnownMaps, scores
from attnviz.heads.alignment.numbers.word_alignment import word_links, word_scores
from attnviz.models.translator.tiny import tiny_translator
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.kit.sent import payload_bytes

pytestmark = NEEDS_A_BROWSER

WAY = Aligner("mean of heads", 1, None, "out")


@pytest.fixture(scope="module")
def choice(module):
    return module("heads/alignment/js/choice.js")


@pytest.fixture(scope="module")
def alignment_case():
    model = tiny_translator()
    trace = model.trace("a big red dog jumped", to="fr", tgt_text="un chien rouge")
    found = scores(WAY, KnownMaps.find(model, trace), trace)
    return trace, found, alignment_payload(trace, WAY, found, AlignmentFacts({WAY: "mean.1.all.out"}, offered=1))


def test_links_are_written_as_pharaoh_wrote_them(choice) -> None:
    assert choice("({ pharaoh }, links) => pharaoh(links)", [[2, 0], [0, 1], [0, 0], [10, 2]]) == "0-0 0-1 2-0 10-2"
    assert choice("({ pharaoh }, links) => pharaoh(links)", []) == ""


def test_shares_are_of_what_speaks_for_a_word(choice) -> None:
    act = "({ sharesOf }, scores) => [...sharesOf(scores)]"
    assert choice(act, [3, -2, 1, 0]) == [0.75, 0, 0.25, 0]
    assert choice(act, [-1, -2]) == [0, 0]


def test_the_browser_has_the_scores_and_links_that_python_computed(choice, module, alignment_case) -> None:
    trace, found, payload = alignment_case
    module("kit/js/unpack.js")("({ unpack }) => { globalThis.unpackAlignment = unpack; }")
    act = """({ scoresOf, linksOf }, bytes) => {
      const app = { payload: globalThis.unpackAlignment(Uint8Array.from(bytes)), view: { null: false } };
      return [app.payload.header.tgt.map((_, at) => [...scoresOf(app, at)]), linksOf(app)];
    }"""
    rows, links = choice(act, payload_bytes(payload))
    for row, expected in zip(rows, word_scores(found, trace).tolist(), strict=True):
        assert row == pytest.approx(expected)
    assert {tuple(link) for link in links} == word_links(found, trace)
    assert payload.header["src"] == ["a", "big", "red", "dog", "jumped"]


def test_ways_are_ordered_and_what_has_no_number_comes_last(choice) -> None:
    act = """({ ordered, wayText }, [ways, column, isUp]) => ordered(ways, { column, isUp }).map(wayText)"""
    ways = [
        {"method": "one head", "layer": 10, "head": 1, "reading": "out", "rate": 0.2, "own": None},
        {"method": "one head", "layer": 2, "head": 0, "reading": "in", "rate": None, "own": 0.1},
        {"method": "attribution", "layer": 1, "head": None, "reading": "out", "rate": 0.1, "own": None},
        {"method": "mean of heads", "layer": None, "head": None, "reading": "in", "rate": 0.4, "own": 0.5},
    ]
    best, second, worst = "attribution L1", "one head L10 H1, word out", "mean of heads, all layers, word in"
    last = "one head L2 H0, word in"
    assert choice(act, [ways, "rate", True]) == [best, second, worst, last]
    assert choice(act, [ways, "rate", False]) == [worst, second, best, last]
    assert choice(act, [ways, "way", True]) == [best, worst, last, second], "L2 before L10"
