"""Reader of a question's block in a lesson's Markdown: the fields of each kind of question, validated."""

from collections.abc import Mapping
from typing import Any

from attnviz.lessons.faults import FaultList
from attnviz.lessons.question import CELL, CHOICE, HEAD, NUMBER, ROW, TEXT, TOKEN, TRANSLATION, Question
from attnviz.lessons.values import READ, field_error, shorten_value

# The fields that a kind has besides those that all have, the required ones marked.
_ALL = ("kind", "ask", "hints", "show", "why", "cover")
FIELDS: Mapping[str, tuple[str, ...]] = {
    CELL: ("row", "most"),
    ROW: ("row!",),
    HEAD: ("heads!", "by!", "least", "row", "col"),
    TOKEN: ("row!", "options"),
    TRANSLATION: ("options",),
    NUMBER: ("measure!", "within", "unit", "row", "col", "with"),
    CHOICE: ("options!", "right", "measure", "row", "col", "with"),
    TEXT: (),
}
_ARGUMENT = {"with": "more"}
_COVER = {CELL: "map", ROW: "row", HEAD: "maps", TOKEN: "page", TRANSLATION: "page"}


def question_of(found: Mapping[str, Any], line: int = 0, places: Mapping[str, int] | None = None) -> Question:
    """Read a question from the mapping of its block. `places` has the line of each key.

    Raises LessonError with all mistakes.
    """
    faults, lines = FaultList(), places or {}
    kind = found.get("kind", "")
    if not isinstance(kind, str) or kind not in FIELDS:
        faults.add(f"is one of {', '.join(FIELDS)}, not “{shorten_value(kind)}”", "kind", line=lines.get("kind", line))
        kind = ""
    needed = _note_fields(found, kind, faults, lines)
    read: dict[str, Any] = {"kind": kind, "ask": "", "cover": _COVER.get(kind, "nothing"), "line": line}
    for name, value in found.items():
        with faults.collect(field=name, line=lines.get(name, line)):
            if name in READ and name != "kind" and (value or name not in needed):
                read[_ARGUMENT.get(name, name)] = READ[name](value)
    question = Question(**read)
    if kind == CHOICE and question.options:
        with faults.collect(line=lines.get("right", lines.get("options", line))):
            _require_an_answer(question, found)
    faults.raise_any()
    return question


def _note_fields(found: Mapping[str, Any], kind: str, faults: FaultList, lines: Mapping[str, int]) -> set[str]:
    """Add a fault for each unknown and each missing field of a kind of question. Return the required fields' names."""
    known = {name.rstrip("!"): name.endswith("!") for name in FIELDS.get(kind, ())}
    for name in found:
        if name not in (*_ALL, *known) and (kind or name not in READ):
            has = f"; it has {', '.join((*_ALL, *known))}" if kind else ""
            of_kind = f" of kind {kind}" if kind else ""
            faults.add(f"a question{of_kind} has no field “{shorten_value(name)}”{has}", line=lines.get(name, 0))
    needed = {"ask", *(name for name, is_needed in known.items() if is_needed)}
    for name in ("ask", *known):
        if name in needed and not found.get(name):
            faults.add("is missing", name, in_file=f"write “{name}: …”", line=lines.get("kind", 0))
    return needed


def _require_an_answer(question: Question, found: Mapping[str, Any]) -> None:
    """Check that a choice defines its right sentence, either by its number or by ranges of a measure.

    Raises LessonError.
    """
    ranged, is_measured = [option.when is not None for option in question.options], bool(found.get("measure"))
    if is_measured and not all(ranged):
        said = "needs a range beside each sentence, because the question has a measure"
        raise field_error(said, "write “- say: …” and “when: 0 to 0.5”", field="options")
    if not is_measured and any(ranged):
        raise field_error("is missing: the ranges need a measure", "write “measure: …”", field="measure")
    if not is_measured and "right" not in found:
        said = "is missing; please say which answer is right, or choose a measure and a range for each"
        raise field_error(said, "“right: 2” is the second", field="right")
    if question.right is not None and question.right >= len(question.options):
        said = f"is one of the answers 1 to {len(question.options)}, and not {question.right + 1}"
        raise field_error(said, field="right")
