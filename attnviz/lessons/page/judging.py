"""Scoring on the page: score or skip a question, and summarize the lesson."""

from typing import Any

from attnviz.app import hosting
from attnviz.lessons.answers import truth_of
from attnviz.lessons.page.open_lesson import OpenedLesson, Progress, lesson_progress
from attnviz.lessons.page.wording import phrase
from attnviz.lessons.phrases import sentence
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.question import Question
from attnviz.lessons.scoring import score_answer


def answer(did: Progress, question: Question, shown: LinkedPicture | None, guess: Any) -> None:
    """Score a guess, and store the result in `did`; if the guess is refused, store the reason."""
    try:
        hosting.ensure_turn()
        truth = truth_of(question, shown)
        did.marked, did.guess, did.truth, did.said = score_answer(question, guess, truth), guess, truth, ""
    except ValueError as error:
        did.said = sentence(error)


def skip(did: Progress, question: Question, shown: LinkedPicture | None) -> None:
    """Mark a question as skipped, and store its right answer in `did`."""
    did.is_skipped, did.said = True, ""
    try:
        hosting.ensure_turn()
        did.truth = truth_of(question, shown)
    except ValueError as error:
        did.said = sentence(error)


def summary(now: OpenedLesson) -> str:
    """Summarize the visitor's answers to the whole lesson in one sentence."""
    did = lesson_progress(now.lesson)
    found = [did[at] for at in now.lesson.questions if at in did]
    right = sum(one.marked is not None and one.marked.is_right for one in found)
    answered = sum(one.marked is not None for one in found)
    skipped, hints = sum(one.is_skipped for one in found), sum(one.rungs for one in found)
    parts = [_answered_phrase(answered, len(now.lesson.questions))]
    if answered:
        parts.append(_right_phrase(right, answered))
    if skipped:
        parts.append(phrase("{count} skipped", count=skipped))
    if hints:
        parts.append(phrase("1 hint") if hints == 1 else phrase("{count} hints", count=hints))
    said = ", ".join(parts)
    return phrase("The end. {what}.", what=said[0].upper() + said[1:])


def _answered_phrase(count: int, questions: int) -> str:
    if not count:
        return phrase("none of {questions} answered", questions=questions)
    return phrase("{count} of {questions} answered", count=count, questions=questions)


def _right_phrase(right: int, answered: int) -> str:
    if not right:
        return phrase("none right")
    return phrase("all right") if right == answered > 1 else phrase("{count} right", count=right)
