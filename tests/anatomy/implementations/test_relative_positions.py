"""The override of `get_scores` on a site: strength 0 changes nothing, a strong one pulls weight to the neighbours."""

import pytest
import torch

from attnviz.anatomy.implementations.numbers.comparison import relative_positions
from attnviz.implementations.site_inputs import SiteInputs
from attnviz.implementations.weights import SiteWeights


def inputs() -> SiteInputs:
    weights = SiteWeights.random(3, 33, d_k=11, seed=8)
    x = torch.randn(2, 7, 33, generator=torch.Generator().manual_seed(9)) + 1  # a mean query that is not near zero
    return SiteInputs(weights, x, x)


def test_no_strength_changes_nothing() -> None:
    found = relative_positions(inputs(), reach=2, strength=0.0)
    torch.testing.assert_close(found.plain, found.relative)
    assert found.output_change < 1e-6


def test_strength_moves_weight_to_or_from_the_neighbours() -> None:
    def diagonal_mean(strength: float) -> float:
        return float(
            relative_positions(inputs(), reach=2, strength=strength).relative.diagonal(dim1=-2, dim2=-1).mean()
        )

    assert diagonal_mean(4.0) > diagonal_mean(0.0) > diagonal_mean(-4.0)


def test_a_reach_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        relative_positions(inputs(), reach=0, strength=1.0)
