"""Check a lesson's text: run every link, compute every answer, and compare the answers with the signed fingerprints.

An author signs a lesson by storing a fingerprint of each answer in the file (`sign`).
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnviz.lessons.answers import truth_of
from attnviz.lessons.faults import Fault
from attnviz.lessons.lesson import Lesson, LessonStep, Link
from attnviz.lessons.picture import LinkedPicture, Pictures
from attnviz.lessons.question import CHOICE, NUMBER, ROW, Question
from attnviz.lessons.reading import ReadText
from attnviz.lessons.scoring import Truth

LEAST_MARGIN = 0.02  # what the right answer is ahead by, in weight or whatever is compared


@dataclass(frozen=True)
class Remark:
    """A finding of the check: its line, a sentence, and whether it is a mistake.

    `fault` is set if the text itself is wrong, rather than an answer or a claim.
    """

    line: int
    said: str
    is_problem: bool = False
    fault: Fault | None = None


@dataclass(frozen=True)
class CheckedBlock:
    """A block of a lesson's text with the check's findings.

    A block is a step, numbered from 1, or the text before the first step, with the number 0. `line` is its first line,
    counted from 1, and `end` the line after its last.
    """

    number: int
    title: str
    line: int
    end: int
    remarks: tuple[Remark, ...]


Claims = Callable[[LessonStep, Link | None, LinkedPicture | None], Iterator[str]]


def no_claims(step: LessonStep, link: Link | None, shown: LinkedPicture | None) -> Iterator[str]:
    """Yield no untrue claims. This is the default for a check that does not compare texts with the picture."""
    yield from ()


StepCheck = Callable[[LessonStep, Link | None, str | None], Iterable[Remark]]


def check_text(text: ReadText, check: StepCheck) -> Iterator[CheckedBlock]:
    """Check a lesson's text block by block, and yield each block with its findings.

    Findings are mistakes of the text itself, and what `check` (such as `check_step`) finds in a step that can be read.
    If one step cannot be read, the others are still checked.
    """
    first = text.steps[0].line if text.steps else 0
    yield CheckedBlock(0, "", 1, first, tuple(_fault_remarks(text.faults)))
    signed = text.head.get("signed", {})
    for at, step in enumerate(text.steps):
        found = [*_fault_remarks(step.faults)]
        if step.step is not None:
            found += check(step.step, text.picture(at), signed.get(str(at + 1)))
        yield CheckedBlock(at + 1, step.title, step.line, step.end, tuple(found))


def _fault_remarks(faults: Sequence[Fault]) -> Iterator[Remark]:
    return (Remark(fault.line, fault.file_sentence(), is_problem=True, fault=fault) for fault in faults)


def check_step(
    step: LessonStep, link: Link | None, signed: str | None, *, run: Pictures, claims: Claims = no_claims
) -> Iterator[Remark]:
    """Run the model on the inputs of `link`, and check the texts and the question of a step against the result.

    Yields the right answer or the reason why there is none, a remark if the answer no longer has the fingerprint
    `signed`, and the untrue `claims` about the picture.
    """
    line = step.question.line if step.question else step.line
    try:
        shown = _picture(run, link)
        truth = truth_of(step.question, shown) if step.question else None
    except ValueError as error:
        yield Remark(line, str(error), is_problem=True)
        return
    if step.question is not None and truth is not None:
        by = "" if truth.measured is None else f" ({step.question.measure} is {truth.measured:.4g})"
        yield Remark(line, f"right is {truth.said or 'any text: it is not scored'}{by}")
        yield from (Remark(line, said, is_problem=True) for said in _doubts(step.question, truth, signed))
    yield from (Remark(step.line, said, is_problem=True) for said in claims(step, link, shown))


def _picture(run: Pictures, link: Link | None) -> LinkedPicture | None:
    return run(link) if link is not None and link.page != "Learning" else None


def _doubts(question: Question, truth: Truth, signed: str | None) -> Iterator[str]:
    if truth.margin is not None and truth.margin < LEAST_MARGIN and question.kind != CHOICE:
        yield (
            f"the second best answer is nearly as good (the difference is {truth.margin:.3f}); please ask "
            "about a clearer case"
        )
    if signed is not None and signed != fingerprint(question, truth):
        yield (
            "the model's answer has changed since the lesson was signed; please read this step again, and "
            "then sign the lesson again"
        )


def fingerprint(question: Question, truth: Truth) -> str:
    """Return a short hash of an answer, rounded so that another machine gets the same hash."""
    answer = truth.answer
    if question.kind == NUMBER:
        answer = f"{answer:.3g}"
    elif question.kind == ROW:
        answer = [round(weight, 1) + 0.0 for weight in answer]
    text = json.dumps([question.kind, answer], ensure_ascii=True)
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def sign(path: Path, lesson: Lesson, run: Pictures) -> int:
    """Write the fingerprint of each answer into the file's front matter. Return the number of answers.

    Raises ValueError if an answer cannot be computed.
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
