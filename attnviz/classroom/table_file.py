"""A class's answers as CSV files: one with a line per answer, and one with a line per student for a gradebook."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.state import AFTER, BEFORE
from attnviz.classroom.storage.tables import AnswerRow, ClassRow, ClassStepRow, HintRow, MemberRow
from attnviz.classroom.truths import Truths
from attnviz.guards.spreadsheet import escape_formula
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.question import CELL, HEAD, ROW, Question
from attnviz.lessons.scoring import AnswerScore, normalise

ROUNDS = {BEFORE: "first", AFTER: "second"}  # as the teacher's screen calls them
COLUMNS = ("nickname", "step", "title", "kind", "question", "round", "answer", "score", "right", "hints", "saved")
GRADES = ("user", "grade", "answered", "asked", "right", "mean score")


@dataclass(frozen=True)
class AnswerLine:
    """A line for a student and a step, counted from 0.

    It has the answer `given` (None if skipped), its score (None if not scored), the number of opened hints, and when
    the answer was saved. If the student did not answer, `round` is "" and `saved` is None.
    """

    nickname: str
    at: int
    round: str = ""
    given: Any = None
    score: float | None = None
    rungs: int = 0
    saved: float | None = None


@dataclass(frozen=True)
class AxisTexts:
    """The tokens along the rows and the keys of a step's map, as the page shows them."""

    rows: Sequence[str] = ()
    keys: Sequence[str] = ()


def axis_texts(truths: Truths, lesson: Lesson, at: int) -> AxisTexts:
    """Return the tokens of a step's map; empty lists if the model can no longer be run."""
    try:
        shown = truths.picture(lesson, at)
    except ClassroomError:
        shown = None
    if shown is None:
        return AxisTexts()
    return AxisTexts([row.text for row in shown.maps.rows], [col.text for col in shown.maps.cols])


def read_lines(session: Session, row: ClassRow, lesson: Lesson) -> tuple[list[AnswerLine], list[int]]:
    """Return the lines of all given and missing answers, and the steps that were asked.

    A guided class was asked the steps that it has visited; a class in which everybody works alone was asked all steps.
    """
    members = session.scalars(select(MemberRow).where(MemberRow.class_id == row.id).order_by(MemberRow.id)).all()
    answers = session.scalars(
        select(AnswerRow).where(AnswerRow.class_id == row.id).order_by(AnswerRow.saved, AnswerRow.id)
    ).all()
    been = set(session.scalars(select(ClassStepRow.step).where(ClassStepRow.class_id == row.id)))
    been |= {answer.step for answer in answers}
    asked = [at for at in lesson.questions if not row.is_guided or at in been]
    of_class = select(HintRow).join(MemberRow, HintRow.member_id == MemberRow.id)
    hints = session.scalars(of_class.where(MemberRow.class_id == row.id))
    rungs = {(hint.member_id, hint.step): hint.rungs for hint in hints}
    lines: list[AnswerLine] = []
    for at in asked:
        lines += _lines_of_step(at, members, [answer for answer in answers if answer.step == at], rungs)
    return lines, asked


def _lines_of_step(
    at: int, members: Sequence[MemberRow], answers: Sequence[AnswerRow], rungs: Mapping[tuple[int, int], int]
) -> list[AnswerLine]:
    """Return the lines of a step: its answers in the order in which they were saved, then the members without one."""
    names = {member.id: member.nickname for member in members}
    lines = [
        AnswerLine(
            names[answer.member_id], at, answer.round, json.loads(answer.given), answer.score,
            rungs.get((answer.member_id, at), 0), answer.saved,
        )
        for answer in answers
    ]  # fmt: skip
    answered = {answer.member_id for answer in answers}
    return lines + [
        AnswerLine(name, at, rungs=rungs.get((id_, at), 0)) for id_, name in names.items() if id_ not in answered
    ]


