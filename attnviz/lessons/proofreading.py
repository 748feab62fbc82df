"""What keeps a draft from being a lesson, part by part, in the sentences of the lesson checker."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from attnviz.lessons.check import checked_step
from attnviz.lessons.draft import Draft, DraftStep
from attnviz.lessons.lesson import Lesson, LessonStep, Link
from attnviz.lessons.picture import Picture
from attnviz.lessons.reading import MOST_BYTES, LessonError, link_of, read
from attnviz.lessons.writing import markdown

Run = Callable[[Link | None], Picture | None]
_HEAD = Draft("-", "1", "-", "-")  # one that nothing is wrong with
_EMPTY = {
    "title": "Give the lesson a title.",
    "minutes": "Say how many minutes the lesson takes.",
    "audience": "Say for whom the lesson is.",
    "language": "Say in which language the lesson is written, such as en.",
}
NO_STEPS = "A lesson has steps: add one."
_UNTITLED = "Give the step a title."
_OPEN = "The text begins a block of code that it does not end: close it with a line “```”."
_HEADING = "A heading “## …”, or a line of dashes below a text, begins another step: write “### …”, or add a step."
_STRANGE = "The link leads to none of the app's pages: take one with “Copy link” or “Add to lesson”."


def lesson_of(draft: Draft, name: str) -> Lesson:
    """The lesson that a draft makes. Raises ValueError with one sentence."""
    if problem := head_problem(draft):
        raise ValueError(problem)
    for at, step in enumerate(draft.steps):
        if problem := step_problem(step):
            raise ValueError(f"Step {at + 1}: {problem}")
    if not draft.steps:
        raise ValueError(NO_STEPS)
    text = markdown(draft)
    if len(text.encode()) > MOST_BYTES:
        raise ValueError(f"A lesson has at most {MOST_BYTES:,} bytes; this one has more: divide it.")
    return read(text, name=name)


def head_problem(draft: Draft) -> str:
    """What is wrong with title, minutes, for whom, language or the text for the list; "" for nothing."""
    for name, sentence in _EMPTY.items():
        if not getattr(draft, name).strip():
            return sentence
    lesson, problem = _alone(draft, DraftStep("-"))
    return problem or ("" if lesson and len(lesson.steps) == 1 else _HEADING)


def step_problem(step: DraftStep) -> str:
    """What is wrong with a step's texts, its link or its question; "" for nothing. Runs nothing."""
    if not step.title.strip():
        return _UNTITLED
    lesson, problem = _alone(_HEAD, step)
    if lesson is None:
        return problem
    found, *others = lesson.steps
    if others:
        return _HEADING
    if step.question.get("kind") and found.question is None:
        return _OPEN
    return _STRANGE if step.link.strip() and found.link is None else ""


def picture_link(draft: Draft, at: int) -> Link | None:
    """The link whose picture a step shows: its own, or the nearest before it that can be read."""
    for step in reversed(draft.steps[: at + 1]):
        try:
            if link := link_of(step.link.strip(), 1):
                return link
        except LessonError:
            continue
    return None


def remarks(draft: Draft, at: int, run: Run) -> Iterator[tuple[str, bool]]:
    """What is right in a step, computed from its picture's run, or why nothing is; and which of it are problems."""
    if problem := step_problem(draft.steps[at]):
        yield problem, True
        return
    step = read(markdown(replace(_HEAD, steps=(draft.steps[at],)))).steps[0]
    link = picture_link(draft, at)
    shown = LessonStep(step.title, step.text, link, step.question)
    for one in checked_step(at, shown, lambda: run(link)):
        yield one.said[:1].upper() + one.said[1:].rstrip(".") + ".", one.is_problem


def _alone(head: Draft, step: DraftStep) -> tuple[Lesson | None, str]:
    """The lesson of one step alone; or the sentence that says why there is none, without the line."""
    try:
        return read(markdown(replace(head, steps=(step,)))), ""
    except LessonError as error:
        return None, error.sentence[:1].upper() + error.sentence[1:] + "."
