"""A question is over: its answer is marked, or it was skipped; and what all of a lesson came to."""

from typing import Any

from attnviz.lessons.answers import truth_of
from attnviz.lessons.picture import Picture
from attnviz.lessons.question import Question
from attnviz.lessons.scoring import scored
from attnviz.ui import hosted
from attnviz.ui.lessons.opened import OpenedLesson, Progress, of_lesson


def answer(did: Progress, question: Question, shown: Picture | None, guess: Any) -> None:
    """Mark a guess; why it cannot be one is said."""
    try:
        hosted.ensure_turn()
        truth = truth_of(question, shown)
        did.marked, did.guess, did.truth, did.said = scored(question, guess, truth), guess, truth, ""
    except ValueError as error:
        did.said = str(error)


def skip(did: Progress, question: Question, shown: Picture | None) -> None:
    """Show what is right without a guess."""
    did.is_skipped, did.said = True, ""
    try:
        hosted.ensure_turn()
        did.truth = truth_of(question, shown)
    except ValueError as error:
        did.said = str(error)


def summary(now: OpenedLesson) -> str:
    """What the visitor did in the whole lesson, in one sentence."""
    did = of_lesson(now.lesson)
    found = [did[at] for at in now.lesson.questions if at in did]
    right = sum(one.marked is not None and one.marked.is_right for one in found)
    answered = sum(one.marked is not None for one in found)
    skipped, hints = sum(one.is_skipped for one in found), sum(one.rungs for one in found)
    parts = [f"{answered or 'none'} of {len(now.lesson.questions)} answered"]
    if answered:
        parts.append(f"{right or 'none'} right" if right < answered or answered == 1 else "all right")
    if skipped:
        parts.append(f"{skipped} skipped")
    if hints:
        parts.append(f"{hints} hint{'' if hints == 1 else 's'}")
    said = ", ".join(parts)
    return f"The end. {said[0].upper()}{said[1:]}."
