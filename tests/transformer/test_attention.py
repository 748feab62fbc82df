"""Attention against PyTorch's own: outputs and weights, every mask, both paths. A different prime for each axis."""

import math

import pytest
import torch
import torch.nn.functional as F
from jaxtyping import TypeCheckError

from attnviz.transformer.attention import (
    attend,
    call_attn,
    call_scores,
    call_sink_weights,
    context,
    masked_softmax,
    no_keys,
    scores,
)
from attnviz.transformer.dropout import Dropout
from attnviz.transformer.probe import AttentionCall, Site, visible_cells
from tests.each_case import each_case
from tests.transformer.calls import BATCH, CLOSE, D_K, D_V, HEADS, K_LEN, MASKS, Q_LEN, SITE, call_of, mask_of


def _reference_attn(call: AttentionCall) -> torch.Tensor:
    """Return the fused function's weights: its output for values that are the unit vectors of the keys."""
    units = torch.eye(K_LEN).expand(BATCH, HEADS, K_LEN, K_LEN)
    return F.scaled_dot_product_attention(call.query, call.key, units, attn_mask=call.mask)


def test_scores_and_softmax_by_hand():
    query, key = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [5.0, 6.0]])
    torch.testing.assert_close(scores(query, key), torch.tensor([[11.0, 17.0]]) / math.sqrt(2))
    torch.testing.assert_close(scores(query, key, 0.5), torch.tensor([[5.5, 8.5]]))
    attn = masked_softmax(torch.tensor([[0.0, math.log(3.0), 9.0]]), torch.tensor([[True, True, False]]))
    torch.testing.assert_close(attn, torch.tensor([[0.25, 0.75, 0.0]]))
    torch.testing.assert_close(context(attn, torch.tensor([[4.0], [8.0], [100.0]])), torch.tensor([[7.0]]))


@MASKS
def test_both_paths_equal_the_fused_function(capture, mask_name):
    call = call_of(mask_of(mask_name))
    expected = F.scaled_dot_product_attention(call.query, call.key, call.value, attn_mask=call.mask)
    torch.testing.assert_close(attend(call), expected, **CLOSE)
    probe = capture({SITE: lambda attn: attn})
    torch.testing.assert_close(attend(call, SITE, probe=probe), expected, **CLOSE)
    torch.testing.assert_close(context(call_attn(call), call.value), expected, **CLOSE)


@MASKS
def test_weights_equal_those_of_the_fused_function(mask_name):
    call = call_of(mask_of(mask_name))
    attn = call_attn(call)
    assert attn.shape == (BATCH, HEADS, Q_LEN, K_LEN)
    torch.testing.assert_close(attn, _reference_attn(call), **CLOSE)
    torch.testing.assert_close(attn.sum(-1), torch.ones(BATCH, HEADS, Q_LEN), **CLOSE)
    if call.mask is not None:
        assert attn.masked_select(~call.mask.expand_as(attn)).eq(0).all()


@MASKS
def test_bias_is_added_to_the_scores_before_the_mask(capture, mask_name):
    bias = torch.randn(1, HEADS, Q_LEN, K_LEN, generator=torch.Generator().manual_seed(9))
    call = call_of(mask_of(mask_name), bias)
    raw = call.query @ call.key.transpose(-2, -1) / math.sqrt(D_K) + bias
    torch.testing.assert_close(call_scores(call), raw, **CLOSE)
    masked = raw if call.mask is None else raw.masked_fill(~call.mask, -math.inf)
    expected = masked.softmax(-1) @ call.value
    torch.testing.assert_close(attend(call), expected, **CLOSE)
    torch.testing.assert_close(attend(call, SITE, probe=capture({SITE: lambda attn: attn})), expected, **CLOSE)


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("needs_grad", [False, True])
def test_rows_without_keys_give_zeros_on_both_paths_and_are_reported(capture, with_bias, needs_grad):
    mask = torch.ones(BATCH, 1, Q_LEN, K_LEN, dtype=torch.bool)
    mask[1, 0, 2:4] = False
    call = call_of(mask, torch.ones(1, 1, Q_LEN, K_LEN) if with_bias else None)
    call.query.requires_grad_(needs_grad)
    fused, explicit = attend(call), attend(call, SITE, probe=capture({SITE: lambda attn: attn}))
    for out in (fused, explicit):
        assert out[1, :, 2:4].eq(0).all()
        assert out[0].ne(0).all()
        assert out[1, :, 4].ne(0).all()
    torch.testing.assert_close(fused, explicit, **CLOSE)
    assert no_keys(mask).nonzero().tolist() == [[1, 0, 2], [1, 0, 3]]
    assert call_attn(call)[1, :, 2:4].eq(0).all()


