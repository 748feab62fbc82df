"""Dropout as an argument: the rate it names, its own random numbers, and nobody else's."""

import math

import pytest
import torch

from attnviz.transformer.dropout import Dropout, apply_dropout
from attnviz.transformer.layers import ForwardContext
from tests.each_case import each_case


def _generator(seed: int = 1, device: str | torch.device = "cpu") -> torch.Generator:
    return torch.Generator(device).manual_seed(seed)


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5, 0.9])
def test_rate_is_kept_and_the_rest_grows(rate, device):
    size = 400_003  # not a multiple of the two numbers that a draw decides on
    out = Dropout(rate, _generator(device=device))(torch.ones(size, device=device)).cpu()
    share = out.eq(0).float().mean().item()
    assert share == pytest.approx(rate, abs=5 * math.sqrt(rate * (1 - rate) / size))
    torch.testing.assert_close(out[out != 0], torch.full_like(out[out != 0], 1 / (1 - rate)))
    assert out.mean().item() == pytest.approx(1, abs=0.02)


def test_neighbours_are_dropped_independently(device):
    kept = Dropout(0.5, _generator(device=device))(torch.ones(400_000, device=device)).cpu().ne(0).float() - 0.5
    for distance in range(1, 9):
        assert abs((kept[distance:] * kept[:-distance]).mean().item()) < 0.25 * 5 / math.sqrt(400_000)


def test_same_seed_drops_the_same_and_another_does_not():
    x = torch.randn(3, 5, 7)
    assert torch.equal(Dropout(0.4, _generator(2))(x), Dropout(0.4, _generator(2))(x))
    assert not torch.equal(Dropout(0.4, _generator(2))(x), Dropout(0.4, _generator(3))(x))


def test_a_generator_of_its_own_leaves_the_global_one_alone(model, src, tgt_in):
    before = torch.get_rng_state()
    first = model(src, tgt_in, ForwardContext(dropout=Dropout(0.3, _generator())))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first, model(src, tgt_in, ForwardContext(dropout=Dropout(0.3, _generator()))))
    assert not torch.allclose(first, model(src, tgt_in))
    assert not model.training


def test_rate_zero_draws_nothing(model, src, tgt_in):
    generator = _generator()
    before = generator.get_state()
    x = torch.randn(3)
    assert apply_dropout(x, Dropout(0.0, generator)) is x
    assert apply_dropout(x, None) is x
    assert torch.equal(model(src, tgt_in, ForwardContext(dropout=Dropout(0.0, generator))), model(src, tgt_in))
    assert torch.equal(generator.get_state(), before)


def test_attention_weights_can_be_left_out(model, src, tgt_in):
    everywhere = model(src, tgt_in, ForwardContext(dropout=Dropout(0.3, _generator())))
    outside = model(src, tgt_in, ForwardContext(dropout=Dropout(0.3, _generator(), attention=False)))
    assert not torch.allclose(everywhere, outside)


def test_gradient_is_that_of_the_kept_numbers():
    x = torch.ones(101, requires_grad=True)
    out = Dropout(0.2, _generator())(x)
    out.sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, out.detach())


@each_case("rate", [-0.1, 1.0, 1.5, math.nan])
def test_impossible_rate_is_refused(rate):
    with pytest.raises(ValueError, match=r"at least 0 and below 1"):
        Dropout(rate)
