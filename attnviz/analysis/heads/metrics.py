"""Numbers that describe a head: how sharp it is, how far it looks, and which tokens it always looks at.

Each metric takes attn `(…, q_len, k_len)` and gives `(…)`, the mean over rows. Rows that hold no weight (no visible
key, or every key hidden) are left out of that mean; where no row is left the metric is NaN. `entropy`,
`mean_distance` and `diagonality` look at how a row's weight is spread, so a row that sums to less than 1 (special
tokens hidden) counts as if it summed to 1; the masses are weights as they stand.
"""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

Attn = Float[Tensor, "*any q_len k_len"]
Distance = Float[Tensor, "q_len k_len"]
PerMap = Float[Tensor, "*any"]


def entropy(attn: Attn) -> PerMap:
    """Shannon entropy of a row, in bits: 0 for one key, at most log2(k_len), reached where all keys weigh the same.

    Under a causal mask row i sees i + 1 keys and cannot exceed log2(i + 1).
    """
    return _mean_of_rows(torch.special.entr(_spread(attn)).sum(dim=-1) / math.log(2), attn)


def distance_to_diagonal(
    queries: Float[Tensor, " q_len"], keys: Float[Tensor, " k_len"], lengths: tuple[int, int]
) -> Distance:
    """How far each key is from the place on the key axis that a query's own place corresponds to, in key tokens.

    A query at i of q_len tokens corresponds to (i + 1/2) * k_len / q_len - 1/2. Where both axes are equally long that
    is i itself and the distance |i - j|; else both sentences are laid over each other from end to end. `lengths` is
    (q_len, k_len) of the whole sentences; `queries` and `keys` are positions in them, fractional for a word.
    """
    q_len, k_len = lengths
    place = (queries + 0.5) * (k_len / max(q_len, 1)) - 0.5
    return (keys - place[:, None]).abs()


def mean_distance(attn: Attn, distance: Distance | None = None) -> PerMap:
    """How far from the diagonal a row looks on average, in key tokens (see `distance_to_diagonal`).

    In self-attention this is the mean of |i - j|. 0 up to k_len - 1.
    """
    distance = _plain_distance(attn) if distance is None else distance
    return _mean_of_rows((_spread(attn) * distance).sum(dim=-1), attn)


def diagonality(
    attn: Attn, mask: Bool[Tensor, "*#any q_len k_len"] | None = None, *, distance: Distance | None = None
) -> PerMap:
    """How near the diagonal the weight is: 1 where all of it is on it, 0 where all of it is as far off as can be.

    For each row, 1 - (mean distance) / (distance of the farthest key that the row may see). Rows that spread evenly
    get about 0.5, whatever the length. The idea is that of Zhang et al., "On the Usefulness of Self-Attention for
    Automatic Speech Recognition with Transformers" (2021); here also for q_len != k_len and under masks.
    """
    distance = _plain_distance(attn) if distance is None else distance
    seen = distance if mask is None else distance.masked_fill(~mask, 0.0)
    # A row whose only key is its own has no farther one; its mean distance is 0 as well, and it counts as 1.
    farthest = torch.nn.functional.pad(seen, (0, 1)).amax(dim=-1).clamp(min=torch.finfo(attn.dtype).tiny)
    return _mean_of_rows(1 - (_spread(attn) * distance).sum(dim=-1) / farthest, attn)


def previous_token(attn: Attn, keys: Int[Tensor, " q_len"] | None = None) -> PerMap:
    """Weight on the token before the query's own, 0 to 1; the first row has none and is left out.

    For self-attention. `keys` gives the position of that key for each row, -1 for none, where axes were merged or cut.
    """
    return _mass_beside(attn, keys, -1)


def next_token(attn: Attn, keys: Int[Tensor, " q_len"] | None = None) -> PerMap:
    """Weight on the token after the query's own, 0 to 1; the last row has none and is left out. As `previous_token`."""
    return _mass_beside(attn, keys, 1)


def first_token_mass(attn: Attn) -> PerMap:
    """Weight on the first key, 0 to 1: a common sink."""
    return _mean_of_rows(attn[..., 0], attn)


def eos_mass(attn: Attn, keys: Int[Tensor, " n_eos"]) -> PerMap:
    """Weight on the end tokens, at the positions `keys`, 0 to 1; NaN where there are none."""
    if not len(keys):
        return attn.new_full(attn.shape[:-2], math.nan)
    return _mean_of_rows(attn[..., keys].sum(dim=-1), attn)


def _spread(attn: Tensor) -> Tensor:
    total = attn.sum(dim=-1, keepdim=True)
    return torch.where(total > 0, attn / total, attn)


def _mean_of_rows(values: Tensor, attn: Tensor, counted: Tensor | None = None) -> Tensor:
    counts = attn.sum(dim=-1) > 0
    counts = counts if counted is None else counts & counted
    return torch.where(counts, values, 0.0).sum(dim=-1) / counts.sum(dim=-1)


def _plain_distance(attn: Tensor) -> Tensor:
    q_len, k_len = attn.shape[-2:]
    return distance_to_diagonal(torch.arange(q_len).float(), torch.arange(k_len).float(), (q_len, k_len))


def _mass_beside(attn: Tensor, keys: Tensor | None, offset: int) -> Tensor:
    q_len, k_len = attn.shape[-2:]
    if not k_len:  # every key hidden
        return attn.new_full(attn.shape[:-2], math.nan)
    keys = torch.arange(q_len) + offset if keys is None else keys
    there = (keys >= 0) & (keys < k_len)
    at = keys.clamp(0, k_len - 1).expand(*attn.shape[:-2], q_len)
    return _mean_of_rows(attn.gather(-1, at[..., None]).squeeze(-1), attn, there)
