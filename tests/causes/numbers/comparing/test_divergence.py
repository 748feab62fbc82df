"""How far apart maps are: the divergence's own properties, PyTorch's numbers, and heads that cannot have moved."""

import math

import pytest
import torch
from torch.distributions import Categorical, kl_divergence

import attnviz
from attnviz.causes.numbers.run_comparison import divergence_by_kind, jensen_shannon, pair_weights


def rows(seed: int, keys: int = 7) -> torch.Tensor:
    return torch.rand(5, keys, generator=torch.Generator().manual_seed(seed)).softmax(dim=-1)


def test_it_is_the_mean_of_pytorchs_divergences_from_the_middle_in_bits() -> None:
    p, q = rows(0), rows(1)
    middle = Categorical(probs=(p + q) / 2)
    nats = (kl_divergence(Categorical(probs=p), middle) + kl_divergence(Categorical(probs=q), middle)) / 2
    torch.testing.assert_close(jensen_shannon(p, q), nats / math.log(2), atol=1e-6, rtol=1e-5)


def test_it_is_symmetric_and_from_0_for_equal_rows_to_1_bit_for_rows_that_share_no_key() -> None:
    p, q = rows(2), rows(3)
    torch.testing.assert_close(jensen_shannon(p, q), jensen_shannon(q, p))
    assert jensen_shannon(p, p).tolist() == [0.0] * 5
    assert jensen_shannon(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])) == 1


def test_rows_without_keys_are_equal_and_nan_stays_nan() -> None:
    empty, full = torch.zeros(2), torch.tensor([0.5, 0.5])
    assert jensen_shannon(empty, empty) == 0
    assert jensen_shannon(empty, full).isnan()
    assert jensen_shannon(torch.tensor([torch.nan, 1.0]), full).isnan()


def test_weight_on_keys_without_a_partner_is_one_key_that_the_other_has_not() -> None:
    p, q = torch.tensor([[0.5, 0.5, 0.0]]), torch.tensor([[0.75, 0.25]])
    left, right = pair_weights(p, q, [(0, 0)])
    assert left.tolist() == [[0.5, 0.5, 0.0]]
    assert right.tolist() == [[0.75, 0.0, 0.25]]


@pytest.mark.parametrize(("kind", "layer"), [("cross", 1), ("decoder_self", 0), ("encoder_self", 2)])
def test_only_heads_after_the_one_that_is_off_can_move(model, clean, make_trace, kind: str, layer: int) -> None:
    after = make_trace(clean.src_text, attnviz.ablate(kind, layer=layer, heads=[1]))
    moved = divergence_by_kind(clean, after)
    order = {"encoder_self": 0, "decoder_self": 1, "cross": 1}
    for other, bits in moved.items():
        for at in range(len(bits)):
            later = order[other] > order[kind] or (order[other] == order[kind] and at > layer)
            later &= (other, at) != ("decoder_self", 0) or kind == "decoder_self"  # which reads the target alone
            later |= (kind, other) == ("decoder_self", "cross") and at == layer  # cross comes after, in a layer
            assert bool((bits[at] > 0).all()) if later else bool((bits[at] == 0).all()), (other, at)
