"""The pairs that the Patch tab offers work on the shipped model: a word's vector turns the answer, and little else."""

import json
from pathlib import Path

import pytest

from attnviz.causes.numbers.pair import pair_of, written_under
from attnviz.causes.numbers.patching import Cell, patch_jointly, patched_stream
from attnviz.models import catalogue
from tests.each_case import each_case

PAIRS = json.loads((Path(__file__).parents[3] / "assets" / "pairs_to_patch.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def shipped_translator():
    return catalogue.translator()


@each_case("title", PAIRS)
def test_one_vector_brings_the_answer_over_and_leaves_the_control(shipped_translator, title) -> None:
    asked = PAIRS[title]
    pair = pair_of(
        shipped_translator, *(shipped_translator.trace(asked[name], to=asked["to"]) for name in ("src", "changed"))
    )
    step = int(asked.get("step", pair.most_different))
    ids = (
        shipped_translator.encode_target(asked[name], to=asked["to"])[0].id if name in asked else None
        for name in ("a", "b")
    )
    metric = pair.metric(step, *ids)
    named = [shipped_translator.decode_ids([id_])[1][0].text for id_ in (metric.a, metric.b)]
    assert " or ".join(named) == title.rpartition(": ")[2], "the title names the two tokens"
    found = patched_stream(
        shipped_translator, pair.clean, pair.changed, metric, stack="encoder", control=pair.control(step, metric)
    )
    assert found.clean > 1 > -1 > found.changed
    embedding, last = found.share[0], found.share[-1]
    assert float(embedding.max()) > 0.9, "what goes in differs at one word"
    at = int(last.argmax())
    assert float(last[at]) > 0.75
    assert abs(float(found.control[-1, at])) < 0.3
    patched = patch_jointly(shipped_translator, pair, metric, [Cell("encoder", 2, at)])
    before = written_under(shipped_translator, pair.changed)
    assert patched.text != before
    assert named[0] in patched.text.replace("'", " ").split()
