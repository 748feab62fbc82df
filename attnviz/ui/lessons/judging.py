"""A question is over: its answer is marked, or it was skipped."""

from typing import Any

from attnviz.lessons.answers import truth_of
from attnviz.lessons.picture import Picture
from attnviz.lessons.question import Question
from attnviz.lessons.scoring import scored
from attnviz.ui import hosted
from attnviz.ui.lessons.opened import Progress


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
