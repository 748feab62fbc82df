"""The multi-head module against PyTorch's own, weights copied over, and how heads share the projections."""

import torch
import torch.nn.functional as F
from torch import nn

from attnviz.transformer import masks
from attnviz.transformer.attention import MultiHeadAttention
from tests.transformer.calls import BATCH, CLOSE, D_K, HEADS, K_LEN, MASKS, Q_LEN, SITE, mask_of, padding


def _copy_module(theirs: nn.MultiheadAttention) -> MultiHeadAttention:
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
        key_padding_mask=~padding().squeeze(1) if mask_name in {"padding", "both"} else None,
        attn_mask=~masks.causal(Q_LEN, K_LEN)[0] if mask_name in {"causal", "both"} else None,
        need_weights=True,
        average_attn_weights=False,
    )
    probe, mask = capture(), mask_of(mask_name)
    out = _copy_module(theirs)(input_, memory, None if mask is None else mask.squeeze(1), site=SITE, probe=probe)
    torch.testing.assert_close(out, expected, **CLOSE)
    torch.testing.assert_close(probe.attn(SITE), expected_attn, **CLOSE)
    assert probe.calls[SITE].input_ is input_
    assert probe.calls[SITE].memory is memory


def test_self_attention_equals_multihead_attention_of_pytorch(capture):
    theirs = nn.MultiheadAttention(HEADS * D_K, HEADS, batch_first=True)
    x, probe = torch.randn(BATCH, K_LEN, HEADS * D_K), capture()
    mask = masks.causal(K_LEN)
    expected, attn = theirs(x, x, x, attn_mask=~mask[0], average_attn_weights=False)
    torch.testing.assert_close(_copy_module(theirs)(x, x, mask, site=SITE, probe=probe), expected, **CLOSE)
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
