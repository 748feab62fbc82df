"""Compare a run with and without interventions on the same tokens: token probabilities, and divergence of the maps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jaxtyping import Float
from torch import Tensor

from attnviz.causes.numbers.chances import Chances, chances, compared_tokens
from attnviz.causes.numbers.run_comparison import divergence_by_kind
from attnviz.models.protocol import Model
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind


@dataclass(frozen=True, eq=False)
class SwitchedOff:
    """Two runs on the same tokens, without and with interventions.

    `chances` are the probabilities of the output tokens in both runs; None for a model without probabilities. `moved`
    is the Jensen-Shannon divergence of each head's maps, in bits, `(layers, heads)`.
    """

    before: Trace
    after: Trace
    chances: tuple[Chances, Chances] | None
    moved: Mapping[Kind, Float[Tensor, "layers heads"]]


def rerun_under(
    model: Model, plain: Trace, interventions: Sequence[Intervention], *, written: Trace | None = None
) -> SwitchedOff:
    """Run `plain` again under interventions, with its target given, so that the steps are comparable.

    `written` is a run under the same interventions that wrote its own target; it is reused if the target is the same.
    """
    same = written is not None and written.sentences == plain.sentences
    after = plain if not interventions else written if same else None
    if after is None:
        after = model.rerun(replace(plain, interventions=tuple(interventions)))
    asked = compared_tokens(model, plain) if plain.logits is not None and after.logits is not None else None
    both = None if asked is None else (chances(plain, asked), chances(after, asked))
    return SwitchedOff(plain, after, both, divergence_by_kind(plain, after))
