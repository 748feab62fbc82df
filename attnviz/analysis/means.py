"""Mean contexts of each head: over any traces, for `attnviz.ablate(…, to=…)`, and over the shipped sentences, which is
the number behind “its mean” on a page and in an address.

For the shipped weights the latter lies beside them (`python -m attnviz.causes.numbers` writes it); of any
other model it is measured on demand.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.analysis.corpus.lines import CorpusLine
from attnviz.analysis.corpus.reading import trace_line
from attnviz.analysis.corpus.shipped import shipped_lines
from attnviz.guards.arguments import reads_arguments
from attnviz.models import catalogue
from attnviz.models.protocol import Model
from attnviz.text.tokens import Token
from attnviz.tracing.causes.intervention import KINDS, Intervention, MeanContexts
from attnviz.tracing.causes.making import ablate
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind

NAME = "head-means.safetensors"
_LARGE = 1e8  # parameters: a larger model is measured on fewer sentences
_FEW = 40


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
            raise ValueError("A mean is measured on unchanged traces of this model.")
        for item in range(len(trace.sentences)):
            for kind in trace.kinds:
                real = _real_rows(model, trace.query_tokens(kind, item))
                rows[kind] = rows.get(kind, 0) + len(real)
                for layer in range(trace.shape(kind)[0]):
                    added = trace.context(kind, layer, item)[:, real].double().sum(dim=1)
                    sums[kind, layer] = sums[kind, layer] + added if (kind, layer) in sums else added
    if not sums:
        raise ValueError("A mean needs at least one trace.")
    means = {place: (sums[place] / rows[place[0]]).float() for place in sums}
    return MeanContexts(means, rows, model.model_id)


def _real_rows(model: Model, tokens: tuple[Token, ...]) -> Tensor:
    return torch.tensor([at for at, token in enumerate(tokens) if not model.is_pad(token)], dtype=torch.long)


def reference_means(model: Model, to: str, *, stop: Cancellable = TO_THE_END) -> MeanContexts:
    """Return the mean context of each head over the shipped sentences: stored ones, or measured now.

    `to` is the language that is written. Raises ValueError, one sentence, for a model that cannot read them.
    """
    return _load_stored(model, to) or measured_means(model, to, stop=stop)


def measured_means(model: Model, to: str, *, stop: Cancellable = TO_THE_END) -> MeanContexts:
    """Measure the means now: with the shipped translations, else with what the model itself writes.

    Sentences that it cannot read whole are left out. Raises ValueError where that is all of them.
    """
    lines = reference_lines(model, to)
    refused: list[str] = []
    try:
        return mean_contexts(model, _traces(model, stop.iterate(lines, len(lines)), to, refused))
    except ValueError as why:
        raise ValueError(
            f"A mean is measured over {len(lines)} English sentences, and {model.name} reads none of them: "
            f"{refused[0] if refused else why}"
        ) from None


def reference_lines(model: Model, to: str) -> tuple[CorpusLine, ...]:
    """Return the shipped sentences, as many as a model of this size is measured on."""
    lines = shipped_lines(to)
    return lines[:_FEW] if model.n_parameters > _LARGE else lines


def fill_measured_means(model: Model, asked: Sequence[Intervention], to: str) -> tuple[Intervention, ...]:
    """Give interventions the means that they ask for, so that they can run. Raises ValueError as `reference_means`
    does.
    """
    if not any(each.is_unmeasured for each in asked):
        return tuple(asked)
    return fill_means(asked, reference_means(model, to))


def fill_means(asked: Sequence[Intervention], means: MeanContexts) -> tuple[Intervention, ...]:
    """Put these means into interventions that ask for an unmeasured one."""
    return tuple(
        ablate(each.where, layer=each.layer, heads=each.heads, to=means, positions=each.positions)
        if each.is_unmeasured
        else each
        for each in asked
    )


def write(path: Path, weights: str, found: Mapping[str, MeanContexts]) -> None:
    """Write means by language: a tensor `(heads, d_k)` for each `language.kind.layer`, float32."""
    tensors = {f"{to}.{kind}.{layer}": mean.contiguous() for to, means in sorted(found.items())
               for (kind, layer), mean in means.values.items()}  # fmt: skip
    rows = {to: dict(means.rows) for to, means in sorted(found.items())}
    save_file(tensors, path, {"weights": weights, "rows": json.dumps(rows)})


def _load_stored(model: Model, to: str) -> MeanContexts | None:
    for path in sorted(catalogue.SHIPPED.glob(f"*/{NAME}")):
        with safe_open(path, "pt") as file:
            said = file.metadata()
            rows = json.loads(said["rows"]).get(to)
            if said["weights"] != model.model_id or rows is None:
                continue
            values: dict[tuple[Kind, int], Tensor] = {
                (kind, layer): file.get_tensor(f"{to}.{kind}.{layer}")
                for kind in KINDS
                if kind in model.shapes
                for layer in range(model.shapes[kind][0])
            }
        return MeanContexts(values, rows, model.model_id)
    return None


def _traces(model: Model, lines: Iterator[CorpusLine], to: str, refused: list[str]) -> Iterator[Trace]:
    for line in lines:
        try:
            yield trace_line(model, line, to)
        except ValueError as why:
            refused.append(str(why))
