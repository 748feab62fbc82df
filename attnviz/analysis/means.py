"""Mean context of each head: over given traces, for `attnviz.ablate(…, to=…)`, and over the shipped sentences.

The latter is what “its mean” denotes on a page and in an address. For the shipped weights it is stored beside them
(written by `python -m attnviz.causes.numbers`); for other models it is measured on demand.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.analysis.corpus.lines import CorpusLine, shipped_lines
from attnviz.analysis.corpus.reading import trace_line
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
    """Average the context of every head over all rows of `traces`, which `model` recorded, ignoring padding.

    The result is one fixed vector for each head, so that ablating with it reveals nothing about later tokens, unlike a
    mean over the sentence's own positions. Raises ValueError without traces, and for a trace of another model or with
    interventions.
    """
    sums: dict[tuple[Kind, int], Tensor] = {}
    rows: dict[Kind, int] = {}
    for trace in traces:
        if not isinstance(trace, Trace) or trace.model_id != model.model_id or trace.interventions:
            raise ValueError(
                "The means can only be measured on traces of this model that were made without interventions."
            )
        for item in range(len(trace.sentences)):
            for kind in trace.kinds:
                real = _real_rows(model, trace.query_tokens(kind, item))
                rows[kind] = rows.get(kind, 0) + len(real)
                for layer in range(trace.shape(kind)[0]):
                    added = trace.context(kind, layer, item)[:, real].double().sum(dim=1)
                    sums[kind, layer] = sums[kind, layer] + added if (kind, layer) in sums else added
    if not sums:
        raise ValueError("A mean needs at least one trace, but none was given.")
    means = {place: (sums[place] / rows[place[0]]).float() for place in sums}
    return MeanContexts(means, rows, model.model_id)


def _real_rows(model: Model, tokens: tuple[Token, ...]) -> Tensor:
    return torch.tensor([at for at, token in enumerate(tokens) if not model.is_pad(token)], dtype=torch.long)


def reference_means(model: Model, to: str, *, stop: Cancellable = TO_THE_END) -> MeanContexts:
    """Return the mean context of each head over the shipped sentences, stored or measured now.

    `to` is the target language. Raise ValueError with a message of one sentence for a model that cannot read the
    sentences.
    """
    return _load_stored(model, to) or measured_means(model, to, stop=stop)


def measured_means(model: Model, to: str, *, stop: Cancellable = TO_THE_END) -> MeanContexts:
    """Measure the mean contexts now, over the shipped sentences with their translations.

    Without translations into `to`, the targets are those that the model writes itself. Sentences that the model cannot
    read completely are left out. Raise ValueError if no sentence remains.
    """
    if model.inputs.is_image:
        raise ValueError(
            f"The mean is measured over sentences, and {model.name} reads images. In Python, attnviz.mean_contexts "
            "measures one over images of yours."
        )
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
    """Return the shipped sentences, or only the first ones for a large model."""
    lines = shipped_lines(to)
    return lines[:_FEW] if model.n_parameters > _LARGE else lines


def fill_measured_means(model: Model, asked: Sequence[Intervention], to: str) -> tuple[Intervention, ...]:
    """Give interventions the means that they request, so that they can run.

    Raise ValueError as `reference_means` does.
    """
    if not any(each.is_unmeasured for each in asked):
        return tuple(asked)
    return fill_means(asked, reference_means(model, to))


def fill_means(asked: Sequence[Intervention], means: MeanContexts) -> tuple[Intervention, ...]:
    """Put these means into interventions that request a mean not measured yet."""
    return tuple(
        ablate(each.where, layer=each.layer, heads=each.heads, to=means, positions=each.positions)
        if each.is_unmeasured
        else each
        for each in asked
    )


def write(path: Path, weights: str, found: Mapping[str, MeanContexts]) -> None:
    """Write means to a file: a float32 tensor `(heads, d_k)` for each `language.kind.layer`."""
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
