"""Check of a lesson: run every link, compute every answer, and compare it with what was signed."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from attnviz.lessons.answers import truth_of
from attnviz.lessons.faults import Fault, LessonError
from attnviz.lessons.lesson import Lesson, LessonStep, Link
from attnviz.lessons.picture import Picture, Pictures
from attnviz.lessons.question import CHOICE, NUMBER, ROW, Question
from attnviz.lessons.scoring import Truth

LEAST_MARGIN = 0.02  # what the right answer is ahead by, in weight or whatever is compared


@dataclass(frozen=True)
class Remark:
    """A finding on one step: its number from 1, its line, a sentence, and whether it is a mistake; `fault` is that
    of a field.
    """

    step: int
    line: int
    said: str
    is_problem: bool = False
    fault: Fault | None = None


def check_lesson(lesson: Lesson, run: Pictures) -> Iterator[Remark]:
    """Check a lesson step by step: yield the right answer, or why it has none, and changes since it was signed."""
    for at, step in enumerate(lesson.steps):
        link = lesson.picture(at)
        yield from check_step(at, step, lambda link=link: _picture(run, link), lesson.signed.get(str(at + 1)))


def check_step(
    at: int, step: LessonStep, picture: Callable[[], Picture | None], signed: str | None = None
) -> Iterator[Remark]:
    """Check one step, whose `picture` is run only now; `signed` is the fingerprint that its answer had."""
    line = step.question.line if step.question else step.line
    try:
        shown = picture()
        truth = truth_of(step.question, shown) if step.question else None
    except LessonError as error:
        yield Remark(at + 1, line, str(error), is_problem=True, fault=error.faults[0])
        return
    except ValueError as error:
        yield Remark(at + 1, line, str(error), is_problem=True)
        return
    if step.question is None or truth is None:
        return
    by = "" if truth.measured is None else f" ({step.question.measure} is {truth.measured:.4g})"
    yield Remark(at + 1, line, f"right is {truth.said or 'any text: it is not scored'}{by}")
    for said in _doubts(step.question, truth, signed):
        yield Remark(at + 1, line, said, is_problem=True)


def _picture(run: Pictures, link: Link | None) -> Picture | None:
    return run(link) if link is not None and link.page != "Learning" else None


def _doubts(question: Question, truth: Truth, signed: str | None) -> Iterator[str]:
    if truth.margin is not None and truth.margin < LEAST_MARGIN and question.kind != CHOICE:
        yield f"the next best answer is nearly as right (by {truth.margin:.3f}); ask about a clearer one"
    if signed is not None and signed != fingerprint(question, truth):
        yield "the model's answer has changed since the lesson was signed; read the step again, then sign it again"


def fingerprint(question: Question, truth: Truth) -> str:
    """Return a short hash of an answer, the same after another machine's rounding."""
    answer = truth.answer
    if question.kind == NUMBER:
        answer = f"{answer:.3g}"
    elif question.kind == ROW:
        answer = [round(weight, 1) + 0.0 for weight in answer]
    text = json.dumps([question.kind, answer], ensure_ascii=True)
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def sign(path: Path, lesson: Lesson, run: Pictures) -> int:
    """Write each answer's fingerprint into the file's front matter; return their number.

    Raises ValueError where an answer cannot be computed.
    """
    names = {}
    for at, question in lesson.questions.items():
        link = lesson.picture(at)
        names[at + 1] = fingerprint(question, truth_of(question, _picture(run, link)))
    said = "signed: {" + ", ".join(f"{step}: {name}" for step, name in names.items()) + "}"
    text = path.read_text(encoding="utf-8")
    head, rest = text[: text.index("\n---", 3)], text[text.index("\n---", 3) :]
    head = re.sub(r"\nsigned:.*(?:\n[ \t].*)*", "", head)
    path.write_text(f"{head}\n{said}{rest}", encoding="utf-8")
    return len(names)
