"""Compare decoding steps with one pass over the same target: the largest difference at each place in the model."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.decoding.numbers.tolerance import Pass, Tolerance, tolerance
from attnviz.models.decoding_record import DecodingRecord
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind, Site, Stack

_STACKS: dict[Stack, tuple[Kind, ...]] = {"encoder": ("encoder_self",), "decoder": ("decoder_self", "cross")}


@dataclass(frozen=True)
class Line:
    """One place in the model: max |Δ| at each position, and the difference that rounding allows there.

    `quantity` is an attention kind, "output" (of a layer; layer -1 is the embedding) or "logits"; `head` is None for
    the last two. `delta` is `(positions,)`: source positions in the encoder, target positions in the decoder.
    """

    stack: Stack
    quantity: str
    layer: int
    head: int | None
    delta: Float[Tensor, " positions"]
    allowed: Float[Tensor, " positions"]

    @property
    def name(self) -> str:
        """Name of a compared part of the model: "L2 H5 decoder self", "L0 output", "embedding" or "logits"."""
        if self.quantity == "logits":
            return "logits"
        if self.quantity == "output":
            return "embedding" if self.layer < 0 else f"L{self.layer} output"
        return f"L{self.layer} H{self.head} {self.quantity.replace('_', ' ')}"

    @property
    def share(self) -> Float[Tensor, " positions"]:
        """The difference divided by the allowed difference: above 1 it exceeds the tolerance; 0 if nothing differs."""
        return (self.delta / self.allowed).masked_fill(self.delta == 0, 0.0)

    @property
    def breaks(self) -> Tensor:
        """True at positions where the difference is larger than allowed."""
        return self.delta > self.allowed


@dataclass(frozen=True)
class Place:
    """A position on a line, with the difference there and the allowed difference."""

    line: Line
    position: int
    delta: float
    allowed: float

    @property
    def share(self) -> float:
        """The difference divided by the allowed difference."""
        return float(self.line.share[self.position])


@dataclass(frozen=True)
class Verdict:
    """The differences at every place, in the order of computation, encoder first. `dtype` is that of the pass."""

    lines: tuple[Line, ...]
    dtype: str

    @property
    def largest_place(self) -> Place:
        """The place with the largest difference."""
        line = max(self.lines, key=lambda line: float(line.delta.max()))
        return _place(line, int(line.delta.argmax()))

    @property
    def closest_place(self) -> Place:
        """The place with the largest difference relative to its tolerance."""
        line = max(self.lines, key=lambda line: float(line.share.max()))
        return _place(line, int(line.share.argmax()))

    @property
    def holds(self) -> bool:
        """Whether every difference between steps and pass is within its rounding tolerance."""
        return self.first_break is None

    @property
    def first_break(self) -> Place | None:
        """The first place over its tolerance, in the order of computation: the encoder, then position by position."""
        return self._first_of("encoder") or self._first_of("decoder")

    def largest_in(self, stack: Stack) -> float:
        """Return the largest difference in the encoder or the decoder; 0 if that stack was not compared."""
        return max((float(line.delta.max()) for line in self.lines if line.stack == stack), default=0.0)

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each place in the model (a layer's output or a head) and token position."""
        return pd.DataFrame.from_records(list(self._records()))

    def _first_of(self, stack: Stack) -> Place | None:
        lines = [line for line in self.lines if line.stack == stack and bool(line.breaks.any())]
        if not lines:
            return None
        # min returns the first of equal lines, which was computed first.
        line = min(lines, key=lambda line: int(line.breaks.nonzero()[0]))
        return _place(line, int(line.breaks.nonzero()[0]))

    def _records(self) -> Iterator[dict[str, object]]:
        for index, line in enumerate(self.lines):
            numbers = zip(line.delta.tolist(), line.allowed.tolist(), line.share.tolist(), strict=True)
            for position, (delta, allowed, share) in enumerate(numbers):
                yield {
                    "line": index,
                    "place": line.name,
                    "stack": line.stack,
                    "quantity": line.quantity,
                    "layer": line.layer,
                    "head": line.head,
                    "position": position,
                    "delta": delta,
                    "allowed": allowed,
                    "share": share,
                    "breaks": delta > allowed,
                }


