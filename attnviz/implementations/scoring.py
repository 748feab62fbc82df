"""What stands between a site's projections and its scores besides query · key / √d_k: norms, positions, a scale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class HeadNorm:
    """The root mean square norm of each head's numbers (Qwen 3, Gemma 3): `gain` `(d_k,)`, the same for every head."""

    gain: Tensor
    eps: float

    def __call__(self, x: Tensor) -> Tensor:
        """`x` `(…, d_k)` with its numbers' root mean square brought to 1, times the gain."""
        return x * (x.square().mean(dim=-1, keepdim=True) + self.eps).rsqrt() * self.gain


@dataclass(frozen=True, eq=False)
class Rotation:
    """Rotary positions (Su et al. 2021, RoFormer, equation 34): pairs of a head's numbers are turned by an angle.

    The angle is position × frequency: `frequencies` `(pairs,)`, in radians. A pair lies half of the turned numbers
    apart, or is two neighbours (`interleaved`); numbers beyond the pairs stay as they are. `factor` lengthens what is
    turned (YaRN).
    """

    frequencies: Tensor
    interleaved: bool = False
    factor: float = 1.0

    @property
    def size(self) -> int:
        """How many of a head's numbers are turned."""
        return 2 * len(self.frequencies)

    def angles(self, length: int) -> Tensor:
        """The angle of each turned number at positions from 0, `(length, size)`."""
        angles = torch.arange(length).unsqueeze(1) * self.frequencies
        return angles.repeat_interleave(2, dim=-1) if self.interleaved else torch.cat((angles, angles), dim=-1)

    def __call__(self, x: Tensor, length: int | None = None, *, length_at: int = -2) -> Tensor:
        """`x` `(…, length, …, d_k)` turned, its positions counted from 0 along axis `length_at`.

        With another `length` than the axis has, torch raises: angles were made for so many positions.
        """
        length = x.shape[length_at] if length is None else length
        across = x.dim() - 1 - length_at % x.dim()  # axes behind the length
        angles = self.angles(length).view(length, *(1,) * (across - 1), self.size)
        turned, rest = x[..., : self.size], x[..., self.size :]
        turned = (turned * angles.cos() + self.partner(turned) * angles.sin()) * self.factor
        return torch.cat((turned, rest), dim=-1) if rest.shape[-1] else turned

    def partner(self, x: Tensor) -> Tensor:
        """The other number of each pair, as a quarter turn puts it in this one's place: (a, b) becomes (-b, a)."""
        if self.interleaved:
            first, second = x[..., ::2], x[..., 1::2]
            return torch.stack((-second, first), dim=-1).flatten(-2)
        first, second = x.chunk(2, dim=-1)
        return torch.cat((-second, first), dim=-1)


@dataclass(frozen=True, eq=False)
class DistanceBias:
    """A number for each head and distance, added to the scores (T5, Raffel et al. 2020, section 2.1).

    `table` `(heads, 2 * reach + 1)`, for distances key - query from -reach to reach; what is farther counts as reach.
    """

    table: Tensor

    @classmethod
    def of(cls, bias: Tensor) -> "DistanceBias | None":
        """What a bias `(batch or 1, heads, q_len, k_len)` is a table of; None where it is not the same at each
        distance, in each sentence.
        """
        first = bias[0].float().cpu()
        reach = max(first.shape[1:]) - 1
        before, after = first[:, :, 0], first[:, 0]  # distances 0, -1, …, and 0, 1, …
        made = cls(torch.cat((_longer(before, reach + 1).flip(1), _longer(after, reach + 1)[:, 1:]), dim=1))
        same = torch.equal(made.cells(*first.shape[1:]), first) and bool((bias == bias[:1]).all())
        return made if same else None

    def cells(self, q_len: int, k_len: int) -> Tensor:
        """The bias of every cell, `(heads, q_len, k_len)`."""
        reach = self.table.shape[1] // 2
        places = torch.arange(k_len) - torch.arange(q_len).unsqueeze(1)
        return self.table[:, places.clamp(-reach, reach) + reach]


@dataclass(frozen=True, eq=False)
class Scoring:
    """How a site makes scores of its queries and keys. Norms come first, then the rotation; `scale` is None for
    1 / √d_k.
    """

    q_norm: HeadNorm | None = None
    k_norm: HeadNorm | None = None
    rotation: Rotation | None = None
    bias: DistanceBias | None = None
    scale: float | None = None

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing but query · key / √d_k."""
        return not (self.turns or self.bias) and self.scale is None

    @property
    def turns(self) -> bool:
        """Whether queries and keys are anything but what W_q and W_k make."""
        return any((self.q_norm, self.k_norm, self.rotation))

    def turned(
        self, query: Tensor, key: Tensor, lengths: Sequence[int | None] = (None, None), *, length_at: int = -2
    ) -> tuple[Tensor, Tensor]:
        """Query and key, `(batch, heads, length, d_k)`, as their product takes them: normalised, rotated, and the query
        scaled so that its product with the key over √d_k has this site's scale.
        """
        query = query if self.q_norm is None else self.q_norm(query)
        key = key if self.k_norm is None else self.k_norm(key)
        if self.rotation is not None:
            query, key = (
                self.rotation(x, length, length_at=length_at) for x, length in zip((query, key), lengths, strict=True)
            )
        return (query if self.scale is None else query * (self.scale * math.sqrt(query.shape[-1]))), key

    def added(self, scores: Tensor) -> Tensor:
        """Scores `(batch, heads, q_len, k_len)` and what is added to them by distance."""
        return scores if self.bias is None else scores + self.bias.cells(*scores.shape[-2:])

    def of_head(self, head: int) -> "Scoring":
        """The same for one head alone."""
        return self if self.bias is None else replace(self, bias=DistanceBias(self.bias.table[head : head + 1]))


PLAIN = Scoring()


def _longer(values: Tensor, size: int) -> Tensor:
    """Columns up to `size`, the last one again and again."""
    missing = size - values.shape[1]
    return values if missing <= 0 else torch.cat((values, values[:, -1:].expand(-1, missing)), dim=1)
