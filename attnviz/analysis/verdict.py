"""Do steps and one pass over the same target compute the same numbers? The largest difference, place by place."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.tolerance import Tolerance
from attnviz.models.stepped import Stepped
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind, Stack

_STACKS: dict[Stack, tuple[Kind, ...]] = {"encoder": ("encoder_self",), "decoder": ("decoder_self", "cross")}


@dataclass(frozen=True)
class Line:
    """One place of the model: max |Δ| at each position, and how large it may be.

    `part` is a kind of attention, "output" of a layer (layer -1: the embedding) or "logits"; `head` is None for the
    last two. `delta` is `(positions,)`, of source positions in the encoder and target positions in the decoder.
    """

    stack: Stack
    part: str
    layer: int
    head: int | None
    delta: Float[Tensor, " positions"]
    allowed: float

    @property
    def name(self) -> str:
        """Such as "L2 H5 decoder self", "L0 output", "embedding", "logits"."""
        if self.part == "logits":
            return "logits"
        if self.part == "output":
            return "embedding" if self.layer < 0 else f"L{self.layer} output"
        return f"L{self.layer} H{self.head} {self.part.replace('_', ' ')}"

    @property
    def breaks(self) -> Tensor:
        """True at positions where the difference is larger than allowed."""
        return self.delta > self.allowed


@dataclass(frozen=True)
class Place:
    """A line, a position on it, and the difference there."""

    line: Line
    position: int
    delta: float


@dataclass(frozen=True)
class Verdict:
    """Every place's differences, in the order of computation, encoder first; `dtype` is the pass's."""

    lines: tuple[Line, ...]
    dtype: str
    tolerance: Tolerance

    @property
    def largest(self) -> Place:
        """Where the two part most."""
        line = max(self.lines, key=lambda line: float(line.delta.max()))
        return _place(line, int(line.delta.argmax()))

    @property
    def holds(self) -> bool:
        """Whether every difference is within its tolerance."""
        return self.first_break is None

    @property
    def first_break(self) -> Place | None:
        """The first place over its tolerance, in the order of computation: the encoder, then position by position."""
        return self._first_of("encoder") or self._first_of("decoder")

    def largest_of(self, *parts: str) -> float:
        """The largest difference on lines of these parts; 0 where there is none."""
        return max((float(line.delta.max()) for line in self.lines if line.part in parts), default=0.0)

    def largest_in(self, stack: Stack) -> float:
        """The largest difference in the encoder or the decoder; 0 where there is none."""
        return max((float(line.delta.max()) for line in self.lines if line.stack == stack), default=0.0)

    def table(self) -> pd.DataFrame:
        """A row a place and position: line, stack, part, layer, head, delta and so on."""
        return pd.DataFrame.from_records(list(self._records()))

    def _first_of(self, stack: Stack) -> Place | None:
        lines = [line for line in self.lines if line.stack == stack and bool(line.breaks.any())]
        if not lines:
            return None
        # min keeps the first of equals: at one position the earlier line was computed earlier.
        line = min(lines, key=lambda line: int(line.breaks.nonzero()[0]))
        return _place(line, int(line.breaks.nonzero()[0]))

    def _records(self) -> Iterator[dict[str, object]]:
        for index, line in enumerate(self.lines):
            for position, delta in enumerate(line.delta.tolist()):
                yield {
                    "line": index,
                    "place": line.name,
                    "stack": line.stack,
                    "part": line.part,
                    "layer": line.layer,
                    "head": line.head,
                    "position": position,
                    "delta": delta,
                    "allowed": line.allowed,
                    "breaks": delta > line.allowed,
                }


def verdict(steps: Stepped, whole: Trace, item: int = 0) -> Verdict:
    """Compare what `steps` computed with the pass `whole` over the same target (padding after it is left out).

    A key that a step did not have yet counts as weight 0, so that a pass that looks ahead shows. The tolerance is that
    of the type that the pass ran in: steps in a coarser one break it. Raises ValueError
    when the pass has fewer rows than there were steps.
    """
    rows = len(steps.logits)
    if whole.logits is None or whole.logits.shape[1] < rows:
        raise ValueError(f"The pass must hold the {rows} rows that were stepped through.")
    tolerance = Tolerance.of(whole.info.dtype)
    lines: list[Line] = []
    for stack, kinds in _STACKS.items():
        if stack in steps.hidden:
            present: tuple[Kind, ...] = tuple(kind for kind in kinds if kind in steps.attn)
            lines += _stack_lines(steps, whole, item, _Part(stack, present, tolerance))
    logits = whole.logits[item, :rows].float().cpu()
    delta, allowed = _difference(steps.logits, logits).amax(dim=-1), tolerance.of_numbers(logits)
    lines.append(Line("decoder", "logits", len(steps.hidden["decoder"]) - 1, None, delta, allowed))
    return Verdict(tuple(lines), whole.info.dtype, tolerance)


@dataclass(frozen=True)
class _Part:
    stack: Stack
    kinds: tuple[Kind, ...]
    tolerance: Tolerance


def _stack_lines(steps: Stepped, whole: Trace, item: int, part: _Part) -> Iterator[Line]:
    hidden, maps = steps.hidden[part.stack], {kind: _map_deltas(steps, whole, kind, item) for kind in part.kinds}
    for layer in range(-1, len(hidden) - 1):
        for kind in part.kinds if layer >= 0 else ():
            scores = whole.scores(kind, layer=layer, item=item)
            for head, delta in enumerate(maps[kind][layer]):
                yield Line(part.stack, kind, layer, head, delta, part.tolerance.of_weights(scores[head]))
        expected = whole.layer_output(part.stack, layer, item)[: hidden.shape[1]]
        delta = _difference(hidden[layer + 1], expected).amax(dim=-1)
        yield Line(part.stack, "output", layer, None, delta, part.tolerance.of_numbers(expected))


def _map_deltas(steps: Stepped, whole: Trace, kind: Kind, item: int) -> Float[Tensor, "layers heads positions"]:
    made = steps.attn[kind]
    expected = whole.attn(kind, item=item)[:, :, : made.shape[2]]
    made = torch.nn.functional.pad(made, (0, max(0, expected.shape[3] - made.shape[3])))
    expected = torch.nn.functional.pad(expected, (0, max(0, made.shape[3] - expected.shape[3])))
    return _difference(made, expected).amax(dim=-1)


def _difference(made: Tensor, expected: Tensor) -> Tensor:
    """|Δ|; not-a-number counts as infinitely far."""
    return (made - expected).abs().nan_to_num(nan=float("inf"), posinf=float("inf"))


def _place(line: Line, position: int) -> Place:
    return Place(line, position, float(line.delta[position]))
