"""A pair of runs for activation patching: their matching rows, and the metrics for a row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.runs import Tell, untold, write_runs
from attnviz.models.protocol import Model
from attnviz.tracing.causes.alignment import align_tokens
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.resolution import CheckedInterventions
from attnviz.tracing.trace import Trace

_LIKELY = 10  # number of tokens from which the control pair is chosen


@dataclass(frozen=True)
class LogitDifference:
    """The logit of token id `a` minus the logit of token id `b`, in row `step` of the target.

    `clean_step` is the row in the clean run if its number differs, because two prompts may differ in length.
    """

    step: int
    a: int
    b: int
    clean_step: int | None = None

    def __post_init__(self) -> None:
        if self.a == self.b:
            raise ValueError("The metric is the difference of two tokens' logits. Please choose two different ones.")

    def value(self, trace: Trace) -> float:
        """Return the logit difference in a run. Raise ValueError for a step or an id that the run does not have."""
        if trace.logits is None:
            raise ValueError("This trace was recorded without logits. Please record it again with logits=True.")
        rows, vocab_size = trace.logits.shape[1:]
        if not 0 <= self.step < rows:
            raise ValueError(f"There is no step {self.step}: this target has steps 0 to {rows - 1}.")
        if not all(0 <= id_ < vocab_size for id_ in (self.a, self.b)):
            raise ValueError(f"There is no token {max(self.a, self.b)}: the vocabulary has {vocab_size}.")
        return float(self.values(trace.logits[:1, self.step : self.step + 1].float())[0])

    def value_in_clean(self, trace: Trace) -> float:
        """Return the logit difference in the clean run. Raise ValueError as `value` does."""
        return (self if self.clean_step is None else replace(self, step=self.clean_step)).value(trace)

    def values(self, logits: Tensor) -> Tensor:
        """Return the logit difference `(copies,)` of several runs, from their logits `(copies, 1, vocab_size)`."""
        return (logits[:, 0, self.a] - logits[:, 0, self.b]).cpu()


@dataclass(frozen=True, eq=False)
class Pair:
    """Two runs, `clean` and `changed`, with logits and hidden states.

    The two runs of an encoder-decoder model have the same target. `rows` maps each comparable row number in `clean` to
    its row number in `changed`.
    """

    clean: Trace
    changed: Trace
    rows: dict[int, int]

    def reverse(self) -> "Pair":
        """Return the pair in the other direction, which patches from the changed run into the clean one."""
        return Pair(self.changed, self.clean, {there: here for here, there in self.rows.items()})

    @cached_property
    def differences(self) -> Float[Tensor, " rows"]:
        """Total variation distance between the two runs' predictions in each of `rows`: 0 if equal, 1 if disjoint."""
        return torch.stack(
            [(self._probabilities(0, row) - self._probabilities(1, row)).abs().sum() / 2 for row in self.rows]
        )

    @property
    def most_different(self) -> int:
        """The row of `clean` in which the two runs' predictions differ most."""
        return list(self.rows)[int(self.differences.argmax())]

    def likeliest_ids(self, row: int, count: int = _LIKELY) -> list[tuple[int, float, float]]:
        """Return the most probable token ids in a row of `clean`, with their probabilities in both runs.

        The ids are sorted by the larger of the two probabilities.
        """
        here, there = self._probabilities(0, row), self._probabilities(1, row)
        best = torch.maximum(here, there)
        ids = best.topk(min(2 * count, len(best))).indices
        return [(int(id_), float(here[id_]), float(there[id_])) for id_ in ids]

    def metric(self, row: int, a: int | None = None, b: int | None = None) -> LogitDifference:
        """Return the metric logit(a) − logit(b) in a row of `clean`.

        By default `a` is the most probable token in `clean` and `b` the most probable token in `changed`. If they are
        the same, `b` is the probable token whose logit rises most. Raise ValueError if `a` equals `b`.
        """
        here, there = self._logits(0, row), self._logits(1, row)
        a = int(here.argmax()) if a is None else a
        if b is None:
            others = torch.tensor([id_ for id_, _, _ in self.likeliest_ids(row) if id_ != a])
            gains = (there - here)[others]
            b = int(there.argmax()) if int(there.argmax()) != a else int(others[gains.argmax()])
        return self.changed_metric(row, a, b)

    def changed_metric(self, row: int, a: int, b: int) -> LogitDifference:
        """Return the metric logit(a) − logit(b) with the row number of the `changed` run."""
        step = self.rows[row]
        return LogitDifference(step, a, b, None if step == row else row)

    def control(self, row: int, metric: LogitDifference) -> LogitDifference:
        """Choose two control tokens: probable in either run, but with a logit difference that changes least between the
        runs.
        """
        ids = [id_ for id_, _, _ in self.likeliest_ids(row) if id_ not in (metric.a, metric.b)][:_LIKELY]
        chosen = torch.tensor(ids)
        change = (self._logits(0, row) - self._logits(1, row))[chosen]
        apart = (change[:, None] - change[None]).abs()
        apart.fill_diagonal_(torch.inf)
        first, second = divmod(int(apart.argmin()), len(ids))
        return self.changed_metric(row, ids[first], ids[second])

    def _probabilities(self, side: int, row: int) -> Tensor:
        """Return the probabilities in a row of `clean` (side 0), or in the matching row of `changed` (side 1)."""
        return self._logits(side, row).softmax(dim=-1)

    def _logits(self, side: int, row: int) -> Tensor:
        logits = (self.clean, self.changed)[side].logits
        assert logits is not None  # checked by `pair_of`
        return logits[0, row if side == 0 else self.rows[row]].float().cpu()


def pair_of(model: Model, clean: Trace, other: Trace) -> Pair:
    """Pair two runs.

    For an encoder-decoder model, run the other source with the clean run's target. Raise ValueError if the runs belong
    to two models, if one has no logits or hidden states, or if the sentences have different lengths and no common
    token.
    """
    if other.model_id != clean.model_id:
        raise ValueError(
            f"The changed sentence was run with other weights ({other.model_id}) than the clean one "
            f"({clean.model_id}). A patch needs two runs of the same model."
        )
    for trace in (clean, other):
        if trace.logits is None:
            raise ValueError(
                "This model has no output over a vocabulary, so there is no answer that a patch could change."
            )
        if not trace.layers:
            raise ValueError("This trace was recorded without hidden states, so its layers cannot be patched.")
    here, there = clean.sentences[0], other.sentences[0]
    if here.src and there.src:
        align_tokens(there.src, here.src)  # raises an error before anything is run
    if "cross" not in model.kinds:
        texts = [sentence.src or sentence.tgt_in for sentence in (here, there)]
        return Pair(clean, other, dict(align_tokens(*texts).pairs))
    taught = replace(there, tgt=here.tgt, tgt_text=here.tgt_text, cut=here.cut)
    changed = other if there.tgt == here.tgt else model.rerun(replace(other, sentences=(taught,)))
    return Pair(clean, changed, {row: row for row in range(len(here.tgt_in))})


def written_under(model: Model, trace: Trace, patches: Sequence[Intervention] = (), *, tell: Tell = untold) -> str:
    """Let a model write for a run's source, under the run's interventions and `patches`.

    Return "" if the model writes no text. `tell` is called as in `write_runs`.
    """
    if not model.writes:
        return ""
    changes = CheckedInterventions.check((*trace.interventions, *patches), model.shapes, model.model_id)
    edits = changes.resolve(trace.sentences[:1]).edits or Edits(((),))
    return model.decode_ids(write_runs(model, trace, edits, tell=tell)[0])[0]
