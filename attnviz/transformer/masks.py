"""Functions that make masks: bool tensors, True = may attend, which can be combined with `&`.

Positions count from 0 on both axes. A mask hides keys; it may hide all keys of a query (see
`attention.masked_softmax`).
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

_WORD = 0xFFFFFFFF  # 32 bits
_CAUSAL = WeakTensorKeyDictionary()  # masks that `remember_causal` has found to hide later keys alone


def padding(ids: Int[Tensor, "batch length"], pad_id: int) -> Bool[Tensor, "batch 1 length"]:
    """Hide keys that are padding, for every query."""
    return (ids != pad_id).unsqueeze(1)


def causal(q_len: int, k_len: int | None = None, *, device: torch.device | None = None) -> Bool[Tensor, "1 q k"]:
    """Let query i see keys up to its own position.

    If `k_len > q_len`, the queries are the last `q_len` of `k_len` positions, as when a cache holds the earlier ones.
    """
    k_len = q_len if k_len is None else k_len
    if k_len < q_len:
        raise ValueError(f"A causal mask needs at least as many keys as queries, not {k_len} for {q_len}.")
    return torch.ones(1, q_len, k_len, dtype=torch.bool, device=device).tril(k_len - q_len)


def remember_causal(mask: Bool[Tensor, "*any q k"]) -> Bool[Tensor, "*any q k"]:
    """Return the mask; remember that it is causal, if each query of it sees its own position and all before it.

    A GPU's kernels then need no mask, and skip the products that a mask would only hide. Reading the mask makes the
    device wait, so this is done once for all layers that share the mask.
    """
    length = mask.shape[-1]
    if mask.shape[-2] == length > 1 and bool((mask == mask.new_ones(length, length).tril()).all()):
        _CAUSAL[mask] = True
    return mask


def is_known_causal(mask: Tensor | None) -> bool:
    """Check whether `remember_causal` has found that this very tensor is causal. Copies of the tensor are not known."""
    return mask is not None and mask in _CAUSAL


def full(q_len: int, k_len: int | None = None, *, device: torch.device | None = None) -> Bool[Tensor, "1 q k"]:
    """Let every query see every key: a mask that hides nothing."""
    return torch.ones(1, q_len, q_len if k_len is None else k_len, dtype=torch.bool, device=device)


def sliding_window(q_len: int, k_len: int | None = None, *, reach: int) -> Bool[Tensor, "1 q k"]:
    """Let query i see keys from i - reach to i + reach (Beltagy et al. 2020, Longformer, figure 2b).

    Combine with `& causal(…)` to keep only the part of the window before the query. Raises ValueError for a negative
    reach.
    """
    _require_at_least("reach", reach, 0)
    query, key = _positions(q_len, k_len)
    return ((query - key).abs() <= reach).unsqueeze(0)


def dilated(q_len: int, k_len: int | None = None, *, step: int) -> Bool[Tensor, "1 q k"]:
    """Let query i see every `step`-th key, counted from its own position (Longformer, figure 2c, without the
    window).
    """
    _require_at_least("step", step, 1)
    query, key = _positions(q_len, k_len)
    return ((query - key) % step == 0).unsqueeze(0)


def prefix(q_len: int, k_len: int | None = None, *, length: int) -> Bool[Tensor, "1 q k"]:
    """Let all queries see the first `length` keys, and the other keys as in a causal mask (Raffel et al. 2020, figure
    4).
    """
    _require_at_least("length", length, 0)
    query, key = _positions(q_len, k_len)
    return ((key < length) | (key <= query)).unsqueeze(0)


def block_diagonal(q_len: int, k_len: int | None = None, *, size: int) -> Bool[Tensor, "1 q k"]:
    """Split positions into blocks of `size`; a query sees only the keys of its own block."""
    _require_at_least("size", size, 1)
    query, key = _positions(q_len, k_len)
    return (query // size == key // size).unsqueeze(0)


def wait(q_len: int, k_len: int, *, lead: int) -> Bool[Tensor, "1 q k"]:
    """Let query i see the first i + lead keys, as when a target is written while the source is still arriving.

    This is the counterpart of a causal mask between two sentences: wait-k (Ma et al. 2019, STACL, section 3.1).
    """
    _require_at_least("lead", lead, 1)
    query, key = _positions(q_len, k_len)
    return (key < query + lead).unsqueeze(0)


def random(q_len: int, k_len: int | None = None, *, keep: float, seed: int) -> Bool[Tensor, "1 q k"]:
    """Keep each cell with probability `keep`, independently of the others.

    A cell depends only on the seed and its own position, so that a longer text keeps the cells of a shorter one, as
    decoding one token at a time requires. Raises ValueError for a rate outside 0 to 1.
    """
    if not 0 <= keep <= 1:
        raise ValueError(f"keep is a share between 0 and 1, not {keep}.")
    query, key = _positions(q_len, k_len)
    return (_uniform(query, key, seed) < keep).unsqueeze(0)


def _positions(q_len: int, k_len: int | None) -> tuple[Int[Tensor, "q 1"], Int[Tensor, "1 k"]]:
    """Return query and key positions, both counted from 0, the queries as a column and the keys as a row."""
    return torch.arange(q_len).unsqueeze(1), torch.arange(q_len if k_len is None else k_len).unsqueeze(0)


def _uniform(query: Int[Tensor, "q 1"], key: Int[Tensor, "1 k"], seed: int) -> Float[Tensor, "q k"]:
    """Hash seed and position to pseudo-random values in [0, 1).

    The mixing steps are those of a 32-bit finalizer (Wellons 2018, "Prospecting for hash functions", lowbias32).
    """
    mixed = (seed * 0x9E3779B1 + query * 0x85EBCA77 + key * 0xC2B2AE3D) & _WORD
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        mixed = ((mixed ^ (mixed >> shift)) * factor) & _WORD
    return (mixed ^ (mixed >> 16)).double() / 2**32


def _require_at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}.")


def add_head_axis(mask: Bool[Tensor, "..."] | None) -> Bool[Tensor, "batch heads q k"] | None:
    """Add a head axis of size 1 to a mask with three axes, so that it broadcasts over heads; return other masks
    unchanged.
    """
    if mask is None or mask.dim() == 4:
        return mask
    if mask.dim() != 3:
        raise ValueError(
            f"A mask has axes (batch, q_len, k_len) or (batch, heads, q_len, k_len), not {tuple(mask.shape)}."
        )
    return mask.unsqueeze(1)
