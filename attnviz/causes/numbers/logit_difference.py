"""The metric of a patch: the difference between two tokens' logits at one step."""

from dataclasses import dataclass, replace

from torch import Tensor

from attnviz.tracing.trace import Trace


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
            raise ValueError("The metric is the difference of two tokens' logits: choose two different ones.")

    def value(self, trace: Trace) -> float:
        """Return the logit difference in a run. Raise ValueError for a step or an id that the run does not have."""
        if trace.logits is None:
            raise ValueError("This trace was recorded without logits.")
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
