"""Record the operations between one attention and the next: linear maps, norms and rotation angles.

A site's queries and keys may be made from them. This does not depend on how a model names or stores its parts.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

from attnviz.implementations.scoring import HeadNorm, Rotation

_TIMES = (torch.Tensor.mul, torch.Tensor.__mul__, torch.Tensor.__rmul__, torch.mul)
_PLUS = (torch.Tensor.add, torch.Tensor.__add__, torch.Tensor.__radd__, torch.add)


@dataclass(frozen=True, eq=False)
class LinearMap:
    """One linear map that was computed: `made = input_ @ weight.T + bias`; weight `(out, in)`."""

    input_: Tensor
    weight: Tensor
    bias: Tensor | None
    made: Tensor

    def pair(self, rows: Tensor | slice) -> tuple[Tensor, Tensor]:
        """Return the given rows of weight and bias, with zeros if there is no bias."""
        bias = self.weight.new_zeros(len(self.weight)) if self.bias is None else self.bias
        return self.weight[rows], bias[rows]


@dataclass
class OpTrace:
    """The linear maps and norms since the last attention, and all `angles` of the pass, each with its factor."""

    maps: list[LinearMap] = field(default_factory=list)
    norms: list[HeadNorm] = field(default_factory=list)
    angles: list[tuple[Tensor, float]] = field(default_factory=list)
    is_paused: bool = False  # True while candidate operations are tried, which must not be recorded

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Record no operations inside this context."""
        self.is_paused = True
        try:
            yield
        finally:
            self.is_paused = False

    def take(self) -> "OpTrace":
        """Return what was recorded so far and start again, except for the angles, which all layers of a pass share."""
        before = OpTrace(self.maps, self.norms, self.angles)
        self.maps, self.norms = [], []
        return before

    def norms_of(self, size: int) -> list[HeadNorm]:
        """Return the recorded norms (RMSNorm) whose gain has this size."""
        return [norm for norm in self.norms if len(norm.gain) == size]

    def rotations(self, size: int) -> Iterator[Rotation]:
        """Yield the possible rotations of at most `size` elements for the recorded angles: with pairs that are
        half the size apart, and with adjacent pairs.
        """
        for angles, factor in self.angles:
            for interleaved, frequencies in _frequencies(angles):
                rotation = Rotation(frequencies, interleaved, factor)
                if 0 < rotation.size <= size:
                    yield rotation


class OpRecorder(TorchFunctionMode):
    """Record the torch calls of this thread. `on_map` is called with each linear map."""

    def __init__(self, ops: OpTrace, on_map: Callable[[LinearMap], None]) -> None:
        super().__init__()
        self._ops, self._on_map = ops, on_map
        self._cosines: Tensor | None = None
        self._eps = 0.0

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if self._ops.is_paused:
            return result
        if func is F.linear and not kwargs:
            self._on_map(LinearMap(args[0], args[1], args[2] if len(args) > 2 else None, result))
        elif func is torch.addmm and len(args) == 3 and not kwargs:  # GPT-2's Conv1D: bias first, weight transposed
            self._on_map(LinearMap(args[1], args[2].T, args[0], result))
        elif func in (torch.Tensor.cos, torch.cos):
            self._ops.angles.append((args[0], 1.0))
            self._cosines = result
        elif func in _PLUS and len(args) == 2 and isinstance(args[1], float) and _is_column(args[0]):
            self._eps = args[1]  # epsilon of the norm that follows
        elif func in _TIMES and len(args) == 2:
            self._note_product(*args)
        return result

    def _note_product(self, one: Any, other: Any) -> None:
        """If a product scales the rotation's cosines or applies the gain of a norm, record it as such."""
        if one is self._cosines and isinstance(other, (int, float)):
            self._ops.angles[-1] = (self._ops.angles[-1][0], float(other))
            return
        gains = [x for x in (one, other) if isinstance(x, Tensor) and x.dim() == 1]
        if len(gains) == 1 and isinstance(one, Tensor) and isinstance(other, Tensor):
            self._ops.norms.append(HeadNorm(gains[0].float().cpu(), self._eps))


def _is_column(x: Any) -> bool:
    """Return whether the last dimension of a tensor has size 1, as in a mean that keeps its dimension."""
    return isinstance(x, Tensor) and x.dim() > 1 and x.shape[-1] == 1


def _frequencies(angles: Tensor) -> Iterator[tuple[bool, Tensor]]:
    """Yield possible frequencies of rotation angles `(batch or 1, length, n)`, each with whether adjacent
    elements are paired.

    The angles must grow linearly from 0 with the position. They may be given once per pair, or for both elements of a
    pair.
    """
    if angles.dim() not in (2, 3) or angles.shape[-2] < 2:
        return
    one = angles.reshape(-1, *angles.shape[-2:])[0].float().cpu()
    steps = torch.arange(len(one)).unsqueeze(1)
    if not torch.allclose(one, steps * one[1], rtol=1e-5, atol=1e-5):
        return
    turning, written = one[1], [one[1]]
    if len(turning) % 2 == 0:
        halves, neighbours = turning.chunk(2), (turning[::2], turning[1::2])
        written = [both[0] for both in (halves, neighbours) if torch.equal(*both)] + written
    # GLM arranges its angles like Llama but rotates adjacent pairs, so both are tried.
    yield from ((interleaved, frequencies) for frequencies in written for interleaved in (False, True))
