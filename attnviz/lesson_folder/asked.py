"""A step's question and its right answer as the scripts of a lesson's page read them."""

import math
from collections.abc import Callable
from typing import Any

from attnviz.lessons.answers import truth_of
from attnviz.lessons.picture import Picture
from attnviz.lessons.question import CELL, ROW, Question
from attnviz.lessons.scoring import Truth

Say = Callable[[str], str]  # into the language of the lesson


def question_data(question: Question, shown: Picture | None, *, say: Say, why: str) -> dict[str, Any]:
    """Return a question, with its place on the map and its right answer; `why` is its reason as HTML.

    Raises ValueError with one sentence for a question that does not fit its picture.
    """
    has_map = shown is not None and (question.kind in (CELL, ROW) or question.row)
    return {
        "kind": question.kind,
        "ask": question.ask,
        "cover": question.cover,
        "most": question.most,
        "row": shown.row(question.row) if shown is not None and question.row else None,
        "heads": question.heads,
        "options": [option.text for option in question.options],
        "within": question.within,
        "unit": question.unit,
        "hints": question.hints,
        "show": question.show,
        "why": why,
        "rows": [row.text for row in shown.maps.rows] if shown is not None and has_map else [],
        "keys": [col.text for col in shown.maps.cols] if shown is not None and has_map else [],
        "truth": truth_data(truth_of(question, shown), say),
    }


def truth_data(truth: Truth, say: Say) -> dict[str, Any]:
    """Return what a score needs of the right answer, and its sentence. Raises ValueError where that is NaN."""
    if isinstance(truth.answer, float) and not math.isfinite(truth.answer):
        raise ValueError("The right answer is not a number (NaN): ask for something else.")
    return {"answer": truth.answer, "said": say(truth.said), "weights": truth.weights}
