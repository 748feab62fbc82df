"""Steps between a site's projections and its scores, besides query · key / √d_k: norms, positions, a scale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class HeadNorm:
    """RMSNorm of each head's vector (Qwen 3, Gemma 3), with one `gain` `(d_k,)` for all heads."""

    gain: Tensor
    eps: float

    def __call__(self, x: Tensor) -> Tensor:
        """Divide `x` `(…, d_k)` by its root mean square, and multiply by the gain."""
        return x * (x.square().mean(dim=-1, keepdim=True) + self.eps).rsqrt() * self.gain


@dataclass(frozen=True, eq=False)
class Rotation:
    """Rotary positions (Su et al. 2021, RoFormer, equation 34): pairs of elements in a head's vector are
    rotated by an angle.

    The angle is position × frequency, with `frequencies` `(pairs,)` in radians. The elements of a pair are half of the
    rotated part apart, or adjacent (`interleaved`). Elements beyond the rotated part are unchanged. `factor` scales the
    rotated elements (YaRN).
    """

    frequencies: Tensor
    interleaved: bool = False
    factor: float = 1.0

    @property
    def size(self) -> int:
        """Number of elements in a head's vector that are rotated."""
        return 2 * len(self.frequencies)

    def angles(self, length: int) -> Tensor:
        """Compute the angle of each rotated element at positions from 0, `(length, size)`."""
        angles = torch.arange(length).unsqueeze(1) * self.frequencies
        return angles.repeat_interleave(2, dim=-1) if self.interleaved else torch.cat((angles, angles), dim=-1)

    def __call__(self, x: Tensor, length: int | None = None, *, length_at: int = -2) -> Tensor:
        """Rotate `x` `(…, length, …, d_k)`, with positions counted from 0 along dimension `length_at`.

        If `length` differs from the size of that dimension, torch raises an error, because the angles are for `length`
        positions.
        """
        length = x.shape[length_at] if length is None else length
        across = x.dim() - 1 - length_at % x.dim()  # dimensions after the length
        angles = self.angles(length).view(length, *(1,) * (across - 1), self.size)
        turned, rest = x[..., : self.size], x[..., self.size :]
        turned = (turned * angles.cos() + self.partner(turned) * angles.sin()) * self.factor
        return torch.cat((turned, rest), dim=-1) if rest.shape[-1] else turned

    def partner(self, x: Tensor) -> Tensor:
        """Rotate each pair by 90 degrees: (a, b) becomes (-b, a)."""
        if self.interleaved:
            first, second = x[..., ::2], x[..., 1::2]
            return torch.stack((-second, first), dim=-1).flatten(-2)
        first, second = x.chunk(2, dim=-1)
        return torch.cat((-second, first), dim=-1)


@dataclass(frozen=True, eq=False)
class DistanceBias:
    """Relative position bias: a value for each head and distance, added to the scores (T5, Raffel et al. 2020,
    section 2.1).

    `table` is `(heads, 2 * reach + 1)`, for distances key - query from -reach to reach; larger distances count as
    reach.
    """

    table: Tensor

    @classmethod
    def from_cells(cls, bias: Tensor) -> "DistanceBias | None":
        """Make the table from a bias `(batch or 1, heads, q_len, k_len)`; None if the bias does not depend only
        on head and distance.
        """
        first = bias[0].float().cpu()
        reach = max(first.shape[1:]) - 1
        before, after = first[:, :, 0], first[:, 0]  # distances 0, -1, …, and 0, 1, …
        made = cls(torch.cat((_repeat_last(before, reach + 1).flip(1), _repeat_last(after, reach + 1)[:, 1:]), dim=1))
        same = torch.equal(made.cells(*first.shape[1:]), first) and bool((bias == bias[:1]).all())
        return made if same else None

    def cells(self, q_len: int, k_len: int) -> Tensor:
        """Return the bias of every cell, `(heads, q_len, k_len)`."""
        reach = self.table.shape[1] // 2
        places = torch.arange(k_len) - torch.arange(q_len).unsqueeze(1)
        return self.table[:, places.clamp(-reach, reach) + reach]


@dataclass(frozen=True, eq=False)
class Scoring:
    """The steps from queries and keys to scores: norms, then rotation, product, scale and bias; `scale` None
    means 1 / √d_k.
    """

    q_norm: HeadNorm | None = None
    k_norm: HeadNorm | None = None
    rotation: Rotation | None = None
    bias: DistanceBias | None = None
    scale: float | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the scores are just query · key / √d_k."""
        return not (self.transforms or self.bias) and self.scale is None

    @property
    def transforms(self) -> bool:
        """Whether queries and keys are normalised or rotated after W_q and W_k."""
        return any((self.q_norm, self.k_norm, self.rotation))

    def transform(
        self, query: Tensor, key: Tensor, lengths: Sequence[int | None] = (None, None), *, length_at: int = -2
    ) -> tuple[Tensor, Tensor]:
        """Normalise and rotate query and key, `(batch, heads, length, d_k)`.

        The query is also scaled, so that its product with the key over √d_k has this site's scale.
        """
        query = query if self.q_norm is None else self.q_norm(query)
        key = key if self.k_norm is None else self.k_norm(key)
        if self.rotation is not None:
            query, key = (
                self.rotation(x, length, length_at=length_at) for x, length in zip((query, key), lengths, strict=True)
            )
        return (query if self.scale is None else query * (self.scale * math.sqrt(query.shape[-1]))), key

    def add_bias(self, scores: Tensor) -> Tensor:
        """Add the relative position bias, if any, to scores `(batch, heads, q_len, k_len)`."""
        return scores if self.bias is None else scores + self.bias.cells(*scores.shape[-2:])

    def head_scoring(self, head: int) -> "Scoring":
        """Return the norms, rotation, scale and bias that apply to a single head."""
        return self if self.bias is None else replace(self, bias=DistanceBias(self.bias.table[head : head + 1]))


PLAIN = Scoring()


def _repeat_last(values: Tensor, size: int) -> Tensor:
    """Extend to `size` columns by repeating the last column."""
    missing = size - values.shape[1]
    return values if missing <= 0 else torch.cat((values, values[:, -1:].expand(-1, missing)), dim=1)
