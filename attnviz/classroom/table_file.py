"""A class's answers as CSV, made for spreadsheets that run whatever looks like a formula."""

import csv
import io
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from attnviz.lessons.lesson import Lesson
from attnviz.lessons.question import CELL, HEAD, ROW, Question
from attnviz.text.spreadsheet import harmless

COLUMNS = ("nickname", "step", "title", "kind", "question", "round", "answer", "score", "right", "hints", "saved")


def table_file(lesson: Lesson, lines: Iterable[tuple[Any, ...]]) -> bytes:
    """UTF-8 with a byte order mark, by which a spreadsheet knows it.

    `lines` are nickname, step (from 0), round, what was given (None: skipped), score (None: not scored), whether it is
    right, how many hints were opened, and when it was saved.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for nickname, at, round_, given, score, is_right, rungs, saved in lines:
        step = lesson.steps[at]
        assert step.question is not None  # it has an answer
        when = datetime.fromtimestamp(saved, UTC).isoformat(timespec="seconds")
        told = "skipped" if given is None else _words(step.question, given)
        marks = ("", "") if score is None else (f"{score:.4f}", "yes" if is_right else "no")
        texts = (nickname, at + 1, step.title, step.question.kind, step.question.ask, round_, told, *marks, rungs, when)
        writer.writerow([harmless(one) if isinstance(one, str) else one for one in texts])
    return b"\xef\xbb\xbf" + text.getvalue().encode("utf-8", "replace")


def _words(question: Question, given: Any) -> str | float:
    """An answer as a reader of a table sees it: numbers stay numbers."""
    if question.kind == CELL:
        return "; ".join(f"row {row}, key {col}" for row, col in given)
    if question.kind == HEAD:
        return f"L{given[0]} H{given[1]}"
    if question.kind == ROW:
        return " ".join(f"{weight:.4g}" for weight in given)
    if question.options:
        return question.options[given].text
    return given
