"""Activation patching: how much of a clean run's answer each patch restores in a changed run.

A patch replaces one head's context or one position of the residual stream. The value of a cell is (patched − changed) /
(clean − changed) of the metric, a logit difference at one step: 0 if the patch has no effect, 1 if it restores the
clean value (Vig et al. 2020; Zhang and Nanda 2024 on the metric). Values outside 0 to 1 are possible. The result holds
for one pair of sentences, and a patch that moves a control pair as well shows nothing specific.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from jaxtyping import Bool
from torch import Tensor

from attnviz.analysis.runs import HeadPlace, Tell, head_places, measure_runs, rows_of_edits, untold
from attnviz.causes.numbers.pair import LogitDifference, Pair, written_under
from attnviz.models.protocol import Model
from attnviz.text.tokens import Token
from attnviz.tracing.causes.alignment import align_by_position, align_tokens
from attnviz.tracing.causes.intervention import KINDS, Intervention, What
from attnviz.tracing.causes.making import patch
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Stack

_TOKENS = 8_000  # tokens run for one matrix of positions; about a second with the shipped model
_PARAMETERS = 12e6  # parameters of the shipped model; for a larger model fewer cells are run
_EMBEDDING = "e"
_CELL = re.compile(rf"({'|'.join(KINDS)}|encoder|decoder)\.({_EMBEDDING}|\d{{1,4}})\.(\d{{1,5}})")
LEAST = 0.1  # least |clean − changed| in logits; below it, shares are noise and are not drawn


@dataclass(frozen=True)
class Measurement:
    """What is measured in each patched run: the metric, and a control pair at the same step that should not change."""

    metric: LogitDifference
    control: LogitDifference | None = None

    @classmethod
    def check(cls, metric: LogitDifference, control: LogitDifference | None) -> "Measurement":
        """Return a metric with its control.

        Raise ValueError if the control has another step, or the same two tokens.
        """
        if control is not None and control.step != metric.step:
            raise ValueError(f"The control pair is for step {control.step}, but the metric is for step {metric.step}.")
        if control is not None and {control.a, control.b} == {metric.a, metric.b}:
            raise ValueError("The control pair is the metric itself. Choose two other tokens that should not move.")
        return cls(metric, control)

    def values(self, logits: Tensor) -> Tensor:
        """Return the measurements of several runs: `(copies, 1)`, or `(copies, 2)` with a control."""
        return torch.stack([each.values(logits) for each in (self.metric, self.control) if each is not None], dim=1)

    def control_change(self, found: Tensor, changed: Trace) -> Tensor | None:
        """Return by how many logits each run in `found` changed the control pair; None without a control."""
        return None if self.control is None else found[:, 1] - self.control.value(changed)


@dataclass(frozen=True, eq=False)
class Restored:
    """The metric in the clean run, in the changed run, and in each patched run.

    `moved` is by how many logits each patch changed the control pair, shaped like `patched`; None without a control.
    """

    clean: float
    changed: float
    patched: Tensor
    moved: Tensor | None = None

    @property
    def is_drawn(self) -> bool:
        """Whether the metric differs enough between the clean and the changed run for shares to be meaningful."""
        return abs(self.clean - self.changed) >= LEAST

    @property
    def why_not(self) -> str:
        """The reason in one sentence why no shares are drawn; "" if shares are drawn."""
        if self.is_drawn:
            return ""
        return (
            f"The metric of the two runs differs by only {abs(self.clean - self.changed):.3f} logits, "
            f"which is less than {LEAST}. A share of such a small difference is not meaningful. Please "
            "choose another step or other tokens."
        )

    @property
    def share(self) -> Tensor:
        """(patched − changed) / (clean − changed), shaped like `patched`; NaN if not drawn or not patched."""
        if not self.is_drawn:
            return torch.full_like(self.patched, torch.nan)
        return (self.patched - self.changed) / (self.clean - self.changed)

    @property
    def control(self) -> Tensor | None:
        """Change of the control pair by each patch, in the unit of `share`: 0 if the control pair did not change."""
        if self.moved is None:
            return None
        if not self.is_drawn:
            return torch.full_like(self.moved, torch.nan)
        return self.moved / (self.clean - self.changed)


@dataclass(frozen=True, eq=False)
class PatchedHeads(Restored):
    """Patches of single heads: `patched` `(heads,)` is the metric after patching each head of `places`.

    `what` names the tensor that came from the clean run, by default the head's context.
    """

    places: tuple[HeadPlace, ...] = ()
    what: What = "context"


@dataclass(frozen=True, eq=False)
class PatchedStream(Restored):
    """Patches of single positions in a stack: `patched` `(layers, positions)`, where layer 0 is the embedding.

    `tokens` are those of the changed sentence. `outside` is True for a cell that cannot affect the metric: it equals
    `changed` exactly and is not run. `alone` `(positions,)` is True for a token that has no partner in the clean
    sentence, and `left_out` for cells that would have taken too long: `patched` is NaN for both.
    """

    stack: Stack = "encoder"
    tokens: tuple[Token, ...] = ()
    outside: Bool[Tensor, "layers positions"] | None = None
    alone: Bool[Tensor, " positions"] | None = None
    left_out: Bool[Tensor, "layers positions"] | None = None


def patched_heads(
    model: Model, clean: Trace, changed: Trace, metric: LogitDifference, *, what: What = "context",
    control: LogitDifference | None = None, tell: Tell = untold,
) -> PatchedHeads:  # fmt: skip
    """Patch one head at a time from `clean` into `changed`.

    `tell(done, total)` reports the progress. Raise ValueError if the two runs cannot be patched.
    """
    places, asked = head_places(model), Measurement.check(metric, control)
    both = metric.value_in_clean(clean), metric.value(changed)
    whole = {kind: patch(clean, kind, what=what) for kind in model.kinds}
    changes = [_cut_head(whole[kind], layer, head) for kind, layer, head in places]
    found = measure_runs(
        model, changed, rows_of_edits(model, changed, changes), asked.values, rows=[metric.step], tell=tell
    )
    return PatchedHeads(*both, found[:, 0], asked.control_change(found, changed), places, what)


def patched_stream(  # noqa: PLR0913 - what may be asked of a matrix
    model: Model, clean: Trace, changed: Trace, metric: LogitDifference, *, stack: Stack,
    control: LogitDifference | None = None, most: int | None = None, tell: Tell = untold,
) -> PatchedStream:  # fmt: skip
    """For each token and each layer, patch the token's residual stream after that layer from `clean` into `changed`.

    Cells with equal values in both runs are not run, because they would change nothing. If more than `most` cells
    remain, only those whose values differ most are run. `tell(done, total)` reports the progress. Raise ValueError if
    the two runs cannot be patched.
    """
    asked, both = Measurement.check(metric, control), (metric.value_in_clean(clean), metric.value(changed))
    layers = sorted(layer for of, layer in changed.layers if of == stack)
    tokens = changed.sentences[0].src if stack == "encoder" else changed.sentences[0].tgt_in
    partners, reach = _partners(clean, changed, stack, len(tokens)), reach_of(model, changed, stack)
    outside = torch.tensor(
        [[is_outside(reach, layer == layers[-1], at - metric.step) for at, _ in enumerate(tokens)]
         for layer in layers]
    )  # fmt: skip
    patched = torch.full(outside.shape, torch.nan)
    patched[:, list(partners)] = both[1]
    moved = None if control is None else torch.where(patched.isnan(), torch.nan, 0.0)
    apart = torch.stack([_distance(clean, changed, stack, layer, partners) for layer in layers])
    apart[outside] = 0
    left_out = apart > 0
    ranked = apart.flatten().argsort(descending=True, stable=True)[: int(left_out.sum())][:most]
    cells = sorted(divmod(int(at), len(tokens)) for at in ranked)
    if cells:
        whole = [patch(clean, stack, what="embedding" if layer < 0 else "layer", layer=layer) for layer in layers]
        edits = rows_of_edits(model, changed, [replace(whole[row], positions=(at,)) for row, at in cells])
        rows, columns = (list(part) for part in zip(*cells, strict=True))
        found = measure_runs(model, changed, edits, asked.values, rows=[metric.step], tell=tell)
        patched[rows, columns] = found[:, 0]
        if moved is not None and (by := asked.control_change(found, changed)) is not None:
            moved[rows, columns] = by
        left_out[rows, columns] = False
    patched[left_out] = torch.nan
    if moved is not None:
        moved[left_out] = torch.nan
    alone = torch.tensor([at not in partners for at in range(len(tokens))])
    return PatchedStream(*both, patched, moved, stack, tuple(tokens), outside, alone, left_out)


def _distance(clean: Trace, changed: Trace, stack: Stack, layer: int, partners: dict[int, int]) -> Tensor:
    """Return the relative distance `(positions,)` between the two runs' hidden states after a layer.

    It is 0 where the states are exactly equal or the position has no partner.
    """
    there, here = clean.layer_output(stack, layer), changed.layer_output(stack, layer)
    apart = torch.zeros(len(here))
    own, others = list(partners), list(partners.values())
    change = (here[own] - there[others]).norm(dim=1) / here[own].norm(dim=1).clamp(min=1e-12)
    is_same = (here[own] == there[others]).all(dim=1)
    apart[own] = change.clamp(min=1e-12).masked_fill(is_same, 0.0)
    return apart


def _cut_head(whole: Intervention, layer: int, head: int) -> Intervention:
    """Return the part of a patch of all heads that concerns one head."""
    return replace(whole, layer=layer, heads=(head,), values={layer: whole.values[layer][head : head + 1]})


def _partners(clean: Trace, changed: Trace, stack: Stack, count: int) -> dict[int, int]:
    """Map each position of the changed sentence to the matching position of the clean one."""
    one, other = changed.sentences[0], clean.sentences[0]
    if stack == "encoder":
        pairs = align_tokens(one.src, other.src).pairs
    elif one.src:
        pairs = align_by_position(count, len(other.tgt_in)).pairs
    else:
        pairs = align_tokens(*([token for token in each.tgt_in if not token.segment] for each in (one, other))).pairs
    return dict(pairs)


Reach = Literal["memory", "earlier", "all"]


def is_outside(reach: Reach, is_last: bool, after: int) -> bool:
    """Return whether patching a cell cannot affect the metric.

    After the last layer of the stack that outputs tokens, only a patch in the metric's own row can affect the metric.
    After an earlier layer, a patch in a later row cannot if rows attend only to earlier rows (`reach` "earlier").
    `after` is the cell's row minus the metric's row.
    """
    if reach == "memory":
        return False
    return (is_last and after != 0) or (reach == "earlier" and after > 0)


def reach_of(model: Model, changed: Trace, stack: Stack) -> Reach:
    """Return which positions of a stack can affect a row of the output.

    "memory": every position of an encoder whose output a decoder reads. "earlier": positions up to the row's own.
    "all": every position, in an encoder without a decoder or in a decoder without its causal mask.
    """
    if stack == "encoder":
        return "memory" if "cross" in model.kinds else "all"
    layers = range(changed.shape("decoder_self")[0])
    sees = any(bool(changed.layer_mask("decoder_self", layer).triu(1).any()) for layer in layers)
    return "all" if sees else "earlier"


@dataclass(frozen=True)
class Cell:
    """A cell of a patching matrix: a head in a layer, or a token position after a layer (-1 is the embedding)."""

    where: str
    layer: int
    at: int

    @classmethod
    def parse(cls, text: str) -> "Cell | None":
        """Parse a cell written like `cross.1.3` or `encoder.e.4`; return None for any other text."""
        found = _CELL.fullmatch(text)
        if found is None or (found[2] == _EMBEDDING and found[1] in KINDS):
            return None
        return cls(found[1], -1 if found[2] == _EMBEDDING else int(found[2]), int(found[3]))

    def __str__(self) -> str:
        return f"{self.where}.{_EMBEDDING if self.layer < 0 else self.layer}.{self.at}"

    @property
    def is_head(self) -> bool:
        """Whether the cell is a head, not a position."""
        return self.where in KINDS

    def patch(self, donor: Trace) -> Intervention:
        """Return the intervention that patches this cell from `donor`.

        Raise ValueError if the donor has no such place.
        """
        if self.is_head:
            return patch(donor, self.where, layer=self.layer, heads=[self.at])
        what = "embedding" if self.layer < 0 else "layer"
        return patch(donor, self.where, layer=None if self.layer < 0 else self.layer, what=what, positions=[self.at])


@dataclass(frozen=True, eq=False)
class JointPatches:
    """The metric (and the control) in a run with several patches, and the text that the model writes in this run.

    The text is None if the model writes none.
    """

    restored: Restored
    text: str | None


@torch.inference_mode()
def patch_jointly(
    model: Model, pair: Pair, metric: LogitDifference, cells: Sequence[Cell], control: LogitDifference | None = None, *,
    tell: Tell = untold,
) -> JointPatches:  # fmt: skip
    """Patch all of the cells from `pair.clean` into `pair.changed` in one run.

    `tell` is called as in `write_runs`. Raise ValueError for a cell that the runs do not have.
    """
    asked, into = Measurement.check(metric, control), pair.changed
    patches = tuple(cell.patch(pair.clean) for cell in cells)
    # A separate pass and not a batch row, so that patching all cross-attention gives exactly the donor's answer.
    patched = model.rerun(replace(into, interventions=(*into.interventions, *patches)))
    found = asked.values(_row(patched, metric.step))
    restored = Restored(
        metric.value_in_clean(pair.clean), metric.value(into), found[:, 0], asked.control_change(found, into)
    )
    return JointPatches(restored, written_under(model, into, patches, tell=tell) if model.writes else None)


def _row(trace: Trace, row: int) -> Tensor:
    assert trace.logits is not None  # runs of a pair have logits
    return trace.logits[:1, row : row + 1].float()


@dataclass(frozen=True, eq=False)
class Matrices:
    """All patching matrices of one step, with the metric and its control: `heads` and `streams` (positions per
    stack).
    """

    metric: LogitDifference
    control: LogitDifference
    heads: PatchedHeads
    streams: tuple[PatchedStream, ...]

    @property
    def ends(self) -> Restored:
        """The metric in the clean and in the changed run; its `is_drawn` says whether they differ enough to show
        shares.
        """
        return self.heads


def matrices(
    model: Model, pair: Pair, metric: LogitDifference, control: LogitDifference, *, tell: Tell = untold
) -> Matrices:
    """Patch one cell after another from `pair.clean` into `pair.changed`, and return a matrix of effects per quantity.

    `tell(done, total)` reports the progress of each matrix. Raise ValueError if the two runs cannot be patched.
    """
    stacks: list[Stack] = [stack for stack in ("encoder", "decoder") if (stack, -1) in pair.changed.layers]
    sentence = pair.changed.sentences[0]
    length = max(1, len(sentence.src) + metric.step + 1)
    most = max(24, int(_TOKENS * _PARAMETERS / max(model.n_parameters, _PARAMETERS) / length))
    ends = Restored(
        metric.value_in_clean(pair.clean), metric.value(pair.changed), metric.values(_asked_row(pair, metric))
    )
    if not ends.is_drawn:  # shares of so small a difference are not drawn
        return Matrices(metric, control, PatchedHeads(ends.clean, ends.changed, ends.patched), ())
    return Matrices(
        metric,
        control,
        patched_heads(model, pair.clean, pair.changed, metric, control=control, tell=tell),
        tuple(
            patched_stream(model, pair.clean, pair.changed, metric, stack=stack, control=control, most=most, tell=tell)
            for stack in stacks
        ),
    )


def _asked_row(pair: Pair, metric: LogitDifference):
    logits = pair.changed.logits
    assert logits is not None  # runs of a pair have logits
    return logits[:1, metric.step : metric.step + 1].float()
