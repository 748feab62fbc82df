"""The verdict finds each difference where it was put, and says what a type may promise."""

from dataclasses import replace

import pytest
import torch

from attnviz.analysis.tolerance import Tolerance
from attnviz.analysis.verdict import verdict
from attnviz.models.stepped import stepped
from attnviz.models.stepwise import Plan, steps, teacher_forced
from attnviz.models.tiny import tiny_translator


@pytest.fixture(scope="module")
def pair():
    model = tiny_translator(seed=1)
    made = stepped(steps(model, "I love you", Plan("fr", max_tokens=7)))
    return made, teacher_forced(model, "I love you", made.ids, to="fr")


def test_there_is_a_line_for_every_head_output_and_the_logits(pair) -> None:
    found = verdict(*pair)
    layers, heads, stacks = 2, 5, 2
    assert len(found.lines) == 3 * layers * heads + stacks * (layers + 1) + 1
    assert [line.name for line in found.lines[:3]] == ["embedding", "L0 H0 encoder self", "L0 H1 encoder self"]
    assert found.lines[-1].name == "logits"


def test_a_difference_is_found_where_it_was_put(pair) -> None:
    made, whole = pair
    attn = made.attn["cross"].clone()
    attn[1, 3, 4, 2] += 0.25
    first = verdict(replace(made, attn={**made.attn, "cross": attn}), whole).first_break
    assert first is not None
    assert (first.line.part, first.line.layer, first.line.head, first.position) == ("cross", 1, 3, 4)
    assert first.delta == pytest.approx(0.25, abs=1e-5)


def test_the_first_break_is_the_first_in_the_order_of_computation(pair) -> None:
    made, whole = pair
    hidden, logits = made.hidden["decoder"].clone(), made.logits.clone()
    hidden[2, 3] += 1
    logits[2] += 1
    changed = replace(made, hidden={**made.hidden, "decoder": hidden}, logits=logits)
    first = verdict(changed, whole).first_break
    assert first is not None
    assert (first.line.part, first.position) == ("logits", 2), "an earlier step comes before an earlier layer"


def test_a_weight_on_a_key_that_a_step_did_not_have_counts(pair) -> None:
    made, whole = pair
    short = replace(made, attn={**made.attn, "decoder_self": made.attn["decoder_self"][..., :-1]})
    assert verdict(short, whole).largest_of("decoder_self") == pytest.approx(
        float(whole.attn("decoder_self")[..., -1].max()), abs=1e-5
    )


def test_not_a_number_is_infinitely_far(pair) -> None:
    made, whole = pair
    found = verdict(replace(made, logits=made.logits * torch.nan), whole)
    assert found.largest.delta == float("inf")
    assert not found.holds


def test_tolerances_follow_the_type() -> None:
    assert Tolerance.of("float32").attn == pytest.approx(2e-6, rel=0.01)
    assert Tolerance.of("float32").hidden == pytest.approx(1e-5, rel=0.01)
    attn = [Tolerance.of(dtype).attn for dtype in ("float64", "float32", "float16", "bfloat16")]
    assert attn == sorted(attn)


def test_weights_may_part_by_more_where_scores_are_large(pair) -> None:
    """By hand: at a largest score of 16 by twice the tolerance, at 48 by four times."""
    tolerance = Tolerance.of("float32")
    assert tolerance.of_weights(torch.zeros(2, 3)) == tolerance.attn
    assert tolerance.of_weights(torch.tensor([[1.0, -16.0]])) == pytest.approx(2 * tolerance.attn)
    assert tolerance.of_weights(torch.tensor([[48.0, -16.0]])) == pytest.approx(4 * tolerance.attn)
    assert tolerance.of_weights(torch.tensor([[torch.nan, torch.inf, 16.0]])) == pytest.approx(2 * tolerance.attn)
    made, whole = pair
    lines = [line for line in verdict(made, whole).lines if line.part == "cross"]
    expected = [tolerance.of_weights(whole.scores("cross", layer=line.layer, head=line.head)) for line in lines]
    assert [line.allowed for line in lines] == pytest.approx(expected)


def test_the_table_has_a_row_for_every_place_and_position(pair) -> None:
    found = verdict(*pair)
    table = found.table()
    assert len(table) == sum(len(line.delta) for line in found.lines)
    assert max(table["delta"].tolist()) == found.largest.delta
    assert not any(table["breaks"].tolist())


def test_a_pass_that_is_too_short_is_refused(pair) -> None:
    made, whole = pair
    with pytest.raises(ValueError, match="must hold the 7 rows"):
        verdict(made, replace(whole, logits=whole.logits[:, :3]))
