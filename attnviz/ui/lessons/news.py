"""A message from one window of a lesson to the other, as a text. Knows no page.

The text comes from a browser and may be forged: it is validated.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

_MOST_TEXT = 200_000  # characters
_MOST_STEPS = 60


@dataclass(frozen=True)
class StepNews:
    """A step's question as one window has it: the `guess` that was answered, or that it `is_skipped`; the number of
    opened hints.
    """

    guess: Any = None
    is_skipped: bool = False
    rungs: int = 0


@dataclass(frozen=True)
class LessonNews:
    """The lesson's step, counted from 0, its questions by step, and the fields of the open one."""

    lesson: str
    at: int
    done: Mapping[int, StepNews] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)

    def to_text(self) -> str:
        """Encode it as JSON, in ASCII."""
        done = {str(at): asdict(step) for at, step in sorted(self.done.items())}
        return json.dumps({"lesson": self.lesson, "at": self.at, "done": done, "fields": dict(self.fields)})


def read(text: str) -> LessonNews | None:
    """Decode such a text; None for any other."""
    if len(text) > _MOST_TEXT:
        return None
    try:
        found = json.loads(text)
        lesson, at, done, fields = (found[name] for name in ("lesson", "at", "done", "fields"))
        steps = {int(number): _step(said) for number, said in done.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    is_news = isinstance(lesson, str) and _is_count(at) and isinstance(fields, dict) and len(steps) <= _MOST_STEPS
    return LessonNews(lesson, at, steps, fields) if is_news else None


def _step(said: Mapping[str, Any]) -> StepNews:
    """Decode a step's question. Raises ValueError for what no step can be."""
    guess, is_skipped, rungs = (said[name] for name in ("guess", "is_skipped", "rungs"))
    if not isinstance(is_skipped, bool) or not _is_count(rungs):
        raise ValueError(said)
    return StepNews(guess, is_skipped, rungs)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10_000
