"""The answers of a class to one question, brought together."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnviz.classroom.state import BothRounds, RoundSummary, Said
from attnviz.lessons.question import CELL, HEAD, NUMBER, ROW, Question
from attnviz.lessons.scoring import Marked, normalised


@dataclass(frozen=True)
class Answered:
    """One answer: its number, what was given (None where it was skipped), its score, None where nothing is scored, and
    whether the class may see it.
    """

    id: int
    given: Any
    score: float | None
    is_picked: bool = False

    @property
    def is_right(self) -> bool:
        """As a lesson counts it."""
        return Marked(self.score).is_right


def summary(question: Question, answers: Sequence[Answered]) -> RoundSummary:
    """All of one round."""
    given = [one for one in answers if one.given is not None]
    scores = [one.score for one in given if one.score is not None]
    counts = {
        "answered": len(given),
        "skipped": len(answers) - len(given),
        "scored": len(scores),
        "right": sum(one.is_right for one in given),
        "mean_score": sum(scores) / len(scores) if scores else None,
    }
    return RoundSummary(**counts, **_together(question, given))


def both_rounds(first: Mapping[int, float | None], second: Mapping[int, float | None]) -> BothRounds | None:
    """The scores of both rounds by member, compared over those who have one in each; None where nobody has."""
    pairs = [(first[id_], second[id_]) for id_ in first.keys() & second.keys()]
    scores = [(one, other) for one, other in pairs if one is not None and other is not None]
    if not scores:
        return None
    right = [(Marked(one).is_right, Marked(other).is_right) for one, other in scores]
    return BothRounds(len(scores), sum(one for one, _ in right), sum(other for _, other in right))


def _together(question: Question, given: Sequence[Answered]) -> dict[str, Any]:
    values = [one.given for one in given]
    if question.kind == CELL:
        return {"cells": Counter((row, col) for cells in values for row, col in cells)}
    if question.kind == ROW:
        return {"row": _mean([normalised(row) for row in values])}
    if question.kind == HEAD:
        return {"heads": Counter((layer, head) for layer, head in values)}
    if question.kind == NUMBER:
        return {"numbers": tuple(values)}
    if question.options:
        counts = Counter(values)
        return {"options": tuple(counts[at] for at in range(len(question.options)))}
    return {"texts": tuple(Said(one.id, str(one.given), one.is_picked) for one in given)}


def _mean(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """The mean distribution. After an upgrade a model may cut a sentence otherwise: rows of the usual length count."""
    if not rows:
        return ()
    usual = Counter(map(len, rows)).most_common(1)[0][0]
    counted = [row for row in rows if len(row) == usual]
    return tuple(sum(column) / len(counted) for column in zip(*counted, strict=True))
