"""The answers of a class to one question, brought together."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from attnviz.classroom.state import RoundSummary, Said
from attnviz.lessons.question import CELL, HEAD, NUMBER, ROW, Question
from attnviz.lessons.scoring import Marked, normalised


@dataclass(frozen=True)
class Answered:
    """One answer: whose, what (None where it was skipped), and its score, None where nothing is scored."""

    nickname: str
    given: Any
    score: float | None

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
    return {"texts": tuple(Said(one.nickname, str(one.given)) for one in given)}


def _mean(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """The mean distribution. After an upgrade a model may cut a sentence otherwise: rows of the usual length count."""
    if not rows:
        return ()
    usual = Counter(map(len, rows)).most_common(1)[0][0]
    counted = [row for row in rows if len(row) == usual]
    return tuple(sum(column) / len(counted) for column in zip(*counted, strict=True))