def verdict(steps: DecodingRecord, whole: Trace, allowed: Tolerance, item: int = 0) -> Verdict:
    """Compare the values of `steps` with the pass `whole` over the same target, ignoring padding after it.

    A key that a step did not have yet counts as weight 0, so that a pass that looks ahead differs. `allowed` is the
    tolerance of the pass, so steps in a coarser dtype exceed it. Raise ValueError if the pass has fewer rows than there
    are steps.
    """
    rows = len(steps.logits)
    if whole.logits is None or whole.logits.shape[1] < rows:
        raise ValueError(f"The pass must contain the {rows} rows that were computed step by step.")
    lines: list[Line] = []
    for stack, kinds in _STACKS.items():
        if stack in steps.hidden:
            present: tuple[Kind, ...] = tuple(kind for kind in kinds if kind in steps.attn)
            lines += _stack_lines(steps, whole, item, _Part(stack, present, allowed))
    delta = _difference(steps.logits, whole.logits[item, :rows].float().cpu()).amax(dim=-1)
    lines.append(Line("decoder", "logits", len(steps.hidden["decoder"]) - 1, None, delta, allowed.logits[:rows]))
    return Verdict(tuple(lines), whole.info.dtype)


def judge(steps: DecodingRecord, run: Pass, *, dtype: str = "", item: int = 0) -> Verdict:
    """Compare steps with the pass that `run(None)` computes, within the rounding tolerance of that pass.

    `run(probe)` must compute the same pass with the probe attached. `dtype` is explained at
    `attnviz.decoding.numbers.tolerance.tolerance`.
    """
    whole = run(None)
    return verdict(steps, whole, tolerance(whole, run, dtype=dtype, item=item), item)


@dataclass(frozen=True)
class _Part:
    stack: Stack
    kinds: tuple[Kind, ...]
    allowed: Tolerance


def _stack_lines(steps: DecodingRecord, whole: Trace, item: int, part: _Part) -> Iterator[Line]:
    hidden, maps = steps.hidden[part.stack], {kind: _map_deltas(steps, whole, kind, item) for kind in part.kinds}
    for layer in range(-1, len(hidden) - 1):
        for kind in part.kinds:
            if (at := _layer_numbers(whole, kind).get(layer)) is None:
                continue
            attn = whole.attn(kind, layer=at, item=item)
            allowed = part.allowed.weight_tolerance(Site(kind, at), attn)
            for head, delta in enumerate(maps[kind][at]):
                yield Line(part.stack, kind, layer, head, delta, allowed[head, : len(delta)])
        length = hidden.shape[1]
        delta = _difference(hidden[layer + 1], whole.layer_output(part.stack, layer, item)[:length]).amax(dim=-1)
        yield Line(part.stack, "output", layer, None, delta, part.allowed.hidden[part.stack, layer][:length])


def _layer_numbers(whole: Trace, kind: Kind) -> dict[int, int]:
    """Map each layer's number in the stack to its index among the layers of a kind, because some layers may
    have no attention.
    """
    return {whole.layer_number(kind, at): at for at in range(whole.shape(kind)[0])}


def _map_deltas(steps: DecodingRecord, whole: Trace, kind: Kind, item: int) -> Float[Tensor, "layers heads positions"]:
    made = steps.attn[kind]
    expected = whole.attn(kind, item=item)[:, :, : made.shape[2]]
    made = torch.nn.functional.pad(made, (0, max(0, expected.shape[3] - made.shape[3])))
    expected = torch.nn.functional.pad(expected, (0, max(0, made.shape[3] - expected.shape[3])))
    return _difference(made, expected).amax(dim=-1)


def _difference(made: Tensor, expected: Tensor) -> Tensor:
    """Return |Δ|, with infinity for NaN."""
    return (made - expected).abs().nan_to_num(nan=float("inf"), posinf=float("inf"))


def _place(line: Line, position: int) -> Place:
    return Place(line, position, float(line.delta[position]), float(line.allowed[position]))
