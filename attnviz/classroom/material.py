"""What a class is about: a lesson as it was when the class began, so that a file changed later changes no class."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

from attnviz.classroom.errors import ClassroomError
from attnviz.lessons.lesson import Lesson, LessonStep, Link
from attnviz.lessons.phrases import Translatable
from attnviz.lessons.question import Option, Question, Range

MOST_CHARACTERS = 1_000_000
_REMEMBERED = 32  # lessons; every screen of a class reads the same one


def packed(lesson: Lesson) -> str:
    """The lesson as JSON. Raises ClassroomError for one that is larger than any lesson's file may be."""
    text = json.dumps(asdict(lesson), ensure_ascii=True)
    if len(text) > MOST_CHARACTERS:
        raise ClassroomError("This lesson is too long for a class: divide it.")
    return text


@lru_cache(maxsize=_REMEMBERED)
def unpacked(text: str) -> Lesson:
    """The lesson that `packed` wrote. Raises ClassroomError for one that another version wrote differently."""
    try:
        found = json.loads(text)
        return Lesson(**found | {"steps": tuple(_step(step) for step in found["steps"])})
    except (TypeError, KeyError, ValueError):
        raise ClassroomError(
            Translatable("This class was begun with another version of attnviz: start a new one.")
        ) from None


def single(question: Question, link: Link | None) -> Lesson:
    """A question to the room as a lesson of one step."""
    step = LessonStep("A question to the room", "", link, question)
    return Lesson("room", "A question to the room", 5, "everybody", "en", (step,))


def _step(found: Mapping[str, Any]) -> LessonStep:
    link, question = found["link"], found["question"]
    return LessonStep(
        **{**found, "link": Link(**link) if link else None, "question": _question(question) if question else None}
    )


def _question(found: Mapping[str, Any]) -> Question:
    heads = tuple((layer, head) for layer, head in found["heads"])
    options = tuple(Option(one["text"], Range(**one["when"]) if one["when"] else None) for one in found["options"])
    return Question(**{**found, "heads": heads, "options": options, "hints": tuple(found["hints"])})


def without_answer(step: LessonStep, rungs: int) -> LessonStep:
    """A step as a student may see it before the reveal: nothing in it tells what is right, and of its hints there are
    those that the student has opened.
    """
    question = step.question
    if question is None:
        return step
    options = tuple(Option(option.text) for option in question.options)
    bare = replace(
        question, options=options, right=None, measure="", more=None, within=0.0, why="",
        hints=question.hints[:rungs], show=question.show if rungs > len(question.hints) else "",
    )  # fmt: skip
    return replace(step, question=bare, link=without_target(step.link, question))


def without_target(link: Link | None, question: Question | None) -> Link | None:
    """A picture's link as a student may see it before the reveal: what is written may be what is asked for."""
    if link is None or question is None or question.cover != "page":
        return link
    return replace(link, texts={name: text for name, text in link.texts.items() if name != "tgt"})