def test_row_without_keys_leaves_gradients_finite():
    raw = torch.randn(Q_LEN, K_LEN, requires_grad=True)
    mask = torch.ones(Q_LEN, K_LEN, dtype=torch.bool)
    mask[2] = False
    (masked_softmax(raw, mask) * torch.randn(Q_LEN, K_LEN)).sum().backward()
    assert raw.grad is not None
    assert raw.grad.isfinite().all()
    assert raw.grad[2].eq(0).all()


def _random_mask(*shape: int) -> torch.Tensor:
    """Make a mask without any order, one of its rows without keys."""
    mask = torch.rand(*shape, generator=torch.Generator().manual_seed(11)) < 0.5
    mask[..., 1, :] = False
    return mask


@each_case("shape", [(1, 1), (BATCH, 1), (1, HEADS), (BATCH, HEADS)])
def test_weights_made_in_place_are_those_of_the_masked_softmax(shape):
    call = call_of(_random_mask(*shape, Q_LEN, K_LEN))
    expected = masked_softmax(scores(call.query, call.key, call.scale), call.mask)
    assert expected[..., 1, :].eq(0).all()
    assert torch.equal(call_attn(call), expected)
    assert torch.equal(call_scores(call), scores(call.query, call.key, call.scale)), "what was recorded stays as it was"


@pytest.mark.parametrize("sees", [True, False])
def test_a_single_query_and_a_single_key(capture, sees):
    query, value = torch.randn(1, HEADS, 1, D_K), torch.randn(1, HEADS, 1, D_V)
    call = AttentionCall(query, query, value, scale=1.0, mask=torch.tensor([[[[sees]]]]))
    assert torch.equal(call_attn(call), torch.full((1, HEADS, 1, 1), float(sees)))
    for out in (attend(call), attend(call, SITE, probe=capture({SITE: lambda attn: attn}))):
        torch.testing.assert_close(out, value * sees, **CLOSE)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_rows_without_keys_give_zeros_in_half_precision_too(capture, dtype):
    call = call_of(_random_mask(BATCH, 1, Q_LEN, K_LEN))
    half = AttentionCall(call.query.to(dtype), call.key.to(dtype), call.value.to(dtype), call.scale, call.mask)
    for out in (attend(half), attend(half, SITE, probe=capture({SITE: lambda attn: attn}))):
        assert out.dtype is dtype
        assert out[..., 1, :].eq(0).all()
        torch.testing.assert_close(out.float(), attend(call), rtol=0.0, atol=5e-2)
    assert call_attn(half)[..., 1, :].eq(0).all()


def test_no_probe_sees_dropout_in_the_weights(capture):
    probe, call = capture(), call_of()
    dropped = attend(call, SITE, probe=probe, dropout=Dropout(0.5, torch.Generator().manual_seed(1)))
    assert not torch.allclose(dropped, attend(call))
    torch.testing.assert_close(probe.attn(SITE).sum(-1), torch.ones(BATCH, HEADS, Q_LEN), **CLOSE)


def test_an_edit_of_the_weights_changes_the_output_of_its_site_only(capture):
    first_key = capture({SITE: lambda attn: F.one_hot(torch.zeros(attn.shape[:-1]).long(), K_LEN).float()})
    call = call_of()
    out = attend(call, SITE, probe=first_key)
    torch.testing.assert_close(out, call.value[:, :, :1].expand(-1, -1, Q_LEN, -1))
    torch.testing.assert_close(attend(call, Site("cross", 1), probe=first_key), attend(call), **CLOSE)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_weights_of_a_half_precision_call_are_float32(dtype):
    call = call_of(mask_of("causal"))
    half = AttentionCall(call.query.to(dtype), call.key.to(dtype), call.value.to(dtype), call.scale, call.mask)
    attn = call_attn(half)
    assert attn.dtype is torch.float32
    torch.testing.assert_close(attn.sum(-1), torch.ones(BATCH, HEADS, Q_LEN), **CLOSE)


