"""Apply several patches in one run: measure how much of the metric they restore, and what the model then writes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attnviz.analysis.runs import Tell, untold
from attnviz.causes.numbers.logit_difference import LogitDifference
from attnviz.causes.numbers.pair import Pair, written_under
from attnviz.causes.numbers.patching import Measurement, Restored
from attnviz.models.protocol import Model
from attnviz.tracing.causes.intervention import KINDS, Intervention
from attnviz.tracing.causes.making import patch
from attnviz.tracing.trace import Trace

_EMBEDDING = "e"
_CELL = re.compile(rf"({'|'.join(KINDS)}|encoder|decoder)\.({_EMBEDDING}|\d{{1,4}})\.(\d{{1,5}})")


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
