"""PyTorch's fused attention in blocks of rows, each over the keys that its rows may see.

Its kernel for the CPU multiplies what a causal mask hides all the same: at 512 tokens nearly half of all products.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from attnviz.transformer.probe import AttentionCall

_ROWS = 64  # queries to a block: with fewer the kernel is called too often, with more each reads too many keys


def attend_visible_keys(call: AttentionCall, mask: Tensor | None) -> Float[Tensor, "batch heads q_len d_v"]:
    """Compute the context of a call. `mask` is its mask, or the same with its bias added in, as floats."""
    query, key, value = call.query, call.key, call.value
    is_worth_it = query.shape[2] >= 2 * _ROWS and query.device.type == "cpu" and not torch.is_grad_enabled()
    ends = _visible_ends(call) if is_worth_it else None
    if mask is None or ends is None:
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=call.scale)
    mask = mask.expand(*mask.shape[:-2], query.shape[2], -1)
    batch, heads, q_len, _ = query.shape
    out = query.new_empty(batch, q_len, heads, value.shape[-1]).transpose(1, 2)  # laid out as the kernel's own
    for block, end in enumerate(ends):
        rows = slice(block * _ROWS, (block + 1) * _ROWS)
        out[:, :, rows] = F.scaled_dot_product_attention(
            query[:, :, rows], key[:, :, :end], value[:, :, :end], attn_mask=mask[..., rows, :end], scale=call.scale
        )
    return out


def _visible_ends(call: AttentionCall) -> list[int] | None:
    """Count, for each block of rows, the keys up to the last that it sees; None where no block sees fewer than all."""
    if call.mask is None or call.mask.shape[-2] == 1:
        return None
    seen = call.mask.reshape(-1, *call.mask.shape[-2:]).any(dim=0)
    seen = torch.stack([rows.any(dim=0) for rows in seen.split(_ROWS)])
    ends = (seen * torch.arange(1, seen.shape[-1] + 1)).amax(dim=-1).clamp(min=1)
    return None if int(ends.min()) == seen.shape[-1] else ends.tolist()