def test_shapes_are_checked_in_tests():
    with pytest.raises(TypeCheckError):
        scores(torch.randn(Q_LEN, D_K), torch.randn(K_LEN, D_V))


def blind_row() -> torch.Tensor:
    mask = torch.ones(BATCH, 1, Q_LEN, K_LEN, dtype=torch.bool)
    mask[1, 0, 2] = False
    return mask


def test_every_device_agrees_with_the_cpu_and_gives_zeros_without_keys(device):
    call = call_of(blind_row())
    there = call.map_tensors(lambda part: part.to(device))
    torch.testing.assert_close(attend(there).cpu(), attend(call), rtol=0.0, atol=1e-4)
    assert attend(there)[1, :, 2].cpu().eq(0).all()


@pytest.mark.parametrize("has_bias", [False, True])
def test_a_row_without_keys_spoils_no_gradient_on_any_device(device, has_bias):
    bias = torch.randn(1, HEADS, Q_LEN, K_LEN, generator=torch.Generator().manual_seed(1)) if has_bias else None
    call = call_of(blind_row(), bias)
    found, expected = (
        gradients(call.map_tensors(lambda part: part.to(device))),
        gradients(call.map_tensors(lambda part: part.clone())),
    )
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.cpu(), other, **CLOSE)


def gradients(call: AttentionCall) -> tuple[torch.Tensor, ...]:
    parts = tuple(part.requires_grad_() for part in (call.query, call.key, call.value))
    return torch.autograd.grad(attend(call).square().sum(), parts)


def test_what_is_made_for_a_call_is_on_its_device(device):
    call = call_of().map_tensors(lambda part: part.to(device))
    assert visible_cells(call).device == call_sink_weights(call).device == call.query.device


def test_a_sink_takes_its_share_of_each_row_and_has_no_value():
    """A key more whose value is zero is the same, in PyTorch's own kernel."""
    torch.manual_seed(5)
    query, key, value = (torch.randn(2, 3, length, 7) for length in (5, 11, 11))
    sinks, mask = torch.randn(1, 3, 1, 1), torch.rand(2, 1, 5, 11) < 0.7
    mask[1, :, 2] = False  # a row that sees nothing gives all of itself to the sink
    call = AttentionCall(query, key, value, 0.4, mask, sinks=sinks)
    more = [torch.cat((part, torch.zeros(2, 3, 1, 7)), dim=2) for part in (key, value)]
    hidden = torch.zeros(mask.shape).masked_fill(~mask, -torch.inf).expand(2, 3, 5, 11)
    bias = torch.cat((hidden, sinks.expand(2, 3, 5, 1)), dim=-1)
    expected = F.scaled_dot_product_attention(query, *more, attn_mask=bias, scale=0.4)
    torch.testing.assert_close(attend(call), expected)
    torch.testing.assert_close(call_attn(call).sum(-1) + call_sink_weights(call), torch.ones(2, 3, 5))
    assert torch.equal(call_sink_weights(call)[1, :, 2], torch.ones(3))


def test_a_soft_cap_bounds_the_scores_before_the_bias():
    torch.manual_seed(6)
    query, key, value = (torch.randn(2, 3, length, 7) for length in (5, 11, 11))
    bias = torch.randn(1, 3, 5, 11)
    call = AttentionCall(query, key, value, 2.0, None, bias, softcap=1.5)
    capped = 1.5 * torch.tanh(query @ key.mT * 2.0 / 1.5)
    assert float(capped.abs().max()) <= 1.5
    torch.testing.assert_close(call_scores(call), capped + bias)
    torch.testing.assert_close(attend(call), (capped + bias).softmax(-1) @ value)
