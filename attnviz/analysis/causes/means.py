"""Mean contexts of each head over a reference set, for `attnviz.ablate(…, to=…)`."""

from collections.abc import Iterable

import torch
from torch import Tensor

from attnviz.models.protocol import Model
from attnviz.text.arguments import reads_arguments
from attnviz.text.tokens import Token
from attnviz.tracing.causes.intervention import MeanContexts
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind


@reads_arguments
def mean_contexts(model: Model, traces: Iterable[Trace]) -> MeanContexts:
    """Average the context of every head over all rows of `traces`, which `model` recorded; padding is left out.

    A fixed number for each head, so that ablating with it says nothing about what comes later in a sentence, as a mean
    over that sentence's own positions would. Raises ValueError for no trace, another model's or an intervened one.
    """
    sums: dict[tuple[Kind, int], Tensor] = {}
    rows: dict[Kind, int] = {}
    for trace in traces:
        if not isinstance(trace, Trace) or trace.model_id != model.model_id or trace.interventions:
            raise ValueError("A mean is measured on traces of this model to which nothing was done.")
        for item in range(len(trace.sentences)):
            for kind in trace.kinds:
                real = _real(model, trace.query_tokens(kind, item))
                rows[kind] = rows.get(kind, 0) + len(real)
                for layer in range(trace.shape(kind)[0]):
                    added = trace.context(kind, layer, item)[:, real].double().sum(dim=1)
                    sums[kind, layer] = sums[kind, layer] + added if (kind, layer) in sums else added
    if not sums:
        raise ValueError("A mean needs at least one trace to be measured on.")
    means = {place: (sums[place] / rows[place[0]]).float() for place in sums}
    return MeanContexts(means, rows, model.model_id)


def _real(model: Model, tokens: tuple[Token, ...]) -> Tensor:
    return torch.tensor([at for at, token in enumerate(tokens) if not model.is_pad(token)], dtype=torch.long)