def answers_file(lesson: Lesson, lines: Iterable[AnswerLine], axes: Mapping[int, AxisTexts]) -> bytes:
    """Return a CSV file with a line for each answer, and for each student who did not answer.

    `axes` has the tokens of the steps' maps, by step, as far as they are known.
    """
    return _file(COLUMNS, (_cells(lesson, line, axes.get(line.at, AxisTexts())) for line in lines))


def grades_file(lines: Sequence[AnswerLine], scored: Iterable[int]) -> bytes:
    """Return a CSV file for a gradebook, with a line for each student.

    `grade` is 100 times the sum of the scores divided by the number of `scored` steps. If there were two rounds, the
    last answer counts. A step that was skipped or not answered counts 0 in the grade, and is left out of `mean score`.
    """
    asked = set(scored)
    found: dict[str, dict[int, AnswerLine]] = {}
    for line in sorted(lines, key=lambda line: line.saved or 0.0):
        found.setdefault(line.nickname, {})
        if line.at in asked and line.saved is not None:
            found[line.nickname][line.at] = line
    return _file(GRADES, (_grade(name, list(steps.values()), len(asked)) for name, steps in sorted(found.items())))


def _grade(nickname: str, answers: Sequence[AnswerLine], asked: int) -> tuple[Any, ...]:
    scores = [line.score for line in answers if line.score is not None]
    grade = f"{100 * sum(scores) / asked:.2f}" if asked else ""
    mean = f"{sum(scores) / len(scores):.4f}" if scores else ""
    return nickname, grade, len(scores), asked, sum(AnswerScore(score).is_right for score in scores), mean


def _cells(lesson: Lesson, line: AnswerLine, axes: AxisTexts) -> tuple[Any, ...]:
    step = lesson.steps[line.at]
    assert step.question is not None  # it was asked
    about = (line.nickname, line.at + 1, step.title, step.question.kind, step.question.ask, ROUNDS.get(line.round, ""))
    if line.saved is None:
        return *about, "did not answer", "", "", line.rungs, ""
    told = "skipped" if line.given is None else _cell_text(step.question, line.given, axes)
    marks = (
        ("", "") if line.score is None else (f"{line.score:.4f}", "yes" if AnswerScore(line.score).is_right else "no")
    )
    return *about, told, *marks, line.rungs, datetime.fromtimestamp(line.saved, UTC).isoformat(timespec="seconds")


def _cell_text(question: Question, given: Any, axes: AxisTexts) -> str | float:
    """Format an answer for a cell of the table. Numbers stay numbers, and positions are followed by their token."""
    if question.kind == CELL:
        cells = (f"row {_label(row, axes.rows)}, key {_label(col, axes.keys)}" for row, col in given)
        return "; ".join(cells)
    if question.kind == HEAD:
        return f"L{given[0]} H{given[1]}"
    if question.kind == ROW:
        return "; ".join(
            f"{_label(at, axes.keys)}: {weight}" for at, weight in enumerate(_print_weights(normalise(given)))
        )
    if question.options:
        return question.options[given].text
    return given


def _print_weights(weights: Sequence[float]) -> list[str]:
    """Format the weights of a row with four digits so that the printed weights add up to 1.

    All weights are rounded down; then those with the largest remainders are rounded up.
    """
    units = [weight * 10_000 for weight in weights]
    whole = [int(one) for one in units]
    by_rest = sorted(range(len(units)), key=lambda at: whole[at] - units[at])
    for at in by_rest[: max(0, 10_000 - sum(whole))]:
        whole[at] += 1
    return [f"{one / 10_000:.4f}" for one in whole]


def _label(at: int, texts: Sequence[str]) -> str:
    return f"{at} “{texts[at]}”" if at < len(texts) else str(at)


def _file(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Encode rows as a CSV file in UTF-8 with a byte order mark, by which spreadsheets recognize the encoding.

    Texts are escaped so that no spreadsheet reads one as a formula.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([escape_formula(one) if isinstance(one, str) else one for one in row])
    return b"\xef\xbb\xbf" + text.getvalue().encode("utf-8", "replace")
