"""Navigation between a lesson's steps.

A step opens its link as if the link had been opened in the browser, and Back leads to the step before.
"""

from attnviz.app.address import navigation, persistent
from attnviz.lessons.lesson import Lesson, Link
from attnviz.lessons.page import windows
from attnviz.lessons.page.open_lesson import LESSON, STEP
from attnviz.lessons.question import Question

HOME = "Lessons"


def address(lesson: Lesson, at: int) -> tuple[str, dict[str, str]]:
    """Return the page on which a lesson's step is shown, and the parameters of that page's address."""
    link = lesson.picture(at)
    place = {LESSON: lesson.name, STEP: str(at + 1)}
    if link is None or windows.is_panel():
        return HOME, place
    return link.page, texts_of(link, lesson.steps[at].question) | place


def texts_of(link: Link, question: Question | None) -> dict[str, str]:
    """Return the texts of a step's link that the top bar may show before `question` is answered."""
    texts = {name: text for name, text in link.texts.items() if text}
    if question is not None and question.cover == "page":
        texts.pop("tgt", None)  # the bar would show what is asked for; the model writes it again
    return texts


def go(lesson: Lesson, at: int) -> None:
    """Open the step in the next run. Buttons use this as their callback."""
    navigation.send(*address(lesson, at))


def show(link: Link | None) -> None:
    """Open the link in the next run. Buttons use this as their callback."""
    if link is not None:
        navigation.send(link.page, {name: text for name, text in link.texts.items() if text})


def home(query: dict[str, str]) -> None:
    """Open the page Lessons with these parameters in the next run. Buttons use this as their callback."""
    navigation.send(HOME, query)


def leave() -> None:
    """Close the lesson; the picture stays."""
    persistent.write({LESSON: None, STEP: None})
