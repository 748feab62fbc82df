"""Maximum flow: never less than rollout, never more than 1, and by hand where that is short."""

import pytest
import torch

import attnviz
from attnviz.analysis.contributions import rollout
from attnviz.analysis.mixing import Mix, attention_mixes
from attnviz.heads.alignment.numbers.max_flow import MOST, max_flow

NEAR = 1e-5  # capacities are whole millionths


def mixes_of(trace, residual: float) -> list[Mix]:
    return [mix.set_residual(residual) for mix in attention_mixes(trace)]


@pytest.mark.parametrize("residual", [0.2, 0.5])
def test_no_cell_is_less_than_rollout(clean, residual) -> None:
    mixes, rolled = mixes_of(clean, residual), rollout(clean, residual=residual)
    for row in (0, 2, len(rolled.source) - 1):
        found = max_flow(mixes, row)
        assert bool((found.source[0] >= rolled.source[row] - NEAR).all())
        assert bool((found.target[0] >= rolled.target[row] - NEAR).all())
        assert float(torch.cat((found.source, found.target), dim=1).max()) <= 1
        assert not found.target[0, row + 1 :].any(), "nothing comes from later tokens"


def test_where_all_is_kept_a_row_has_its_own_token_alone(clean) -> None:
    found = max_flow(mixes_of(clean, 1.0), 2)
    assert not found.source.any()
    assert torch.equal(found.target[0], torch.eye(found.target.shape[1])[2])


def test_the_flow_of_one_layer_is_its_mix() -> None:
    attn = torch.rand(1, 2, 5, 5).softmax(-1)
    mixes = mixes_of(attnviz.from_tensors(attn, list("abcde")), 0.5)
    for row in range(5):
        torch.testing.assert_close(
            max_flow(mixes, row).source[0].double(), mixes[0].weights_with_self[row], atol=1e-6, rtol=0
        )


def test_ways_that_part_and_meet_add_up_by_hand() -> None:
    """From row 0 two ways lead to token 1: 0 → 0 → 1 lets .3 through, 0 → 1 → 1 .6."""
    below = Mix("encoder_self", 0, torch.tensor([[0.7, 0.3], [0.1, 0.9]]).double())
    above = Mix("encoder_self", 1, torch.tensor([[0.4, 0.6], [0.0, 1.0]]).double())
    found = max_flow([below, above], 0)
    torch.testing.assert_close(found.source[0], torch.tensor([0.5, 0.9]), atol=1e-6, rtol=0)


def test_without_the_target_only_the_source_is_computed(clean) -> None:
    mixes = mixes_of(clean, 0.5)
    found = max_flow(mixes, 1, target=False)
    assert found.target.shape == (1, 0)
    assert torch.equal(found.source, max_flow(mixes, 1).source)


def test_what_takes_too_long_and_what_is_not_there_are_told(clean) -> None:
    long = attnviz.from_tensors(torch.full((1, 1, MOST + 1, MOST + 1), 1 / (MOST + 1)), ["a"] * (MOST + 1))
    with pytest.raises(ValueError, match=f"up to {MOST} tokens; this text has {MOST + 1}"):
        max_flow(mixes_of(long, 0.5), 0)
    with pytest.raises(ValueError, match="There is no row 99"):
        max_flow(mixes_of(clean, 0.5), 99)
