"""A draft: the texts of a lesson as they were typed, whether a lesson can be read from them or not.

It is kept as JSON in its author's browser; `attnviz/widgets/draft_keeper/js/kept.js` adds steps to the same
JSON. `writing` makes a lesson's file of it, `proofreading` says what is wrong.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from attnviz.lessons.question import CELL, ROW, TOKEN

MOST_STEPS = 60
MOST_TEXT = 8_000  # characters of one text
# The texts of a question. `options` and `when` have a line for each sentence and its range; `more` is what the file
# calls `with`, such as "fill: -1e9".
QUESTION = (
    "kind", "ask", "row", "col", "most", "heads", "by", "least", "measure", "more", "within", "unit", "options", "when",
    "right", "nudge", "suggestion", "show", "why", "cover",
)  # fmt: skip
# What the editor calls the fields, by the keys that a lesson's file has for them.
_LABELS = {
    "title": "Title",
    "for": "For whom",
    "minutes": "Minutes",
    "language": "Language",
    "listed": "Leave it out of the list of lessons",
    "kind": "Question",
    "ask": "What is asked",
    "row": "Row",
    "col": "Key",
    "most": "How many cells",
    "heads": "Which heads",
    "by": "RunComparison by",
    "least": "The smallest is right",
    "measure": "What is measured",
    "with": "With",
    "within": "Right within",
    "unit": "Unit",
    "options": "The answers",
    "when": "In which range each is right",
    "right": "Right is",
    "hints": "First hint",
    "show": "Third hint: a spotlight on",
    "cover": "Covered until it is answered",
    "why": "Why it is so",
}
_ROW_OF = {CELL: "Only in this row", ROW: "The row", TOKEN: "At which step"}


def _name() -> str:
    return secrets.token_hex(4)


@dataclass(frozen=True)
class DraftStep:
    """A step: `name` tells it from the others, `question` holds texts by the names in `QUESTION`."""

    title: str = ""
    text: str = ""
    link: str = ""
    question: Mapping[str, str] = field(default_factory=dict)
    name: str = field(default_factory=_name)


@dataclass(frozen=True)
class Draft:
    """A lesson's texts; `audience` is what the file calls `for`, `unlisted` is "true" where it has `listed: false`."""

    title: str = ""
    minutes: str = "10"
    audience: str = ""
    language: str = "en"
    about: str = ""
    steps: tuple[DraftStep, ...] = ()
    unlisted: str = ""

    def replace_step(self, at: int, **changes: Any) -> "Draft":
        """Replace texts in the step numbered `at`, from 0."""
        return self._update(at, replace(self.steps[at], **changes))

    def replace_question(self, at: int, texts: Mapping[str, str]) -> "Draft":
        """Replace texts in that step's question."""
        question = {**self.steps[at].question, **texts}
        return self.replace_step(at, question={name: text for name, text in question.items() if text})

    def insert(self, at: int, step: DraftStep) -> "Draft":
        """Insert a step at that place. Raises ValueError with one sentence for a step too many."""
        if len(self.steps) >= MOST_STEPS:
            raise ValueError(f"A lesson has at most {MOST_STEPS} steps: delete one, or begin another lesson.")
        return replace(self, steps=(*self.steps[:at], step, *self.steps[at:]))

    def duplicate(self, at: int) -> "Draft":
        """Duplicate that step. Raises ValueError for a step too many."""
        return self.insert(at + 1, replace(self.steps[at], name=_name()))

    def remove(self, at: int) -> "Draft":
        """Remove that step."""
        return replace(self, steps=self.steps[:at] + self.steps[at + 1 :])

    def move(self, at: int, to: int) -> "Draft":
        """Move that step to another place."""
        left = self.remove(at).steps
        return replace(self, steps=(*left[:to], self.steps[at], *left[to:]))

    def to_json(self) -> str:
        """Encode it as the browser keeps it."""
        steps = [{one.name: getattr(step, one.name) for one in fields(step)} for step in self.steps]
        head = {one.name: getattr(self, one.name) for one in fields(self)}
        return json.dumps(head | {"steps": [step | {"question": dict(step["question"])} for step in steps]})

    @classmethod
    def from_json(cls, text: str) -> "Draft":
        """Decode what a browser keeps; texts are cut where no field takes more. Raises ValueError."""
        try:
            found = json.loads(text)
        except RecursionError:
            raise ValueError("This is no draft: its parts lie too deep.") from None
        steps = found.get("steps", []) if isinstance(found, dict) else None
        if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
            raise ValueError("This is no draft: it has no list of steps.")
        read = tuple(DraftStep(**_step(step)) for step in steps[:MOST_STEPS])
        if len({step.name for step in read}) < len(read):
            read = tuple(replace(step, name=_name()) for step in read)
        return cls(**_texts(found, [one.name for one in fields(cls) if one.name != "steps"]), steps=read)

    def _update(self, at: int, step: DraftStep) -> "Draft":
        return replace(self, steps=(*self.steps[:at], step, *self.steps[at + 1 :]))


def _step(found: Mapping[str, Any]) -> dict[str, Any]:
    question = found.get("question")
    asked = _texts(question, QUESTION) if isinstance(question, dict) else {}
    texts = _texts(found, ("title", "text", "link", "name"))
    return {name: text for name, text in texts.items() if text or name != "name"} | {"question": asked}


def _texts(found: Mapping[str, Any], names: tuple[str, ...] | list[str]) -> dict[str, str]:
    """Select those of the names that hold a text, as a field can show it."""
    return {name: clean_text(found[name]) for name in names if isinstance(found.get(name), str)}


def clean_text(text: str) -> str:
    """Clean a text so that every later step can handle it: no lone surrogate, no NUL, lines ended by a newline."""
    plain = text[:MOST_TEXT].encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    return plain.replace("\r\n", "\n").replace("\r", "\n")


def label(field: str, kind: str = "") -> str:
    """Return a field's name in the form of that kind of question; the form may add how to fill it in."""
    return _ROW_OF[kind] if field == "row" and kind in _ROW_OF else _LABELS.get(field, field)
