"""Measures: numbers that a question can ask for, each computed from a step's picture."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch

from attnviz.analysis.inputs import site_inputs
from attnviz.analysis.metric_table import METRICS, head_metrics
from attnviz.analysis.outcome import Raised
from attnviz.anatomy.numbers.claims import modulation, one_head, parameter_counts
from attnviz.anatomy.numbers.skipped_lines import SKIPS, run_skipped
from attnviz.implementations.bugs.cabinet import BUGS
from attnviz.implementations.site_inputs import SiteInputs
from attnviz.lessons import mask_measures, run_measures
from attnviz.lessons.faults import Fault, LessonError
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.question import Question
from attnviz.models.translator.translator import Translator
from attnviz.transformer.probe import SCORES_ONLY

WITHOUT_PICTURE = ("run_score", "equal_prefixes", "most_confused")
_PLACES = ("row", "col")


@dataclass(frozen=True)
class Measure:
    """A number computed from a picture: a phrase that describes it, the question's fields it needs, and its
    function.
    """

    means: str
    needs: tuple[str, ...]
    of: Callable[[LinkedPicture, Question], float]


def compute_measure(picture: LinkedPicture | None, question: Question) -> float:
    """Compute the measure that a question names. Some measures need no picture.

    Raises LessonError if a field of the question is missing or wrong, and ValueError for other problems.
    """
    measure = MEASURES.get(question.measure)
    if measure is None:
        said = f"is one of {', '.join(MEASURES)}, not “{question.measure[:40]}”"
        raise LessonError(Fault(said, "measure"))
    said = dict(question.more or {})
    for need in measure.needs:
        if not getattr(question, need, "") and need not in said:
            raise LessonError(_missing_fault(need, question.measure, measure))
    return measure.of(picture, question)  # type: ignore[arg-type]


def _missing_fault(need: str, name: str, measure: Measure) -> Fault:
    """Return the fault that a measure's field is missing: a row or column, or a key in the file's `with`."""
    if need in _PLACES:
        return Fault(f"is missing: the measure {name} needs it ({measure.means})", need)
    said = f"lacks {need}: the measure {name} needs it ({measure.means})"
    return Fault(said, "with", f"write “with: {{{need}: …}}”")


def weights(picture: LinkedPicture) -> torch.Tensor:
    """Return the attention weights `(rows, cols)` of the map that a lesson's picture shows."""
    return picture.maps.weights(picture.layer, picture.head)


def _weight(picture: LinkedPicture, question: Question) -> float:
    return float(weights(picture)[picture.row(question.row), picture.col(question.col)])


def _row_sum(picture: LinkedPicture, question: Question) -> float:
    return float(weights(picture)[picture.row(question.row)].sum())


def _metric(name: str) -> Callable[[LinkedPicture, Question], float]:
    def compute(picture: LinkedPicture, question: Question) -> float:
        return metric_of(picture, name, *picture.one_head())

    return compute


def metric_of(picture: LinkedPicture, name: str, layer: int, head: int) -> float:
    """Return a metric, such as entropy, of one head of the attention kind that a lesson's picture shows."""
    table = head_metrics(picture.maps, picture.trace).set_index(["layer", "head"])
    return float(table[name].to_dict()[layer, head])


def _visible_cells(picture: LinkedPicture, question: Question) -> float:
    seen = picture.maps.visible_cells(picture.layer, picture.head)
    return float(seen[picture.row(question.row)].sum())


def _above_diagonal(picture: LinkedPicture, question: Question) -> float:
    """Compute the share of a self-attention map's weight that lies on later tokens."""
    found = weights(picture)
    return float(found.triu(1).sum() / found.sum())


def _maps(picture: LinkedPicture, question: Question) -> float:
    return float(sum(layers * heads for layers, heads in picture.model.shapes.values()))


def _tokens(side: str) -> Callable[[LinkedPicture, Question], float]:
    return lambda picture, question: float(len(getattr(picture.trace.sentences[0], side)))


def _sizes(axis: int) -> Callable[[LinkedPicture, Question], float]:
    return lambda picture, question: float(picture.trace.shape(picture.kind)[axis])


def _d_k(picture: LinkedPicture, question: Question) -> float:
    if not picture.trace.call(picture.kind, 0).has_queries:
        raise ValueError(f"There is no d_k: {SCORES_ONLY}.")
    return float(picture.trace.call(picture.kind, 0).query.shape[-1])


def _d_model(picture: LinkedPicture, question: Question) -> float:
    return float(_inputs(picture).weights.d_model)


