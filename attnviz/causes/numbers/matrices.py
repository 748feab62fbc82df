"""All patching matrices of a pair of runs at one step: heads of every attention kind, and positions of both stacks."""

from dataclasses import dataclass

from attnviz.analysis.runs import Tell, untold
from attnviz.causes.numbers.logit_difference import LogitDifference
from attnviz.causes.numbers.pair import Pair
from attnviz.causes.numbers.patching import PatchedHeads, PatchedStream, Restored, patched_heads, patched_stream
from attnviz.models.protocol import Model
from attnviz.transformer.probe import Stack

_TOKENS = 8_000  # tokens run for one matrix of positions; about a second with the shipped model
_PARAMETERS = 12e6  # parameters of the shipped model; for a larger model fewer cells are run


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
        """The metric in both runs; its `is_drawn` says whether shares are meaningful."""
        return self.heads


def matrices(
    model: Model, pair: Pair, metric: LogitDifference, control: LogitDifference, *, tell: Tell = untold
) -> Matrices:
    """Patch every cell from `pair.clean` into `pair.changed`.

    `tell(done, total)` reports the progress of each matrix. Raise ValueError if the two runs cannot be patched.
    """
    stacks: list[Stack] = [stack for stack in ("encoder", "decoder") if (stack, -1) in pair.changed.layers]
    sentence = pair.changed.sentences[0]
    length = max(1, len(sentence.src) + metric.step + 1)
    most = max(24, int(_TOKENS * _PARAMETERS / max(model.n_parameters, _PARAMETERS) / length))
    ends = Restored(metric.value_in_clean(pair.clean), metric.value(pair.changed), metric.values(_row(pair, metric)))
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


def _row(pair: Pair, metric: LogitDifference):
    logits = pair.changed.logits
    assert logits is not None  # runs of a pair have logits
    return logits[:1, metric.step : metric.step + 1].float()
