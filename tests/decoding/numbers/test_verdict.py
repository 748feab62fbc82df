"""The verdict finds each difference where it was put, and says what a type may promise."""

from dataclasses import replace

import pytest
import torch

from attnviz.decoding.numbers.tolerance import tolerance
from attnviz.decoding.numbers.verdict import verdict
from attnviz.models.decoding_record import decoding_record
from attnviz.models.translator.stepwise import Plan, steps, teacher_forced
from attnviz.models.translator.tiny import tiny_translator


@pytest.fixture(scope="module")
def pair():
    model = tiny_translator(seed=1)
    made = decoding_record(steps(model, "I love you", Plan("fr", max_tokens=7)))
    whole = teacher_forced(model, "I love you", made.ids, to="fr")
    return made, whole, tolerance(whole, lambda probe: model.rerun(whole, probe))


def test_the_verdict_has_a_line_for_every_head_output_and_the_logits(pair) -> None:
    found = verdict(*pair)
    layers, heads, stacks = 2, 5, 2
    assert len(found.lines) == 3 * layers * heads + stacks * (layers + 1) + 1
    assert [line.name for line in found.lines[:3]] == ["embedding", "L0 H0 encoder self", "L0 H1 encoder self"]
    assert found.lines[-1].name == "logits"


def test_a_difference_is_found_where_it_was_put(pair) -> None:
    made, whole, allowed = pair
    attn = made.attn["cross"].clone()
    attn[1, 3, 4, 2] += 0.25
    first = verdict(replace(made, attn={**made.attn, "cross": attn}), whole, allowed).first_break
    assert first is not None
    assert (first.line.quantity, first.line.layer, first.line.head, first.position) == ("cross", 1, 3, 4)
    assert first.delta == pytest.approx(0.25, abs=1e-5)


def test_the_first_break_is_the_first_in_the_order_of_computation(pair) -> None:
    made, whole, allowed = pair
    hidden, logits = made.hidden["decoder"].clone(), made.logits.clone()
    hidden[2, 3] += 1
    logits[2] += 1
    changed = replace(made, hidden={**made.hidden, "decoder": hidden}, logits=logits)
    first = verdict(changed, whole, allowed).first_break
    assert first is not None
    assert (first.line.quantity, first.position) == ("logits", 2), "an earlier step comes before an earlier layer"


def test_a_weight_on_a_key_that_a_step_did_not_have_counts(pair) -> None:
    made, whole, allowed = pair
    short = replace(made, attn={**made.attn, "decoder_self": made.attn["decoder_self"][..., :-1]})
    lines = [line for line in verdict(short, whole, allowed).lines if line.quantity == "decoder_self"]
    assert max(float(line.delta.max()) for line in lines) == pytest.approx(
        float(whole.attn("decoder_self")[..., -1].max()), abs=1e-5
    )


def test_not_a_number_is_infinitely_far(pair) -> None:
    made, whole, allowed = pair
    found = verdict(replace(made, logits=made.logits * torch.nan), whole, allowed)
    assert found.largest_place.delta == float("inf")
    assert not found.holds


def test_the_table_has_a_row_for_every_place_and_position(pair) -> None:
    found = verdict(*pair)
    table = found.table()
    assert len(table) == sum(len(line.delta) for line in found.lines)
    assert max(table["delta"].tolist()) == found.largest_place.delta
    assert not any(table["breaks"].tolist())
    assert max(table["share"].tolist()) == found.closest_place.share < 1


def test_a_pass_that_is_too_short_is_refused(pair) -> None:
    made, whole, allowed = pair
    with pytest.raises(ValueError, match="must contain the 7 rows"):
        verdict(made, replace(whole, logits=whole.logits[:, :3]), allowed)