def _parameter_share(picture: LinkedPicture, question: Question) -> float:
    """Compute how many parameters the site would have with the asked number of heads, divided by its actual number."""
    inputs = _inputs(picture)
    counts = parameter_counts(inputs.weights.d_model).set_index("heads")["parameters"]
    asked = int((question.more or {})["heads"])
    if asked not in counts.index:
        raise ValueError(f"{asked} heads do not divide d_model {inputs.weights.d_model}.")
    numbers = counts.to_dict()
    return float(numbers[asked] / numbers[inputs.weights.n_heads])


def _moved_weight(picture: LinkedPicture, question: Question) -> float:
    """Compute the mean share of a row's weight that the learned projections move, compared with softmax(x
    xᵀ/√d_model).
    """
    if picture.kind == "cross":
        raise ValueError("In cross-attention queries and keys come from two sentences. Please link to self-attention.")
    inputs, (_, head) = _inputs(picture), picture.one_head()
    mask = None if inputs.mask is None else inputs.mask[0].expand(inputs.input_.shape[1], -1)
    return float(modulation(inputs.weights, inputs.input_[0], head, mask).moved_share.mean())


def _one_head(picture: LinkedPicture, question: Question) -> float:
    """Compute max |Δ| between the output of one large head and that of plain self-attention with the same W_q,
    W_k, W_v.
    """
    return one_head(_inputs(picture)).output_change


def _skip_raises(picture: LinkedPicture, question: Question) -> float:
    """Return 1 if attention raises an error when the question's line of code is left out or changed, and 0 if it does
    not.
    """
    line = (question.more or {})["line"]
    if line not in SKIPS:
        raise ValueError(f"A line to skip is one of {', '.join(SKIPS)}, not “{line[:40]}”.")
    return float(isinstance(run_skipped(line, _inputs(picture)), Raised))


def _is_caught(picture: LinkedPicture, question: Question) -> float:
    """Return 1 if a bug's one-line test fails on this site, as it should, and 0 if the test passes."""
    name = (question.more or {})["bug"]
    if name not in BUGS:
        raise ValueError(f"The bug must be one of {', '.join(BUGS)}, not “{name[:40]}”.")
    bug = BUGS[name]
    inputs = bug.own_inputs() if bug.own_inputs else _inputs(picture)
    try:
        return float(not bug.catch(bug.attention(inputs), inputs))
    except (RuntimeError, TypeError, ValueError):
        return 1.0


def _inputs(picture: LinkedPicture) -> SiteInputs:
    if not isinstance(picture.model, Translator):
        raise ValueError("This measure needs the matrices of a site. Please link to a shipped translator.")
    layer = picture.layer if isinstance(picture.layer, int) else 0
    return site_inputs(picture.model, picture.trace, picture.kind, layer)


_CELL = ("row", "col")
_OWN: Mapping[str, Measure] = {
    "weight": Measure("the weight of a cell", _CELL, _weight),
    "row_sum": Measure("the sum of a row", ("row",), _row_sum),
    "visible_keys": Measure("keys that a row may see", ("row",), _visible_cells),
    "above_diagonal": Measure("the share of weight on later tokens", (), _above_diagonal),
    "maps": Measure("heads of all layers and kinds", (), _maps),
    "layers": Measure("layers of the kind", (), _sizes(0)),
    "heads": Measure("heads of a layer", (), _sizes(1)),
    "d_k": Measure("numbers of a head's query", (), _d_k),
    "d_model": Measure("numbers of a hidden state", (), _d_model),
    "source_tokens": Measure("tokens of the source", (), _tokens("src")),
    "target_tokens": Measure("tokens of the target", (), _tokens("tgt")),
    "parameter_share": Measure(
        "parameters with that many heads, as a share of the site's own", ("heads",), _parameter_share
    ),
    "moved": Measure("how far the learned projections move the rows", (), _moved_weight),
    "one_head": Measure("one head's output against plain self-attention's", (), _one_head),
    "skip_raises": Measure("1 where a changed line raises", ("line",), _skip_raises),
    "caught": Measure("1 where a bug is caught by its one-line test", ("bug",), _is_caught),
}
MEASURES: Mapping[str, Measure] = {
    **_OWN,
    **{name: Measure(metric.meaning, (), _metric(name)) for name, metric in METRICS.items()},
    **{name: Measure(*said) for name, said in (mask_measures.MEASURES | run_measures.MEASURES).items()},
}
