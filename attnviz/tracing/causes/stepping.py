"""A stepper that applies edits at every step."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.interventions import Chain
from attnviz.transformer.decoding import Choose, Vocabulary, decode, likeliest_ids
from attnviz.transformer.probe import Probe


class EditedStepping:
    """Any model's stepper, under edits that know which row and which position of a text they belong to.

    A stepper whose `cache` is None runs its whole prefix at each step, from position 0 on. It belongs to one run.
    """

    def __init__(self, stepper: Any, edits: Edits) -> None:
        self.stepper, self.edits = stepper, edits

    def step(self, ids: Tensor, *, probe: Probe | None = None) -> Tensor:
        """Feed the next tokens; the logits of the one after. The probe looks on, after the edits."""
        edits = self.edits.start_at(0 if self.stepper.cache is None else self.stepper.prefix.shape[1])
        return self.stepper.step(ids, probe=edits if probe is None else Chain((edits, probe)))

    def select_rows(self, rows: Tensor) -> None:
        """Go on with these rows of the batch only, in this order."""
        self.edits = self.edits.select_rows(rows)
        self.stepper.select_rows(rows)


def apply_edits(stepper: Any, edits: Edits | None) -> Any:
    """Wrap the stepper so that the edits act at every step; without edits return it as it is."""
    return stepper if edits is None else EditedStepping(stepper, edits)


def write(
    stepper: Any, begun: Tensor, vocabulary: Vocabulary, *, limits: int | Sequence[int], choose: Choose = likeliest_ids,
    edits: Edits | None = None,
) -> list[list[int]]:  # fmt: skip
    """Feed what each text begins with, `(batch, length)`, and write on until `<eos>` or a row's limit, with edits in
    force; return each row's ids after its beginning, `<eos>` included where it came.
    """
    stepper = apply_edits(stepper, edits)
    if begun.shape[1] > 1:
        stepper.step(begun[:, :-1])
    return decode(stepper, begun[:, -1], vocabulary, max_tokens=limits, choose=choose)
