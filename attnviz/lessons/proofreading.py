"""Proofreading of a draft, part by part: the mistakes that a lesson's reader finds, in sentences that call each
field by its name in the editor.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from attnviz.lessons.check import check_step
from attnviz.lessons.draft import Draft, DraftStep, label
from attnviz.lessons.faults import LessonError
from attnviz.lessons.lesson import Lesson, LessonStep, Link
from attnviz.lessons.parts import link_of
from attnviz.lessons.picture import Picture
from attnviz.lessons.reading import MOST_BYTES, read
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


def problems(draft: Draft) -> list[tuple[int, str]]:
    """Return all that keeps a draft from being a lesson: each sentence with its step, from 1, or 0. Runs nothing."""
    found = [(0, said) for said in head_problems(draft)]
    if not draft.steps:
        found.append((0, NO_STEPS))
    found += [(at, said) for at, step in enumerate(draft.steps, start=1) for said in step_problems(step)]
    if not found and len(markdown(draft).encode()) > MOST_BYTES:
        found.append((0, f"A lesson has at most {MOST_BYTES:,} bytes; this one has more: divide it."))
    return found


def lesson_of(draft: Draft, name: str) -> Lesson:
    """Make a lesson from a draft. Raises ValueError with a line for each problem."""
    if found := problems(draft):
        raise ValueError("\n".join(f"Step {at}: {said}" if at else said for at, said in found))
    return read(markdown(draft), name=name)


def head_problems(draft: Draft) -> list[str]:
    """Return the problems of title, minutes, audience, language and the text for the list. Runs nothing."""
    empty = [name for name in _EMPTY if not getattr(draft, name).strip()]
    filled = replace(draft, **{name: getattr(_HEAD, name) for name in empty})
    lesson, found = _read_step(filled, DraftStep("-"))
    if lesson is not None and len(lesson.steps) != 1:
        found.append(_HEADING)
    return [_EMPTY[name] for name in empty] + found


def step_problems(step: DraftStep) -> list[str]:
    """Return the problems of a step's texts, its link or its question. Runs nothing."""
    untitled = [] if step.title.strip() else [_UNTITLED]
    lesson, found = _read_step(_HEAD, step if not untitled else replace(step, title="-"))
    return untitled + found + (_misread(lesson, step) if lesson else [])


def _misread(lesson: Lesson, step: DraftStep) -> list[str]:
    """Return the problems of texts that a reader takes for something else than was meant."""
    found, *others = lesson.steps
    if others:
        return [_HEADING]
    if step.question.get("kind") and found.question is None:
        return [_OPEN]
    return [_STRANGE] if step.link.strip() and found.link is None else []


def picture_link(draft: Draft, at: int) -> Link | None:
    """Return the link whose picture a step shows: its own, or the nearest readable one before it."""
    for step in reversed(draft.steps[: at + 1]):
        try:
            if link := link_of(step.link.strip()):
                return link
        except LessonError:
            continue
    return None


def remarks(draft: Draft, at: int, run: Run) -> Iterator[tuple[str, bool]]:
    """Yield the right answer of a step, computed from its picture's run, or all problems; and which of the
    sentences are problems.
    """
    if found := step_problems(draft.steps[at]):
        yield from ((said, True) for said in found)
        return
    step = read(markdown(replace(_HEAD, steps=(draft.steps[at],)))).steps[0]
    link = picture_link(draft, at)
    shown = LessonStep(step.title, step.text, link, step.question)
    for one in check_step(at, shown, lambda: run(link)):
        said = one.fault.form_sentence(_label(draft.steps[at])) if one.fault else one.said
        yield said[:1].upper() + said[1:].rstrip(".") + ".", one.is_problem


def _read_step(head: Draft, step: DraftStep) -> tuple[Lesson | None, list[str]]:
    """Read one step as a lesson of its own; None and the problems where it has any."""
    try:
        return read(markdown(replace(head, steps=(step,)))), []
    except LessonError as error:
        return None, [fault.form_sentence(_label(step)) for fault in error.faults]


def _label(step: DraftStep) -> Callable[[str], str]:
    return partial(label, kind=step.question.get("kind", ""))
