"""Two runs side by side: the metrics that can be measured, the control pair, and several patches at once."""

from dataclasses import replace

import pytest
import torch

import attnviz
from attnviz.analysis.attribution import LogitTarget, drops
from attnviz.causes.numbers.pair import LogitDifference, pair_of, written_under
from attnviz.causes.numbers.patching import Cell, patch_jointly, patched_heads, patched_stream
from tests.each_case import each_case


@pytest.fixture(scope="module")
def pair(model):
    return pair_of(model, model.trace("A big red dog jumped.", to="fr"), model.trace("A big red cat and dog.", to="fr"))


def test_the_changed_run_is_given_the_clean_ones_target(model, pair) -> None:
    assert pair.changed.sentences[0].tgt == pair.clean.sentences[0].tgt
    assert written_under(model, pair.changed) == model.trace("A big red cat and dog.", to="fr").tgt_text
    assert written_under(model, pair.reverse().changed) == pair.clean.tgt_text
    assert list(pair.rows) == list(range(len(pair.clean.sentences[0].tgt_in)))
    alone = pair_of(model, pair.clean, pair.clean)
    assert float(alone.differences.max()) == 0


def test_the_metric_is_what_each_run_would_write_unless_it_is_said(pair) -> None:
    row = pair.most_different
    here, there = (trace.logits[0, row].softmax(dim=-1) for trace in (pair.clean, pair.changed))
    assert float(pair.differences[row]) == pytest.approx(float((here - there).abs().sum() / 2), abs=1e-6)
    metric = pair.metric(row)
    assert metric.a == int(here.argmax())
    assert metric.b != metric.a
    assert pair.metric(row, 7, 9) == LogitDifference(row, 7, 9)
    with pytest.raises(ValueError, match="choose two different ones"):
        pair.metric(row, 7, 7)


def test_a_control_moves_less_between_the_runs_than_other_pairs_do(pair) -> None:
    metric = pair.metric(pair.most_different)
    control = pair.control(pair.most_different, metric)
    assert not {control.a, control.b} & {metric.a, metric.b}
    change = abs(control.value_in_clean(pair.clean) - control.value(pair.changed))
    ids = [id_ for id_, _, _ in pair.likeliest_ids(metric.step) if id_ not in (metric.a, metric.b)][:10]
    lead = (pair.clean.logits - pair.changed.logits)[0, metric.step, ids]
    assert change == pytest.approx(
        float((lead[:, None] - lead)[~torch.eye(len(ids), dtype=bool)].abs().min()), abs=1e-5
    )


def test_the_control_is_measured_in_the_runs_that_the_metric_is(model, pair) -> None:
    metric = pair.metric(pair.most_different)
    control = pair.control(pair.most_different, metric)
    heads = patched_heads(model, pair.clean, pair.changed, metric, control=control)
    swapped = patched_heads(model, pair.clean, pair.changed, control)
    torch.testing.assert_close(heads.moved, swapped.patched - swapped.changed)
    gap = heads.clean - heads.changed
    assert heads.moved is not None
    torch.testing.assert_close(heads.control, heads.moved / gap)
    stream = patched_stream(model, pair.clean, pair.changed, metric, stack="encoder", control=control)
    assert torch.equal(stream.moved.isnan(), stream.patched.isnan())
    with pytest.raises(ValueError, match="is the metric itself"):
        patched_heads(model, pair.clean, pair.changed, metric, control=LogitDifference(metric.step, metric.b, metric.a))


def test_of_too_many_cells_those_are_run_that_differ_most(model, pair) -> None:
    metric = pair.metric(pair.most_different)
    whole = patched_stream(model, pair.clean, pair.changed, metric, stack="encoder")
    few = patched_stream(model, pair.clean, pair.changed, metric, stack="encoder", most=3)
    assert not whole.left_out.any()
    run = few.patched.isnan() != whole.patched.isnan()
    assert torch.equal(run, few.left_out)
    kept = ~few.patched.isnan()
    torch.testing.assert_close(few.patched[kept], whole.patched[kept], atol=1e-4, rtol=0)
    assert int((few.patched != few.changed)[kept].sum()) <= 3


def test_all_of_crosss_context_in_place_is_the_donors_answer_to_the_bit(model, pair) -> None:
    metric = pair.metric(pair.most_different)
    layers, heads = model.shapes["cross"]
    cells = [Cell("cross", layer, head) for layer in range(layers) for head in range(heads)]
    found = patch_jointly(model, pair, metric, cells)
    assert float(found.restored.patched[0]) == found.restored.clean
    assert float(found.restored.share[0]) == 1
    nothing = patch_jointly(model, pair, metric, [])
    assert float(nothing.restored.share[0]) == pytest.approx(0, abs=1e-4)
    assert nothing.text == written_under(model, pair.changed)


def test_in_place_writes_what_the_model_writes_under_the_same_patches(model, pair) -> None:
    cells = [Cell("encoder", 1, 3), Cell("cross", 0, 2)]
    patches = [cell.patch(pair.clean) for cell in cells]
    written = model.trace(pair.changed.src_text, to="fr", interventions=patches)
    assert patch_jointly(model, pair, pair.metric(0), cells).text == written.tgt_text


@each_case("text", ["cross.1.3", "encoder.e.4", "decoder.0.12", "encoder_self.2.0"])
def test_a_cell_is_its_text(text) -> None:
    assert str(Cell.parse(text)) == text


@each_case("text", ["", "cross", "cross.e.3", "sideways.1.2", "encoder.1", "encoder.-1.2", "cross.1.3.4"])
def test_what_is_no_cell_is_none(text) -> None:
    assert Cell.parse(text) is None


def test_runs_that_cannot_be_a_pair_are_refused(model, pair) -> None:
    stranger = replace(pair.clean, info=replace(pair.clean.info, model_id="another"))
    with pytest.raises(ValueError, match="other weights"):
        pair_of(model, pair.clean, stranger)
    with pytest.raises(ValueError, match="no token in common"):
        pair_of(model, pair.clean, model.trace("Stop", to="fr"))
    with pytest.raises(ValueError, match="no output over a vocabulary"):
        pair_of(model, replace(pair.clean, logits=None), pair.changed)


def test_a_drop_is_what_the_logit_loses_without_the_head(model, pair) -> None:
    asked = LogitTarget(2, 9, 4)
    found = drops(model, pair.clean, asked)
    assert len(found) == sum(layers * heads for layers, heads in model.shapes.values())
    for place in (("cross", 1, 2), ("encoder_self", 0, 3), ("decoder_self", 2, 4)):
        kind, layer, head = place
        gone = attnviz.ablate(kind, layer=layer, heads=[head])
        without = model.rerun(replace(pair.clean, interventions=(gone,)))
        own = asked.select(pair.clean.logits[0, 2]) - asked.select(without.logits[0, 2])
        assert found[place] == pytest.approx(float(own), abs=1e-4)
