"""Rows taken in blocks: the same contexts, and no key read that a block may not see."""

import torch

from attnviz.transformer.attention import attend, call_attn, context
from attnviz.transformer.masks import is_known_causal, remember_causal
from attnviz.transformer.probe import AttentionCall
from tests.each_case import each_case
from tests.transformer.calls import BATCH, CLOSE, D_K, D_V, HEADS

ROWS, KEYS = 157, 163  # more than two blocks of rows, the last one shorter


def _long_call(mask: torch.Tensor, *, bias: bool = False) -> AttentionCall:
    generator = torch.Generator().manual_seed(3)
    query, key, value = (
        torch.randn(BATCH, HEADS, length, d, generator=generator)
        for length, d in ((ROWS, D_K), (KEYS, D_K), (KEYS, D_V))
    )
    added = torch.randn(1, HEADS, ROWS, KEYS, generator=generator) if bias else None
    return AttentionCall(query, key, value, 0.3, mask, added)


@each_case("bias", [False, True])
@each_case("name", ["causal", "causal and padding", "window", "no keys", "keys"])
def test_rows_taken_in_blocks_give_what_all_rows_at_once_give(name, bias):
    causal = torch.ones(1, 1, ROWS, KEYS, dtype=torch.bool).tril()
    padding = (torch.arange(KEYS) < torch.tensor([[KEYS], [101]])).view(BATCH, 1, 1, KEYS)
    window = causal & ~causal.tril(-20)
    mask = {
        "causal": causal, "causal and padding": causal & padding, "window": window,
        "no keys": window & (torch.arange(ROWS) > 70).view(-1, 1), "keys": padding,
    }[name]  # fmt: skip
    call = _long_call(mask, bias=bias)
    with torch.inference_mode():
        torch.testing.assert_close(attend(call), context(call_attn(call), call.value), **CLOSE)


def test_keys_that_no_row_of_a_block_may_see_are_not_read():
    call = _long_call(torch.ones(1, 1, ROWS, KEYS, dtype=torch.bool).tril())
    call.key[:, :, 100:] = torch.nan
    with torch.inference_mode():
        out = attend(call)
    assert out[:, :, :64].isfinite().all()
    assert not out[:, :, 128:].isfinite().any()


def test_a_mask_is_taken_for_causal_only_if_every_cell_is():
    """The kernel is then given no mask: a cell that is hidden too much or too little would be in no map."""
    length = 1031  # more than two blocks of rows that are compared at once
    causal = torch.ones(1, 1, length, length, dtype=torch.bool).tril()
    for row, key in ((0, 0), (511, 512), (512, 512), (512, 513), (1030, 0), (1030, 1030)):
        other = causal.clone()
        other[..., row, key] ^= True
        assert not is_known_causal(remember_causal(other)), (row, key)
    assert not is_known_causal(remember_causal(causal[..., :-1])), "more queries than keys"
    mask = remember_causal(causal)
    assert is_known_causal(mask)
    call = AttentionCall(*torch.randn(3, 1, 2, length, D_K, generator=torch.Generator().manual_seed(3)), 0.3, mask)
    with torch.inference_mode():
        torch.testing.assert_close(attend(call), context(call_attn(call), call.value), **CLOSE)
