"""Read the claims in the prose of the shipped lessons, for tests that compute them."""

import re
from functools import cache

from attnviz.lessons.lesson import Lesson
from attnviz.lessons.library import SHIPPED
from attnviz.lessons.picture import LinkedPicture, pictures
from attnviz.lessons.reading import read_file

DOG = "A big red dog jumped over a small pond."
MARGIN = 0.02  # by which what is told to be more is more: no processor rounds that far
_run = pictures()


@cache
def text(lesson: str) -> str:
    """Read a lesson's file, its lines joined."""
    (file,) = SHIPPED.glob(f"{lesson}-*.md")
    return " ".join(file.read_text(encoding="utf-8").split())


@cache
def lesson_of(lesson: str) -> Lesson:
    """Return the lesson with that number."""
    (file,) = SHIPPED.glob(f"{lesson}-*.md")
    return read_file(file)


def step(lesson: str, nth: int) -> LinkedPicture:
    """Return the picture of a lesson's step, counted from 1."""
    link = lesson_of(lesson).picture(nth - 1)
    assert link is not None
    return _run(link)


def tells(lesson: str, sentence: str, *values: float) -> bool:
    """Whether a lesson has this sentence with these values, as `says` has it."""
    return says(text(lesson), sentence, *values)


def says(joined: str, sentence: str, *values: float) -> bool:
    """Whether a text has this sentence, with a number in the place of each `{}` that is the value, rounded.

    A little more than half a unit of the last digit is allowed, since processors add in different orders.
    """
    parts = [re.escape(part) for part in sentence.split("{}")]
    found = re.findall(r"(\d+(?:\.\d+)?)".join(parts), joined)
    assert found, f"the text does not say “{sentence}”"
    (said,) = found
    numbers = (said,) if isinstance(said, str) else said
    return not values or all(_is_rounded(*pair) for pair in zip(numbers, values, strict=True))


def _is_rounded(told: str, value: float) -> bool:
    unit = 10 ** -len(told.partition(".")[2])
    return abs(float(told) - float(value)) <= 0.55 * unit


def strongest(weights, keys: list[str]) -> str:
    """Return the key of most weight. Another that is nearly as strong fails the test."""
    first, second = weights.topk(2).values.tolist()
    assert first - second > MARGIN
    return keys[int(weights.argmax())]
