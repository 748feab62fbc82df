"""Right answers, computed from the model's own run of a step's link."""

from collections.abc import Sequence

import torch

from attnviz.analysis.metric_table import METRICS
from attnviz.lessons.faults import Fault, LessonError
from attnviz.lessons.measures import WITHOUT_PICTURE, compute_measure, metric_of, weights
from attnviz.lessons.phrases import Translatable
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.question import CELL, CHOICE, HEAD, NUMBER, ROW, TEXT, TOKEN, TRANSLATION, Question
from attnviz.lessons.scoring import Truth, fold_text


def truth_of(question: Question, picture: LinkedPicture | None) -> Truth:
    """Compute the right answer. Raises ValueError if the question does not fit its picture.

    `picture` is None for a step before the lesson's first picture. Such a step may only ask questions whose right
    answer the author has written down.
    """
    if question.kind == TEXT:
        return Truth("")
    if question.kind == CHOICE and not question.measure:
        assert question.right is not None  # the parser asks for it
        return Truth(question.right, question.options[question.right].text)
    if picture is None and question.measure not in WITHOUT_PICTURE:
        raise ValueError(
            "There is no picture to compute the answer from. Please put a link into this step or one before it."
        )
    return _TRUTH[question.kind](question, picture)  # type: ignore[arg-type]


def _cell(question: Question, picture: LinkedPicture) -> Truth:
    found = weights(picture)
    open_ = torch.zeros_like(found, dtype=torch.bool)
    open_[slice(None) if not question.row else picture.row(question.row)] = True
    flat = found.masked_fill(~open_, -1.0).flatten()
    if int(open_.sum()) < question.most:
        raise ValueError(f"There are fewer than {question.most} cells to choose from.")
    order = flat.argsort(descending=True, stable=True)
    best = sorted(divmod(int(at), found.shape[1]) for at in order[: question.most])
    rest = order[question.most : question.most + 1]
    last = float(flat[order[question.most - 1]])
    margin = last - max(0.0, float(flat[rest[0]])) if len(rest) else last
    named = [f"{picture.maps.rows[row].text} × {picture.maps.cols[col].text}" for row, col in best]
    said = "; ".join(f"{name} ({float(found[cell]):.2f})" for name, cell in zip(named, best, strict=True))
    shown = [[w if is_open else None for w, is_open in zip(*pair, strict=True)] for pair in _rows(found, open_)]
    return Truth([list(cell) for cell in best], said, shown, margin)


def _rows(found: torch.Tensor, open_: torch.Tensor) -> Sequence[tuple[list[float], list[bool]]]:
    return list(zip(found.tolist(), open_.tolist(), strict=True))


def _row(question: Question, picture: LinkedPicture) -> Truth:
    row = picture.row(question.row)
    found = weights(picture)[row]
    if not torch.isclose(found.sum(), torch.ones(()), atol=1e-3):
        raise ValueError(
            "This row does not sum to 1. Please link to the picture with special tokens shown or renormalised."
        )
    best = int(found.argmax())
    key = picture.maps.cols[best].text
    said = Translatable("most, {weight}, is on {key}", weight=f"{float(found[best]):.2f}", key=key)
    return Truth([float(weight) for weight in found], said)


def _head(question: Question, picture: LinkedPicture) -> Truth:
    layers, heads = picture.trace.shape(picture.kind)
    for layer, head in question.heads:
        if layer >= layers or head >= heads:
            raise ValueError(
                f"There is no L{layer} H{head}: {picture.kind} has L0 to L{layers - 1}, H0 to H{heads - 1}."
            )
    values = [_head_truth(question, picture, layer, head) for layer, head in question.heads]
    ordered = sorted(zip(values, question.heads, strict=True), reverse=not question.least)
    (first, best), (second, _) = ordered[:2]
    said = ", ".join(f"L{layer} H{head} {value:.2f}" for value, (layer, head) in ordered)
    return Truth(list(best), said, margin=abs(first - second))


def _head_truth(question: Question, picture: LinkedPicture, layer: int, head: int) -> float:
    if question.by == "weight":
        return float(picture.maps.weights(layer, head)[picture.row(question.row), picture.col(question.col)])
    if question.by not in METRICS:
        raise LessonError(Fault(f"is weight, of one cell, or one of {', '.join(METRICS)}, not “{question.by}”", "by"))
    return metric_of(picture, question.by, layer, head)


def _token(question: Question, picture: LinkedPicture) -> Truth:
    row = picture.row(question.row)
    label = picture.maps.rows[row]
    if label.output is None:
        raise ValueError(
            "This picture shows no text that the model writes. Please link to the decoder of a model that writes text."
        )
    return _written_truth(question, label.output.strip())


def _translation(question: Question, picture: LinkedPicture) -> Truth:
    if not picture.trace.tgt_text:
        raise ValueError("This picture shows no text that the model writes. Please link to a model that writes text.")
    return _written_truth(question, picture.trace.tgt_text)


def _written_truth(question: Question, text: str) -> Truth:
    """Return the text that the model writes as the right answer; with options, the option that equals it."""
    if not question.options:
        return Truth(text, text)
    right = [at for at, option in enumerate(question.options) if fold_text(option.text) == fold_text(text)]
    if len(right) != 1:
        raise ValueError(
            f"The model writes “{text}”, which is {len(right)} of the options. Please write it once among them."
        )
    return Truth(right[0], text)


def _number(question: Question, picture: LinkedPicture) -> Truth:
    found = compute_measure(picture, question)
    return Truth(found, f"{found:.4g} {question.unit}".strip())


def _choice(question: Question, picture: LinkedPicture) -> Truth:
    found = compute_measure(picture, question)
    right = [at for at, option in enumerate(question.options) if option.when is not None and found in option.when]
    if len(right) != 1:
        ranges = "none" if not right else "several"
        raise ValueError(f"The measure {question.measure} is {found:.4g}: it lies in {ranges} of the options' ranges.")
    at = right[0]
    range_ = question.options[at].when
    assert range_ is not None  # it was found by it
    inside = min(found - range_.low, range_.high - found)
    margin = inside if range_.low < range_.high else None
    return Truth(at, question.options[at].text, margin=margin, measured=found)


_TRUTH = {
    CELL: _cell,
    ROW: _row,
    HEAD: _head,
    TOKEN: _token,
    TRANSLATION: _translation,
    NUMBER: _number,
    CHOICE: _choice,
}
