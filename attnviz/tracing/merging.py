"""Maps of tokens made into maps of words: weights to a word's pieces add up, weights from them are averaged."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.tracing.labels import Groups


def merged(attn: Tensor, mask: Tensor, groups: tuple[Groups, Groups]) -> tuple[Tensor, Tensor]:
    """Maps and masks, `(…, q_len, k_len)`, with a row and a column a group; positions in no group are left out."""
    row_groups, col_groups = groups
    if len(row_groups) == attn.shape[-2] and len(col_groups) == attn.shape[-1]:
        return attn, mask
    rows, cols = _membership(row_groups, attn.shape[-2]), _membership(col_groups, attn.shape[-1])
    # Pieces that see no key hold zeros and do not count in the mean.
    sees = mask.any(dim=-1, keepdim=True).float()
    pieces = (rows @ sees).clamp(min=1)
    return rows @ (attn @ cols.T) / pieces, (rows @ mask.float() @ cols.T) > 0


def keyless(mask: Tensor, row_groups: Groups) -> Tensor:
    """`(layers or 1, heads or 1, rows)`: True where no piece of a row sees any key."""
    rows = _membership(row_groups, mask.shape[-2])
    return (mask.any(dim=-1).float() @ rows.T) == 0


def mean_of_visible(
    attn: Float[Tensor, "*any rows cols"], mask: Bool[Tensor, "*#any rows cols"], dims: tuple[int, ...]
) -> Float[Tensor, "..."]:
    """The mean over `dims`, in which rows without any visible key do not count (they hold only zeros)."""
    sees = mask.any(dim=-1, keepdim=True).expand(*attn.shape[:-1], 1)
    return attn.sum(dim=dims) / sees.sum(dim=dims).clamp(min=1)


def _membership(groups: Groups, length: int) -> Tensor:
    member = torch.zeros(len(groups), length)
    for at, group in enumerate(groups):
        member[at, list(group)] = 1.0
    return member
