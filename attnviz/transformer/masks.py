"""Masks: bool, True = may attend, combined with `&`. One pure function each."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

Mask3 = Bool[Tensor, "batch q_len k_len"]


def padding(ids: Int[Tensor, "batch length"], pad_id: int) -> Bool[Tensor, "batch 1 length"]:
    """Hide padding as a key: the same row for every query."""
    return (ids != pad_id).unsqueeze(1)


def causal(q_len: int, k_len: int | None = None, *, device: torch.device | None = None) -> Bool[Tensor, "1 q k"]:
    """Query i sees keys up to its own position.

    With `k_len > q_len` the queries are the last `q_len` of `k_len` positions, as when a cache holds the rest.
    """
    k_len = q_len if k_len is None else k_len
    if k_len < q_len:
        raise ValueError(f"A causal mask needs at least as many keys as queries, not {k_len} for {q_len}.")
    return torch.ones(1, q_len, k_len, dtype=torch.bool, device=device).tril(k_len - q_len)


def for_heads(mask: Bool[Tensor, "..."] | None) -> Bool[Tensor, "batch heads q k"] | None:
    """Give a three-axis mask a head axis of size 1, so that it broadcasts over heads; four axes pass as they are."""
    if mask is None or mask.dim() == 4:
        return mask
    if mask.dim() != 3:
        raise ValueError(
            f"A mask has axes (batch, q_len, k_len) or (batch, heads, q_len, k_len), not {tuple(mask.shape)}."
        )
    return mask.unsqueeze(1)
