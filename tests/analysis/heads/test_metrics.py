"""Metrics of maps whose values are known on paper."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis import metrics
from attnviz.analysis.metrics import RowReader, RowSums, distance_to_diagonal, farthest_key, places_on_keys, share
from attnviz.transformer.row_blocks import blocks_of_maps

CAUSAL = torch.ones(5, 5, dtype=torch.bool).tril()


def uniform(q_len: int, k_len: int) -> torch.Tensor:
    return torch.full((q_len, k_len), 1 / k_len)


def positions(length: int) -> torch.Tensor:
    return torch.arange(length, dtype=torch.float32)


def rows_of(attn: torch.Tensor, beside: dict | None = None, ends: torch.Tensor | None = None) -> RowSums:
    """Read maps `(…, q_len, k_len)` of one sentence."""
    *_, q_len, k_len = attn.shape
    columns = {"first": torch.zeros(1, dtype=torch.long), "end": torch.empty(0) if ends is None else ends}
    maps = attn.reshape(math.prod(attn.shape[:-2]), q_len, k_len)
    return RowReader(places(q_len, k_len), beside or {}, columns).read(tuple(maps.shape), blocks_of_maps(maps))


def places(q_len: int, k_len: int) -> tuple[torch.Tensor, torch.Tensor]:
    return places_on_keys(positions(q_len), (q_len, k_len)), positions(k_len)


def like_maps(found: torch.Tensor, attn: torch.Tensor) -> torch.Tensor:
    return found.reshape(attn.shape[:-2])


def entropy(attn: torch.Tensor) -> torch.Tensor:
    return like_maps(metrics.entropy(rows_of(attn)), attn)


def mean_distance(attn: torch.Tensor) -> torch.Tensor:
    return like_maps(metrics.mean_distance(rows_of(attn)), attn)


def diagonality(attn: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
    shape = attn.shape[-2:]
    seen = torch.ones(shape, dtype=torch.bool) if mask is None else mask
    return like_maps(metrics.diagonality(rows_of(attn), farthest_key(places(*shape), seen[None])), attn)


def beside(attn: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    return like_maps(share(rows_of(attn, {"beside": keys}), "beside"), attn)


def previous_token(attn: torch.Tensor, keys: torch.Tensor | None = None) -> torch.Tensor:
    return beside(attn, torch.arange(attn.shape[-2]) - 1 if keys is None else keys)


def next_token(attn: torch.Tensor) -> torch.Tensor:
    return beside(attn, torch.arange(attn.shape[-2]) + 1)


def first_token_mass(attn: torch.Tensor) -> torch.Tensor:
    return like_maps(share(rows_of(attn), "first"), attn)


def eos_mass(attn: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    return like_maps(share(rows_of(attn, ends=keys), "end"), attn)


def every_metric(attn: torch.Tensor) -> dict[str, torch.Tensor]:
    return {
        "entropy": entropy(attn),
        "mean_distance": mean_distance(attn),
        "diagonality": diagonality(attn),
        "previous_token": previous_token(attn),
        "next_token": next_token(attn),
        "first_token_mass": first_token_mass(attn),
        "eos_mass": eos_mass(attn, torch.tensor([attn.shape[-1] - 1])),
    }


def test_layers_and_heads_stay_the_leading_axes() -> None:
    attn = torch.rand(2, 3, 5, 7).softmax(-1)
    for name, value in every_metric(attn).items():
        assert value.shape == (2, 3), name
        assert value[1, 2] == pytest.approx(every_metric(attn[1, 2])[name].item(), abs=1e-6), name


def test_entropy_is_in_bits_and_reaches_its_maximum_where_all_keys_weigh_the_same() -> None:
    assert entropy(uniform(3, 8)).item() == pytest.approx(3)
    assert entropy(torch.eye(5)).item() == 0
    assert entropy(torch.tensor([[0.5, 0.25, 0.25]])).item() == pytest.approx(1.5)


def test_entropy_of_a_row_that_lost_weight_is_that_of_its_proportions() -> None:
    assert entropy(torch.tensor([[0.1, 0.1, 0.0]])).item() == pytest.approx(1)


def test_distance_in_self_attention_is_the_number_of_tokens_between() -> None:
    distance = distance_to_diagonal(positions(5), positions(5), (5, 5))
    assert torch.equal(distance, (positions(5)[:, None] - positions(5)).abs())


def test_distance_between_sentences_lays_one_over_the_other_from_end_to_end() -> None:
    # 2 rows over 6 keys: the rows' places are 1 and 4, in the middle of either half.
    assert distance_to_diagonal(positions(2), positions(6), (2, 6)).tolist() == [[1, 0, 1, 2, 3, 4], [4, 3, 2, 1, 0, 1]]
    # A single row stands in the middle.
    assert distance_to_diagonal(positions(1), positions(3), (1, 3)).tolist() == [[1, 0, 1]]


def test_mean_distance() -> None:
    assert mean_distance(torch.eye(5)).item() == 0
    assert mean_distance(torch.eye(5).flip(0)).item() == pytest.approx((4 + 2 + 0 + 2 + 4) / 5)
    assert mean_distance(torch.tensor([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])).item() == pytest.approx(1)


def test_diagonality_runs_from_the_farthest_key_to_the_diagonal() -> None:
    assert diagonality(torch.eye(7)).item() == 1
    # From 5 tokens the farthest keys are 4, 3, 2, 3, 4 away.
    farthest = torch.eye(5)[[4, 4, 0, 0, 0]]
    assert diagonality(farthest).item() == 0
    # Uniform rows of 3: mean distances 1, 2/3, 1; farthest 2, 1, 2.
    assert diagonality(uniform(3, 3)).item() == pytest.approx((1 / 2 + 1 / 3 + 1 / 2) / 3)


def test_diagonality_of_maps_that_are_not_square() -> None:
    along = torch.tensor([[0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]])
    assert diagonality(along).item() == 1
    assert diagonality(along.flip(0)).item() == pytest.approx(1 - 3 / 4)
    assert 0 <= diagonality(uniform(7, 3)).item() <= 1


def test_diagonality_measures_against_what_a_row_may_see() -> None:
    first = torch.zeros(5, 5)
    first[:, 0] = 1
    # Under a causal mask the first key is the farthest of every row, but for the first row, where it is its own.
    assert diagonality(first, CAUSAL).item() == pytest.approx(1 / 5)
    assert diagonality(first).item() == pytest.approx((1 + 2 / 3 + 0 + 0 + 0) / 5)


def test_a_single_cell_is_on_the_diagonal() -> None:
    one = torch.ones(1, 1)
    values = every_metric(one)
    assert (values["diagonality"], values["mean_distance"], values["entropy"]) == (1, 0, 0)
    assert math.isnan(values["previous_token"])
    assert math.isnan(values["next_token"])


def test_previous_and_next_token() -> None:
    attn = torch.tensor([[0.2, 0.8, 0.0], [0.6, 0.3, 0.1], [0.0, 0.5, 0.5]])
    assert previous_token(attn).item() == pytest.approx((0.6 + 0.5) / 2)  # the first row has no token before it
    assert next_token(attn).item() == pytest.approx((0.8 + 0.1) / 2)


def test_previous_token_where_columns_were_hidden() -> None:
    attn = torch.tensor([[0.2, 0.8], [0.6, 0.4], [0.3, 0.7]])
    assert previous_token(attn, torch.tensor([-1, 0, 1])).item() == pytest.approx((0.6 + 0.7) / 2)


def test_end_token_mass_is_the_mean_weight_on_the_given_keys() -> None:
    attn = torch.tensor([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]])
    assert first_token_mass(attn).item() == pytest.approx(0.4)
    assert eos_mass(attn, torch.tensor([1, 2])).item() == pytest.approx((0.8 + 0.4) / 2)


def test_rows_without_any_visible_key_are_left_out_of_every_mean() -> None:
    attn = torch.rand(5, 5).softmax(-1)
    holes = attn.clone()
    holes[[1, 3]] = 0
    keys = torch.tensor([4])
    assert entropy(holes).item() == pytest.approx(entropy(attn[[0, 2, 4]]).item())
    assert eos_mass(holes, keys).item() == pytest.approx(attn[[0, 2, 4], 4].mean().item())
    assert first_token_mass(holes).item() == pytest.approx(attn[[0, 2, 4], 0].mean().item())
    assert previous_token(holes).item() == pytest.approx(attn[[2, 4], [1, 3]].mean().item())
    distance = (positions(5)[:, None] - positions(5)).abs()
    assert mean_distance(holes).item() == pytest.approx((attn * distance).sum(-1)[[0, 2, 4]].mean().item())


@pytest.mark.parametrize("shape", [(3, 5, 5), (2, 0, 0), (2, 0, 3)])
def test_without_a_row_that_sees_anything_a_metric_is_nan(shape) -> None:
    attn = torch.zeros(shape)
    keys = torch.tensor([0]) if shape[-1] else torch.empty(0, dtype=torch.long)
    values = [entropy(attn), mean_distance(attn), diagonality(attn), previous_token(attn), eos_mass(attn, keys)]
    assert all(torch.isnan(value).all() and value.shape == shape[:1] for value in values)


@given(st.integers(1, 11), st.integers(1, 13), st.integers(0, 999))
def test_every_metric_stays_in_its_range(q_len: int, k_len: int, seed: int) -> None:
    attn = (torch.randn(q_len, k_len, generator=torch.Generator().manual_seed(seed)) * 5).softmax(-1)
    values = every_metric(attn)
    assert -1e-5 <= values["entropy"] <= math.log2(k_len) + 1e-5
    assert 0 <= values["mean_distance"] <= k_len - 0.5
    assert -1e-5 <= values["diagonality"] <= 1 + 1e-5
    for name in ("previous_token", "next_token", "first_token_mass", "eos_mass"):
        assert torch.isnan(values[name]) or 0 <= values[name] <= 1 + 1e-5, name
