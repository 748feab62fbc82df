"""Every claim of the Anatomy page, computed by a function whose numbers can be checked on paper or against torch."""

import gc
import math

import pytest
import torch

from attnviz.analysis.peak_memory import peak_memory
from attnviz.anatomy.implementations.numbers.comparison import equivalence, implementation_cost
from attnviz.anatomy.numbers import claims
from attnviz.anatomy.numbers.claims import deletion, modulation
from attnviz.implementations.site_inputs import SiteInputs, odd_sized_inputs
from attnviz.implementations.ways import WAYS
from attnviz.implementations.weights import SiteWeights


def square_case() -> SiteInputs:
    weights = SiteWeights.random(3, 33, d_k=11, seed=6)
    x = torch.randn(2, 5, 33, generator=torch.Generator().manual_seed(7))
    return SiteInputs(weights, x, x, torch.ones(1, 5, 5, dtype=torch.bool).tril())


def test_parameters_do_not_depend_on_the_number_of_heads() -> None:
    table = claims.parameter_counts(30)
    assert table["heads"].tolist() == [1, 2, 3, 5, 6, 10, 15, 30]
    assert set(table["parameters"]) == {4 * 30 * 30 + 4 * 30}


def test_one_head_has_the_same_map_and_another_output() -> None:
    claim = claims.one_head(square_case())
    assert claim.attn_change < 1e-6
    assert claim.output_change > 0.1
    assert claim.change_without_w_o < 1e-5
    assert claim.parameters == (4 * 33 * 33 + 4 * 33, 3 * 33 * 33 + 3 * 33)


def test_one_head_needs_comparable_sizes() -> None:
    with pytest.raises(ValueError, match="39"):
        claims.one_head(odd_sized_inputs())


def test_a_batched_product_is_the_double_loop() -> None:
    claim = claims.loops(odd_sized_inputs(), repeats=1)
    assert claim.products == 2 * 3
    assert claim.change < 1e-6
    assert min(claim.batched_seconds, claim.loop_seconds) > 0


def test_scaling_keeps_the_variance_near_one() -> None:
    claim = claims.scaling_of_normal(64, length=128)
    assert float(claim.scaled.var()) == pytest.approx(1, abs=0.1)
    assert float(claim.unscaled.var()) == pytest.approx(64, rel=0.1)
    assert claim.largest_unscaled.mean() > 2 * claim.largest_scaled.mean()


def test_the_sites_own_scores_differ_by_the_scale() -> None:
    inputs = odd_sized_inputs()
    claim = claims.scaling(inputs)
    torch.testing.assert_close(claim.unscaled, claim.scaled * math.sqrt(inputs.weights.d_k))
    assert len(claim.scaled) == int(inputs.cells.sum())


def test_peak_memory_counts_what_is_alive_at_once() -> None:
    def call() -> torch.Tensor:
        first = torch.empty(1000)
        second = torch.empty(1000)
        del first
        with torch.profiler.record_function("late"):
            return torch.empty(500) if len(second) else second

    memory = peak_memory(call, mark="late")
    assert memory.peak == 8000
    assert memory.alive == 4000
    assert memory.late == 6000


def test_garbage_of_an_earlier_call_is_not_counted() -> None:
    def leave_a_cycle() -> None:
        cycle: list[object] = [torch.empty(1000)]
        cycle.append(cycle)

    peak_memory(leave_a_cycle)
    assert peak_memory(lambda: (gc.collect(), torch.empty(10))).peak == 40


def test_deleting_frees_what_nobody_else_holds() -> None:
    table = deletion(square_case().weights, 40).set_index(["path", "holder", "deleted"])
    qkv = 3 * 40 * 33 * 4
    for path in ("explicit", "fused"):
        kept, freed = (int(table.loc[(path, "nobody", deleted), "alive"]) for deleted in (False, True))
        assert kept - freed == qkv
        for holder in ("recorder", "autograd"):
            kept, freed = (int(table.loc[(path, holder, deleted), "alive"]) for deleted in (False, True))
            assert kept == freed, "somebody else holds them"


def test_a_length_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        deletion(square_case().weights, 0)


def test_every_implementation_agrees_on_a_site() -> None:
    result = equivalence(square_case())
    assert set(result.results) == set(WAYS)
    assert not result.refused
    assert result.largest_difference < 1e-5
    assert result.grid("output").shape == (7, 7)
    assert math.isnan(result.grid("attn").loc["torch_fused", "annotated"])


def test_a_way_that_cannot_have_these_sizes_says_so() -> None:
    assert set(equivalence(odd_sized_inputs()).refused) == {"refactored", "torch_module"}


def test_cost_comes_one_result_at_a_time() -> None:
    costs = list(implementation_cost(square_case().weights, (3, 5), enough=0.0))
    assert [(cost.way, cost.length) for cost in costs] == [(way, length) for length in (3, 5) for way in WAYS]
    assert all(cost.seconds > 0 and cost.nbytes > 0 for cost in costs)


def test_the_bilinear_form_by_hand() -> None:
    """Two dimensions, one head: W_Q is the identity and W_K swaps the axes, so that F = [[0, 1], [1, 0]]."""
    swap = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    none = torch.zeros(2)
    weights = SiteWeights(1, torch.eye(2), none, swap, none, torch.eye(2), none, torch.eye(2), none)
    found = modulation(weights, torch.tensor([[1.0, 0.0], [0.0, 1.0]]), 0)
    assert torch.equal(found.form, swap)
    torch.testing.assert_close(found.spectrum, torch.ones(2))
    assert found.asymmetry == pytest.approx(0)
    assert found.from_identity == pytest.approx(1)
    big, small = math.exp(1 / math.sqrt(2)), 1.0
    share = big / (big + small)
    torch.testing.assert_close(found.plain, torch.tensor([[share, 1 - share], [1 - share, share]]))
    torch.testing.assert_close(found.own, found.plain.flip(1))
    torch.testing.assert_close(found.moved_share, torch.full((2,), 2 * share - 1))


def test_the_identity_modulates_nothing() -> None:
    none = torch.zeros(3)
    weights = SiteWeights(1, *(part for _ in range(4) for part in (torch.eye(3), none)))
    found = modulation(weights, torch.randn(5, 3), 0)
    torch.testing.assert_close(found.own, found.plain)
    assert found.from_identity == pytest.approx(0, abs=1e-3)


def test_the_spectrum_is_that_of_the_whole_form() -> None:
    inputs = odd_sized_inputs()
    found = modulation(inputs.weights, inputs.input_[0], 2)
    torch.testing.assert_close(found.spectrum, torch.linalg.svdvals(found.form)[:11], rtol=1e-3, atol=1e-4)
    skew = (found.form - found.form.T) / 2
    assert found.asymmetry == pytest.approx(float(skew.norm() / found.form.norm()))


def test_a_head_that_there_is_not_is_refused() -> None:
    inputs = odd_sized_inputs()
    with pytest.raises(ValueError, match="heads 0 to 2"):
        modulation(inputs.weights, inputs.input_[0], 3)
