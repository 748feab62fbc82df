"""Compare a run with and without interventions on the same tokens: the probabilities of tokens or labels, or the vector
of a whole image, and the divergence of the maps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jaxtyping import Float
from torch import Tensor

from attnviz.causes.numbers.chances import Chances, chances, listed_tokens
from attnviz.causes.numbers.run_comparison import divergence_by_kind
from attnviz.causes.numbers.whole_image import SummaryChange, summary_change
from attnviz.models.protocol import Model
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind


@dataclass(frozen=True, eq=False)
class SwitchedOff:
    """Two runs on the same tokens, without and with interventions.

    `chances` are the probabilities of the output tokens in both runs, or those of an image's likeliest labels; None for
    a model without probabilities. `moved` is the Jensen-Shannon divergence of each head's maps, in bits, `(layers,
    heads)`. `summary` is the change of the vector of a whole image, if the model returns no labels.
    """

    before: Trace
    after: Trace
    chances: tuple[Chances, Chances] | None
    moved: Mapping[Kind, Float[Tensor, "layers heads"]]
    summary: SummaryChange | None = None


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
    moved = divergence_by_kind(plain, after)
    if plain.logits is None or after.logits is None:
        return SwitchedOff(plain, after, None, moved, summary_change(model, plain, interventions))
    asked = listed_tokens(model, (plain, after))
    return SwitchedOff(plain, after, (chances(plain, asked), chances(after, asked)), moved)
