"""One sentence with and without what was done to a run, on the same tokens: probabilities, and how far maps moved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jaxtyping import Float
from torch import Tensor

from attnviz.causes.numbers.chances import Chances, chances, compared_tokens
from attnviz.causes.numbers.divergence import divergence_by_kind
from attnviz.models.protocol import Model
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind


@dataclass(frozen=True, eq=False)
class SwitchedOff:
    """Two runs on the same tokens, without interventions and with them.

    `chances` are those of the tokens that the model puts out, in both; None for a model without probabilities. `moved`
    is the Jensen-Shannon divergence of each head's maps, in bits, `(layers, heads)`.
    """

    before: Trace
    after: Trace
    chances: tuple[Chances, Chances] | None
    moved: Mapping[Kind, Float[Tensor, "layers heads"]]


def rerun_under(
    model: Model, plain: Trace, interventions: Sequence[Intervention], *, written: Trace | None = None
) -> SwitchedOff:
    """Run `plain` again under interventions, the target given, so that each step stays comparable.

    `written` is a run under them that wrote its own target: where that is the same, it is the run again.
    """
    same = written is not None and written.sentences == plain.sentences
    after = plain if not interventions else written if same else None
    if after is None:
        after = model.rerun(replace(plain, interventions=tuple(interventions)))
    asked = compared_tokens(model, plain) if plain.logits is not None and after.logits is not None else None
    both = None if asked is None else (chances(plain, asked), chances(after, asked))
    return SwitchedOff(plain, after, both, divergence_by_kind(plain, after))
