"""Attention against PyTorch's own: outputs and weights, every mask, both paths. A different prime for each axis."""

import math

import pytest
import torch
import torch.nn.functional as F
from jaxtyping import TypeCheckError
from torch import nn

from attnviz.transformer import masks
from attnviz.transformer.attention import (
    MultiHeadAttention,
    attend,
    call_attn,
    call_scores,
    context,
    masked_softmax,
    no_keys,
    scores,
)
from attnviz.transformer.dropout import Dropout
from attnviz.transformer.probe import AttentionCall, Site

BATCH, HEADS, Q_LEN, K_LEN, D_K, D_V = 2, 3, 5, 7, 11, 13
SITE = Site("cross", 0)
CLOSE = {"rtol": 0.0, "atol": 1e-5}


def _padding() -> torch.Tensor:
    return masks.padding(torch.tensor([[4, 4, 4, 4, 4, 4, 4], [4, 4, 4, 0, 0, 0, 0]]), pad_id=0)


def _mask(name: str) -> torch.Tensor | None:
    """Four-axis masks: True = may attend."""
    causal = masks.causal(Q_LEN, K_LEN)
    named = {"none": None, "padding": _padding(), "causal": causal, "both": _padding() & causal}
    return masks.for_heads(named[name])


MASKS = pytest.mark.parametrize("mask_name", ["none", "padding", "causal", "both"])


def _call(mask: torch.Tensor | None = None, bias: torch.Tensor | None = None) -> AttentionCall:
    generator = torch.Generator().manual_seed(3)
    query = torch.randn(BATCH, HEADS, Q_LEN, D_K, generator=generator)
    key = torch.randn(BATCH, HEADS, K_LEN, D_K, generator=generator)
    value = torch.randn(BATCH, HEADS, K_LEN, D_V, generator=generator)
    return AttentionCall(query, key, value, scale=1 / math.sqrt(D_K), mask=mask, bias=bias)


def _reference_attn(call: AttentionCall) -> torch.Tensor:
    """The fused function's weights: its output for values that are the unit vectors of the keys."""
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
    call = _call(_mask(mask_name))
    expected = F.scaled_dot_product_attention(call.query, call.key, call.value, attn_mask=call.mask)
    torch.testing.assert_close(attend(call), expected, **CLOSE)
    probe = capture({SITE: lambda attn: attn})
    torch.testing.assert_close(attend(call, SITE, probe=probe), expected, **CLOSE)
    torch.testing.assert_close(context(call_attn(call), call.value), expected, **CLOSE)


@MASKS
def test_weights_equal_those_of_the_fused_function(mask_name):
    call = _call(_mask(mask_name))
    attn = call_attn(call)
    assert attn.shape == (BATCH, HEADS, Q_LEN, K_LEN)
    torch.testing.assert_close(attn, _reference_attn(call), **CLOSE)
    torch.testing.assert_close(attn.sum(-1), torch.ones(BATCH, HEADS, Q_LEN), **CLOSE)
    if call.mask is not None:
        assert attn.masked_select(~call.mask.expand_as(attn)).eq(0).all()


@MASKS
def test_bias_is_added_to_the_scores_before_the_mask(capture, mask_name):
    bias = torch.randn(1, HEADS, Q_LEN, K_LEN, generator=torch.Generator().manual_seed(9))
    call = _call(_mask(mask_name), bias)
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
    call = _call(mask, torch.ones(1, 1, Q_LEN, K_LEN) if with_bias else None)
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


def test_no_probe_sees_dropout_in_the_weights(capture):
    probe, call = capture(), _call()
    dropped = attend(call, SITE, probe=probe, dropout=Dropout(0.5, torch.Generator().manual_seed(1)))
    assert not torch.allclose(dropped, attend(call))
    torch.testing.assert_close(probe.attn(SITE).sum(-1), torch.ones(BATCH, HEADS, Q_LEN), **CLOSE)


def test_an_edit_of_the_weights_changes_the_output_of_its_site_only(capture):
    first_key = capture({SITE: lambda attn: F.one_hot(torch.zeros(attn.shape[:-1]).long(), K_LEN).float()})
    call = _call()
    out = attend(call, SITE, probe=first_key)
    torch.testing.assert_close(out, call.value[:, :, :1].expand(-1, -1, Q_LEN, -1))
    torch.testing.assert_close(attend(call, Site("cross", 1), probe=first_key), attend(call), **CLOSE)


