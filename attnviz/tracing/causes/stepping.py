"""Apply edits at every step of decoding."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.interventions import Chain
from attnviz.transformer.decoding import Choose, Vocabulary, decode, likeliest_ids
from attnviz.transformer.probe import Probe


class EditedStepping:
    """Any model's stepper with edits applied, at the batch rows and text positions that the edits name.

    A stepper whose `cache` is None runs its whole prefix at each step, starting at position 0. An object belongs to one
    run.
    """

    def __init__(self, stepper: Any, edits: Edits) -> None:
        self.stepper, self.edits = stepper, edits

    def step(self, ids: Tensor, *, probe: Probe | None = None) -> Tensor:
        """Feed the next tokens and return the logits of the token after them. The probe sees the edited run."""
        edits = self.edits.start_at(0 if self.stepper.cache is None else self.stepper.prefix.shape[1])
        return self.stepper.step(ids, probe=edits if probe is None else Chain((edits, probe)))

    def select_rows(self, rows: Tensor) -> None:
        """Keep only these batch rows, in this order."""
        self.edits = self.edits.select_rows(rows)
        self.stepper.select_rows(rows)


def apply_edits(stepper: Any, edits: Edits | None) -> Any:
    """Wrap the stepper so that the edits are applied at every step; without edits, return the stepper unchanged."""
    return stepper if edits is None else EditedStepping(stepper, edits)


def write(
    stepper: Any, begun: Tensor, vocabulary: Vocabulary, *, limits: int | Sequence[int], choose: Choose = likeliest_ids,
    edits: Edits | None = None,
) -> list[list[int]]:  # fmt: skip
    """Feed the beginnings `(batch, length)` and decode each row until `<eos>` or its limit, with edits applied.

    Return each row's ids after its beginning, including `<eos>` if the row reached it.
    """
    stepper = apply_edits(stepper, edits)
    if begun.shape[1] > 1:
        stepper.step(begun[:, :-1])
    return decode(stepper, begun[:, -1], vocabulary, max_tokens=limits, choose=choose)
