"""Match the queries, keys and values of an attention call with outputs of linear maps, directly or after a
norm, rotation or factor.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import torch
from torch import Tensor

from attnviz.analysis.op_trace import LinearMap, OpTrace
from attnviz.implementations.scoring import HeadNorm, Rotation

ROUNDING = 256  # allowed difference in float32 epsilons, for products summed in another order
IN_TYPE = 8  # the same in epsilons of the run's dtype, for product, norm and rotation


@dataclass(frozen=True, eq=False)
class Change:
    """The operations between a linear map's output and the attention's input."""

    norm: HeadNorm | None = None
    rotation: Rotation | None = None
    factor: float = 1.0

    def __call__(self, blocks: Tensor) -> Tensor:
        """Apply the operations to `(batch, length, parts, size)`, and return the same shape."""
        made = blocks if self.norm is None else self.norm(blocks)
        made = made if self.rotation is None else self.rotation(made, length_at=1)
        return made if self.factor == 1 else made * self.factor


def changes_to(ops: OpTrace, size: int, role: str, rotations: tuple[Rotation | None, ...] | None) -> Iterator[Change]:
    """Yield every combination of operations that was recorded, the empty one first.

    Keys are rotated like the queries, values never.
    """
    if role == "value":
        return iter([Change()])
    turns = (None, *ops.rotations(size)) if rotations is None else rotations
    factors = (1.0, size**-0.5) if role == "query" else (1.0,)  # some models scale queries before rotating them
    norms = (None, *ops.norms_of(size))
    return (Change(norm, rotation, factor) for rotation, norm, factor in product(turns, norms, factors))


@dataclass(frozen=True, eq=False)
class Projected:
    """The rows of a linear map that make a site's queries, keys or values, and the operations that follow."""

    pair: tuple[Tensor, Tensor]
    has_bias: bool
    change: Change


def match_projection(one: LinearMap, heads: Tensor, change: Change) -> Projected | None:
    """Find the rows of a linear map that produce each head's part; None if a head has none.

    `heads` is `(batch, heads, length, size)`. For heads that share keys, the same rows are repeated.
    """
    blocks = _blocks(one, heads)
    if blocks is None:
        return None
    made, size, places = change(blocks.float().cpu()), heads.shape[3], []
    for head in heads.float().cpu().unbind(dim=1):
        off = difference(made, head.unsqueeze(2)).amax(dim=(0, 1, 3))
        if not bool(off.min() <= allowed_difference(heads, heads.dtype)):
            return None
        places.append(int((off == off.min()).nonzero()[0]))
    rows = torch.cat([torch.arange(place * size, (place + 1) * size) for place in places])
    return Projected(one.pair(rows), one.bias is not None, change)


def mismatch_reason(role: str, maps: list[LinearMap], heads: Tensor, *, is_turned: bool) -> str:
    """Explain why no linear map produces the queries, keys or values."""
    for blocks in (blocks for one in maps if (blocks := _blocks(one, heads)) is not None):
        lengths, own = blocks.norm(dim=-1), heads.norm(dim=-1).transpose(1, 2)
        near = (difference(lengths.unsqueeze(2), own.unsqueeze(3)) <= 1e-4 * own.max()).flatten(0, 1).all(dim=0)
        if is_turned and bool(near.any(dim=1).all()):
            return f"its {role} are turned by their positions, but not by the angles that the model computed"
    return f"its {role} are not a linear map of the site's input: something changes them after W_q, W_k and W_v"


def _blocks(one: LinearMap, heads: Tensor) -> Tensor | None:
    """Split a map's output into parts of the head size: `(batch, length, parts, size)`."""
    batch, _, length, size = heads.shape
    if one.made.shape[-1] % size or one.made.numel() != batch * length * one.made.shape[-1]:
        return None
    return one.made.reshape(batch, length, -1, size)


def is_same(one: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same values, regardless of leading dimensions."""
    return (
        one.numel() == other.numel()
        and one.shape[-1] == other.shape[-1]
        and torch.equal(one.reshape(other.shape), other)
    )


def difference(one: Tensor, other: Tensor) -> Tensor:
    """Return |one - other| in float32."""
    return (one.float() - other.float()).abs()


def allowed_difference(ran: Tensor, dtype: torch.dtype) -> float:
    """Return the allowed difference between a value recomputed in float32 and the value of a pass in `dtype`."""
    steps = ROUNDING * torch.finfo(torch.float32).eps + (IN_TYPE * torch.finfo(dtype).eps)
    return steps * max(1.0, float(ran.abs().max()))