def _copied(theirs: nn.MultiheadAttention) -> MultiHeadAttention:
    ours = MultiHeadAttention(theirs.embed_dim, theirs.num_heads, theirs.head_dim)
    weights, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
    with torch.no_grad():
        for linear, weight, bias in zip((ours.W_q, ours.W_k, ours.W_v), weights, biases, strict=True):
            linear.weight.copy_(weight)
            linear.bias.copy_(bias)
        ours.W_o.load_state_dict(theirs.out_proj.state_dict())
    return ours


@MASKS
def test_module_equals_multihead_attention_of_pytorch(capture, mask_name):
    theirs = nn.MultiheadAttention(HEADS * D_K, HEADS, batch_first=True)
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.3)
    input_, memory = torch.randn(BATCH, Q_LEN, HEADS * D_K), torch.randn(BATCH, K_LEN, HEADS * D_K)
    expected, expected_attn = theirs(
        input_,
        memory,
        memory,
        key_padding_mask=~_padding().squeeze(1) if mask_name in {"padding", "both"} else None,
        attn_mask=~masks.causal(Q_LEN, K_LEN)[0] if mask_name in {"causal", "both"} else None,
        need_weights=True,
        average_attn_weights=False,
    )
    probe, mask = capture(), _mask(mask_name)
    out = _copied(theirs)(input_, memory, None if mask is None else mask.squeeze(1), site=SITE, probe=probe)
    torch.testing.assert_close(out, expected, **CLOSE)
    torch.testing.assert_close(probe.attn(SITE), expected_attn, **CLOSE)
    assert probe.calls[SITE].input_ is input_
    assert probe.calls[SITE].memory is memory


def test_self_attention_equals_multihead_attention_of_pytorch(capture):
    theirs = nn.MultiheadAttention(HEADS * D_K, HEADS, batch_first=True)
    x, probe = torch.randn(BATCH, K_LEN, HEADS * D_K), capture()
    mask = masks.causal(K_LEN)
    expected, attn = theirs(x, x, x, attn_mask=~mask[0], average_attn_weights=False)
    torch.testing.assert_close(_copied(theirs)(x, x, mask, site=SITE, probe=probe), expected, **CLOSE)
    torch.testing.assert_close(probe.attn(SITE), attn, **CLOSE)


def test_heads_own_neighbouring_rows_of_the_projections():
    module = MultiHeadAttention(d_model=34, n_heads=HEADS, d_k=D_K)
    x = torch.randn(BATCH, Q_LEN, 34)
    query = module.split_heads(module.W_q(x))
    assert query.shape == (BATCH, HEADS, Q_LEN, D_K)
    for head in range(HEADS):
        rows = slice(head * D_K, (head + 1) * D_K)
        alone = F.linear(x, module.W_q.weight[rows], module.W_q.bias[rows])
        torch.testing.assert_close(query[:, head], alone, **CLOSE)
    torch.testing.assert_close(module.merge_heads(query), module.W_q(x))


def test_parameters_do_not_depend_on_the_number_of_heads():
    counts = {sum(p.numel() for p in MultiHeadAttention(30, heads, 30 // heads).parameters()) for heads in (1, 3, 5)}
    assert counts == {4 * (30 * 30 + 30)}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_weights_of_a_half_precision_call_are_float32(dtype):
    call = _call(_mask("causal"))
    half = AttentionCall(call.query.to(dtype), call.key.to(dtype), call.value.to(dtype), call.scale, call.mask)
    attn = call_attn(half)
    assert attn.dtype is torch.float32
    torch.testing.assert_close(attn.sum(-1), torch.ones(BATCH, HEADS, Q_LEN), **CLOSE)


def test_shapes_are_checked_in_tests():
    with pytest.raises(TypeCheckError):
        scores(torch.randn(Q_LEN, D_K), torch.randn(K_LEN, D_V))


@pytest.mark.parametrize(
    "device",
    [
        pytest.param(
            "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no CUDA device")
        ),
        pytest.param(
            "mps",
            marks=pytest.mark.skipif(not torch.backends.mps.is_available(), reason="this machine has no MPS device"),
        ),
    ],
)
def test_other_devices_agree_with_the_cpu_and_give_zeros_without_keys(device):
    mask = torch.ones(BATCH, 1, Q_LEN, K_LEN, dtype=torch.bool)
    mask[1, 0, 2] = False
    call = _call(mask)
    there = AttentionCall(
        *(t.to(device) for t in (call.query, call.key, call.value)), scale=call.scale, mask=mask.to(device)
    )
    torch.testing.assert_close(attend(there).cpu(), attend(call), rtol=0.0, atol=1e-4)
    assert attend(there)[1, :, 2].eq(0).all()
