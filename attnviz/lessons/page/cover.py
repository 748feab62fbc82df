"""The cover of a picture until its question is answered, or skipped."""

from attnviz.lessons.page.open_lesson import open_lesson, progress
from attnviz.lessons.page.run import picture
from attnviz.lessons.page.wording import phrase
from attnviz.lessons.question import Question
from attnviz.maps.cover import Cover

_FINE = ("Heads",)  # pages that cover what tells, and show the rest
_NO_PICTURE = ("Lessons", "Class")


def covered_sentence() -> str:
    """Return the sentence that is shown instead of a covered picture."""
    now = open_lesson()
    if now is not None and progress(now).awaits_reveal:
        return phrase("Covered until the teacher reveals the answer.")
    return phrase("Covered until you answer the question or skip it.")


def hides(title: str) -> bool:
    """Check whether the page with this title must show nothing below its top bar until the question is answered."""
    question = _open_question()
    if question is None or question.cover == "nothing" or title in _NO_PICTURE:
        return False
    return question.cover == "page" or title not in _FINE


def hides_numbers() -> bool:
    """Check whether an open question asks for something that could be read from numbers on the page, so they are
    hidden.
    """
    question = _open_question()
    return question is not None and question.cover != "nothing"


def cover() -> Cover | None:
    """Return what the open question covers on the maps of Heads; None if it covers nothing there."""
    question = _open_question()
    now = open_lesson()
    if question is None or now is None or question.cover not in ("row", "map", "maps"):
        return None
    try:
        shown = picture(now.link)
    except ValueError:
        return None
    return None if shown is None else shown.cover(question, covered_sentence())


def _open_question() -> Question | None:
    now = open_lesson()
    if now is None or now.question is None or progress(now).is_over:
        return None
    return now.question
