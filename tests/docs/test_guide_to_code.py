"""The shipped translator does what the guide says on Anatomy, Implementations and Lessons."""

import pytest

from attnviz.analysis.inputs import site_inputs, site_module
from attnviz.analysis.outcome import Raised, SiteResult
from attnviz.analysis.rerun import batch_of_two
from attnviz.anatomy.implementations.numbers.bug_in_model import bug_in_model
from attnviz.anatomy.implementations.numbers.comparison import equivalence
from attnviz.anatomy.numbers.claims import parameter_counts
from attnviz.anatomy.numbers.skipped_lines import run_skipped
from attnviz.implementations.bugs.cabinet import BUGS
from attnviz.implementations.weights import SiteWeights
from tests.docs.chapters import measure, picture, tells

RED = "The red dog sleeps."
LIVES = "She doesn't know where he lives."


def test_a_line_left_out() -> None:
    shown = picture("guide/anatomy", "tab=skip")
    both = batch_of_two(shown.model, shown.trace, shown.model.trace("I love you.", to="fr"))
    inputs = site_inputs(shown.model, both, "encoder_self", 0)
    assert isinstance(run_skipped("contiguous", inputs), Raised)
    silent = run_skipped("transpose back", inputs)
    assert isinstance(silent, SiteResult)
    off = (silent.output - silent.right_output).abs().max()
    assert tells("guide/anatomy", "the output is off by {}.", off)


def test_seven_ways_agree() -> None:
    shown = picture("guide/implementations", "tab=agreement")
    found = equivalence(site_inputs(shown.model, shown.trace, "encoder_self", 0))
    assert len(found.results) == 7
    assert found.largest_difference < 1e-5


def test_claims_of_anatomy() -> None:
    shown = picture("guide/anatomy", "tab=modulation")
    (count,) = set(parameter_counts(256)["parameters"])
    assert count == 263_168
    moved = [measure(one, "moved") for one in (shown, picture("guide/anatomy", "tab=claims"))]
    assert tells(
        "guide/anatomy",
        "each row shifts {} % of its weight on average. In L0 H0 it is {} %.",
        *(100 * m for m in moved),
    )


@pytest.mark.parametrize(
    ("bug", "kind", "src", "after"),
    [
        ("mask_inverted", "decoder_self", RED, "Le chien rouge dort."),
        ("merge_by_reshape", "encoder_self", LIVES, "Elle sait où il vit."),
    ],
)
def test_bugs_in_the_model(bug: str, kind: str, src: str, after: str) -> None:
    model = picture("guide/implementations", "tab=agreement").model
    trace = model.trace(src, to="fr")
    weights = {site: SiteWeights.from_module(site_module(model, site)) for site in trace.calls if site.kind == kind}
    found = bug_in_model(model, trace, BUGS[bug].steps, weights)
    assert found.after == after
    if bug == "mask_inverted":
        assert tells("guide/implementations", "the logits move by up to {}, and", found.logits_change)


def test_the_first_question_of_the_first_lesson() -> None:
    trace = picture("guide/heads", "kind=cross").trace
    keys = [token.text for token in trace.key_tokens("cross")]
    row = trace.attn("cross", layer=2, head=4)[2]
    assert tells("guide/lessons", "but the head has {} on red", row[keys.index("red")])
