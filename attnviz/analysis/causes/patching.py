"""What patching restores: from a clean run into a changed one, one head or one position of the residual at a time.

Each cell is (patched − changed) / (clean − changed) of one metric, the difference of two logits at one step: 0 where
the patch does nothing, 1 where it brings back all (Vig et al. 2020; Zhang and Nanda 2024 on the metric). It may lie
outside 0 to 1. One pair is one pair: a patch that also restores a control pair says nothing.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool
from torch import Tensor

from attnviz.analysis.causes.runs import HeadPlace, head_places, measured, rows_of_edits
from attnviz.models.protocol import Model
from attnviz.text.tokens import Token
from attnviz.tracing.causes.alignment import aligned, by_number
from attnviz.tracing.causes.intervention import Intervention, What
from attnviz.tracing.causes.making import patch
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Stack

LEAST = 0.1  # of |clean − changed|, in logits: below it a share says nothing and is not drawn


@dataclass(frozen=True)
class LogitDifference:
    """The metric: the logit of id `a` less that of id `b`, in row `step` of the target."""

    step: int
    a: int
    b: int

    def __post_init__(self) -> None:
        if self.a == self.b:
            raise ValueError("The metric is the difference of two tokens' logits: choose two different ones.")

    def of(self, trace: Trace) -> float:
        """Its value in a run. Raises ValueError for a step or an id that the run has not."""
        if trace.logits is None:
            raise ValueError("This trace was recorded without logits.")
        rows, vocab_size = trace.logits.shape[1:]
        if not 0 <= self.step < rows:
            raise ValueError(f"There is no step {self.step}: this target has steps 0 to {rows - 1}.")
        if not all(0 <= id_ < vocab_size for id_ in (self.a, self.b)):
            raise ValueError(f"There is no token {max(self.a, self.b)}: the vocabulary has {vocab_size}.")
        return float(self.at(trace.logits[:1, self.step : self.step + 1].float())[0])

    def at(self, logits: Tensor) -> Tensor:
        """Its value in each of several runs, of logits `(copies, 1, vocab_size)`: `(copies,)`."""
        return (logits[:, 0, self.a] - logits[:, 0, self.b]).cpu()


@dataclass(frozen=True, eq=False)
class Restored:
    """The metric in both runs, and in those that were patched."""

    clean: float
    changed: float
    patched: Tensor

    @property
    def is_drawn(self) -> bool:
        """Whether clean and changed differ enough for shares to mean anything."""
        return abs(self.clean - self.changed) >= LEAST

    @property
    def why_not(self) -> str:
        """Why no shares are drawn, in a sentence; "" where they are."""
        if self.is_drawn:
            return ""
        return (
            f"The two runs differ by {abs(self.clean - self.changed):.3f} logits in this metric, less than {LEAST}: "
            "shares of so little say nothing. Choose another step or other tokens."
        )

    @property
    def share(self) -> Tensor:
        """(patched − changed) / (clean − changed), shaped like `patched`; NaN where nothing is drawn or was patched."""
        if not self.is_drawn:
            return torch.full_like(self.patched, torch.nan)
        return (self.patched - self.changed) / (self.clean - self.changed)


@dataclass(frozen=True, eq=False)
class PatchedHeads(Restored):
    """`patched` `(heads,)`: the head of `places` had the clean run's context (or `what` else was patched)."""

    places: tuple[HeadPlace, ...] = ()
    what: What = "context"


@dataclass(frozen=True, eq=False)
class PatchedStream(Restored):
    """`patched` `(layers, positions)` of one stack; layer 0 is the embedding, then the output of each layer.

    `tokens` are those of the changed sentence. `outside` `(layers, positions)` is True where a cell cannot reach the
    metric (it equals `changed` to the bit, and is not run); `alone` `(positions,)` where a token has no partner in the
    clean sentence: `patched` is NaN there.
    """

    stack: Stack = "encoder"
    tokens: tuple[Token, ...] = ()
    outside: Bool[Tensor, "layers positions"] | None = None
    alone: Bool[Tensor, " positions"] | None = None


def patched_heads(
    model: Model, clean: Trace, changed: Trace, metric: LogitDifference, *, what: What = "context"
) -> PatchedHeads:
    """From `clean` into `changed`, one head at a time. Raises ValueError where the two cannot be patched."""
    places, both = head_places(model), (metric.of(clean), metric.of(changed))
    whole = {kind: patch(clean, kind, what=what) for kind in model.kinds}
    changes = [_of_head(whole[kind], layer, head) for kind, layer, head in places]
    found = measured(model, changed, rows_of_edits(model, changed, changes), metric.at, rows=[metric.step])
    return PatchedHeads(*both, found, places, what)


def patched_stream(
    model: Model, clean: Trace, changed: Trace, metric: LogitDifference, *, stack: Stack
) -> PatchedStream:
    """From `clean` into `changed`, the residual of one token after one layer at a time.

    Raises ValueError where the two cannot be patched.
    """
    layers = sorted(layer for of, layer in changed.layers if of == stack)
    tokens = changed.sentences[0].src if stack == "encoder" else changed.sentences[0].tgt_in
    partners = _partners(clean, changed, stack, len(tokens))
    outside = torch.tensor(
        [[_is_outside(model, stack, layer == layers[-1], at - metric.step) for at, _ in enumerate(tokens)]
         for layer in layers]
    )  # fmt: skip
    cells = [
        (row, at)
        for row, _ in enumerate(layers)
        for at in range(len(tokens))
        if at in partners and not outside[row, at]
    ]
    both = metric.of(clean), metric.of(changed)
    patched = torch.full(outside.shape, torch.nan)
    patched[:, list(partners)] = both[1]
    if cells:
        whole = [patch(clean, stack, what="embedding" if layer < 0 else "layer", layer=layer) for layer in layers]
        changes = [replace(whole[row], positions=(at,)) for row, at in cells]
        edits = rows_of_edits(model, changed, changes)
        rows, columns = (list(part) for part in zip(*cells, strict=True))
        patched[rows, columns] = measured(model, changed, edits, metric.at, rows=[metric.step])
    alone = torch.tensor([at not in partners for at in range(len(tokens))])
    return PatchedStream(*both, patched, stack, tuple(tokens), outside, alone)


def _of_head(whole: Intervention, layer: int, head: int) -> Intervention:
    """The patch of one head, of one of all."""
    return replace(whole, layer=layer, heads=(head,), values={layer: whole.values[layer][head : head + 1]})


def _partners(clean: Trace, changed: Trace, stack: Stack, count: int) -> set[int]:
    """The positions of the changed sentence that have a partner in the clean one."""
    one, other = changed.sentences[0], clean.sentences[0]
    if stack == "encoder":
        pairs = aligned(one.src, other.src).pairs
    elif one.src:
        pairs = by_number(count, len(other.tgt_in)).pairs
    else:
        pairs = aligned(*([token for token in each.tgt_in if not token.segment] for each in (one, other))).pairs
    return {here for here, _ in pairs}


def _is_outside(model: Model, stack: Stack, is_last: bool, after: int) -> bool:
    """Whether a cell cannot reach the metric: in a decoder later rows, and after the last layer all but its own; in an
    encoder without a decoder only the latter. `after` is how many rows after the metric's it is.
    """
    if stack == "decoder":
        return after > 0 or (is_last and after != 0)
    return "cross" not in model.kinds and is_last and after != 0
