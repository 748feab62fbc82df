"""A patching matrix takes one run per cell: known values at its ends, known cells outside its reach, no shares of a
tiny difference.
"""

from dataclasses import replace

import pytest
import torch

import attnviz
from attnviz.causes.numbers.pair import LogitDifference
from attnviz.causes.numbers.patching import patched_heads, patched_stream

STEP = 3


@pytest.fixture(scope="module")
def metric(clean, changed_trace):
    """Measure the two tokens of which the lead differs most."""
    lead = (clean.logits - changed_trace.logits)[0, STEP]
    return LogitDifference(STEP, int(lead.argmax()), int(lead.argmin()))


def value(trace, metric):
    return float(trace.logits[0, metric.step, metric.a] - trace.logits[0, metric.step, metric.b])


def test_every_head_is_a_run_of_its_own(model, clean, changed_trace, make_trace, metric) -> None:
    found = patched_heads(model, clean, changed_trace, metric)
    assert (found.clean, found.changed) == pytest.approx((value(clean, metric), value(changed_trace, metric)), abs=1e-5)
    for place in found.places[::8]:
        kind, layer, head = place
        alone = make_trace(changed_trace.src_text, attnviz.patch(clean, kind, layer=layer, heads=[head]))
        expected = value(alone, metric)
        at = found.places.index(place)
        assert float(found.patched[at]) == pytest.approx(expected, abs=2e-4)
        share = (expected - found.changed) / (found.clean - found.changed)
        assert float(found.share[at]) == pytest.approx(share, abs=1e-3)


def test_from_a_run_into_itself_nothing_is_restored(model, clean, metric) -> None:
    found = patched_heads(model, clean, clean, metric)
    assert found.patched.tolist() == pytest.approx([found.clean] * 45, abs=1e-4)
    assert not found.is_drawn
    assert "less than 0.1" in found.why_not
    assert found.share.isnan().all()


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_each_cell_of_the_stream_is_a_run_of_its_own(stack, model, clean, changed_trace, make_trace, metric) -> None:
    found = patched_stream(model, clean, changed_trace, metric, stack=stack)
    assert found.patched.shape == (
        4,
        len(changed_trace.tokens("src") if stack == "encoder" else changed_trace.sentences[0].tgt_in),
    )
    for layer in range(-1, 3):
        for at in range(0, found.patched.shape[1], 2):
            what = "embedding" if layer < 0 else "layer"
            alone = make_trace(
                changed_trace.src_text, attnviz.patch(clean, stack, layer=layer, what=what, positions=[at])
            )
            assert float(found.patched[layer + 1, at]) == pytest.approx(value(alone, metric), abs=2e-4)
            if found.outside[layer + 1, at]:
                assert value(alone, metric) == value(changed_trace, metric)  # to the bit


def test_what_goes_in_differs_at_two_words_and_nowhere_else(model, clean, changed_trace, metric) -> None:
    found = patched_stream(model, clean, changed_trace, metric, stack="encoder")
    same = [one.id == other.id for one, other in zip(clean.tokens("src"), changed_trace.tokens("src"), strict=True)]
    torch.testing.assert_close(found.patched[0, same], torch.full((sum(same),), found.changed), atol=1e-4, rtol=0)
    assert not found.outside.any()
    last = patched_stream(model, clean, changed_trace, metric, stack="decoder")
    assert float(last.share[-1, STEP]) == pytest.approx(1, abs=1e-4)  # the last layer's row is all that is said
    assert bool(last.outside[-1, :STEP].all())
    assert bool(last.outside[:, STEP + 1 :].all())


def test_a_token_without_a_partner_is_not_patched(model, clean, make_trace, metric) -> None:
    longer = make_trace("A big and very red dog jumped.")
    found = patched_stream(model, clean, longer, metric, stack="encoder")
    assert found.alone is not None
    assert found.alone.any()
    assert found.patched[:, found.alone].isnan().all()
    assert not found.patched[:, ~found.alone].isnan().any()
    assert len(found.tokens) == len(longer.tokens("src"))


def test_a_metric_that_cannot_be_is_said(model, clean, changed_trace) -> None:
    with pytest.raises(ValueError, match="choose two different ones"):
        LogitDifference(1, 7, 7)
    with pytest.raises(ValueError, match="There is no step 99"):
        patched_heads(model, clean, changed_trace, LogitDifference(99, 1, 2))
    with pytest.raises(ValueError, match="There is no token 100000"):
        patched_heads(model, clean, changed_trace, LogitDifference(1, 1, 100_000))
    with pytest.raises(ValueError, match="without logits"):
        patched_heads(model, replace(clean, logits=None), changed_trace, LogitDifference(1, 1, 2))
