"""The fall of a logit without each head, to compare with what the head adds to it directly.

The two differ: a head's output is read by later layers too, and other heads step in for one that is gone.
"""

import torch
from torch import Tensor

from attnviz.analysis.causes.attribution import LogitTarget
from attnviz.analysis.causes.runs import HeadPlace, head_places, measure_runs, rows_of_edits
from attnviz.models.protocol import Model
from attnviz.tracing.causes.making import ablate
from attnviz.tracing.trace import Trace


def drops(model: Model, trace: Trace, asked: LogitTarget) -> dict[HeadPlace, float]:
    """Compute, for every head, the logit (or lead) less its value with the head's context at zero; all in a few passes.

    Raises ValueError for a row or a token that the trace has not.
    """
    logits = asked.require(trace)

    def measure(found: Tensor) -> Tensor:
        return asked.select(found[:, 0].T).cpu()

    places = head_places(model)
    edits = rows_of_edits(model, trace, (ablate(kind, layer=layer, heads=[head]) for kind, layer, head in places))
    without = measure_runs(model, trace, edits, measure, rows=[asked.row])
    own = asked.select(logits[0, asked.row].float()).cpu()
    return dict(zip(places, torch.sub(own, without).tolist(), strict=True))
