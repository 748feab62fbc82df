"""The copy of the lesson that a class stores when it begins, so that later changes of the file do not affect it."""

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


def pack_lesson(lesson: Lesson) -> str:
    """Encode a lesson as JSON, without the path of its folder. Raises ClassroomError if the JSON is too long."""
    fields = asdict(lesson)
    del fields["folder"]
    text = json.dumps(fields, ensure_ascii=True)
    if len(text) > MOST_CHARACTERS:
        raise ClassroomError("This lesson is too long for a class. Please divide it.")
    return text


@lru_cache(maxsize=_REMEMBERED)
def unpack_lesson(text: str) -> Lesson:
    """Decode a lesson that `pack_lesson` encoded. Raises ClassroomError if another version of attnviz encoded it."""
    try:
        found = json.loads(text)
        return Lesson(**found | {"steps": tuple(_decode_step(step) for step in found["steps"])})
    except (TypeError, KeyError, ValueError):
        raise ClassroomError(
            Translatable("This class was begun with another version of attnviz. Please start a new one.")
        ) from None


def single_question_lesson(question: Question, link: Link | None) -> Lesson:
    """Make a lesson with one step from a question that a teacher asks the room."""
    step = LessonStep("A question to the room", "", link, question)
    return Lesson("room", "A question to the room", 5, "everybody", "en", (step,))


def _decode_step(found: Mapping[str, Any]) -> LessonStep:
    link, question = found["link"], found["question"]
    return LessonStep(
        **{
            **found,
            "link": Link(**link) if link else None,
            "question": _decode_question(question) if question else None,
        }
    )


def _decode_question(found: Mapping[str, Any]) -> Question:
    heads = tuple((layer, head) for layer, head in found["heads"])
    options = tuple(Option(one["text"], Range(**one["when"]) if one["when"] else None) for one in found["options"])
    return Question(**{**found, "heads": heads, "options": options, "hints": tuple(found["hints"])})


def strip_answer(step: LessonStep, rungs: int) -> LessonStep:
    """Remove everything from a step that gives the answer away, for students before the reveal. Opened hints stay."""
    question = step.question
    if question is None:
        return step
    options = tuple(Option(option.text) for option in question.options)
    bare = replace(
        question, options=options, right=None, measure="", more=None, within=0.0, why="",
        hints=question.hints[:rungs], show=question.show if rungs > len(question.hints) else "",
    )  # fmt: skip
    return replace(step, question=bare, link=strip_target(step.link, question))


def strip_target(link: Link | None, question: Question | None) -> Link | None:
    """Remove the target from a picture's link if the question asks for the target, for students before the reveal."""
    if link is None or question is None or question.cover != "page":
        return link
    return replace(link, texts={name: text for name, text in link.texts.items() if name != "tgt"})
