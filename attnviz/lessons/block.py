"""The block of a question: each kind's fields, read and checked."""

from collections.abc import Callable, Mapping
from typing import Any

from attnviz.lessons.question import (
    CELL,
    CHOICE,
    COVERS,
    HEAD,
    NUMBER,
    ROW,
    TEXT,
    TOKEN,
    TRANSLATION,
    Option,
    Question,
    Range,
)  # fmt: skip

MOST_CELLS, MOST_OPTIONS = 5, 8
Fail = Callable[[str], Any]  # raises, with a sentence

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
_COVER = {CELL: "map", ROW: "row", HEAD: "maps", TOKEN: "page", TRANSLATION: "page"}


def question_of(found: Mapping[str, Any], line: int, fail: Callable[[str, str], Any]) -> Question:
    """The question that a block says. `fail(field, sentence)` raises, with the field's line."""
    kind = found.get("kind", "")
    if not isinstance(kind, str) or kind not in FIELDS:
        fail("kind", f"a question's kind is one of {', '.join(FIELDS)}, not “{_short(kind)}”")
    known = {name.rstrip("!"): name.endswith("!") for name in FIELDS[kind]}
    for name in found:
        if name not in known and name not in _ALL:
            fail(name, f"a question of kind {kind} has no field “{_short(name)}”; it has {', '.join((*_ALL, *known))}")
    for name in ("ask", *(name for name, is_needed in known.items() if is_needed)):
        if not found.get(name):
            fail("kind", f"a question of kind {kind} needs “{name}: …”")
    read = {name: _READ[name](value, _at(name, fail)) for name, value in found.items()}
    given: dict[str, Any] = {"cover": _COVER.get(kind, "nothing"), "line": line}
    question = Question(**given | {_ARGUMENT.get(name, name): value for name, value in read.items()})
    _require_an_answer(question, fail)
    return question


def _require_an_answer(question: Question, fail: Callable[[str, str], Any]) -> None:
    """A choice has one right sentence, said by its number or by ranges of a measure."""
    if question.kind != CHOICE:
        return
    ranged = [option.when is not None for option in question.options]
    if question.measure and not all(ranged):
        fail("options", "with a measure each option is “- say: …” and “when: 0 to 0.5”")
    if not question.measure and (question.right is None or any(ranged)):
        fail("options", "say which option is right: “right: 2” for the second, or a measure and a range for each")
    if question.right is not None and not 0 <= question.right < len(question.options):
        fail("right", f"there are options 1 to {len(question.options)}, so that {question.right + 1} is none of them")


def _at(name: str, fail: Callable[[str, str], Any]) -> Callable[[str], Any]:
    return lambda sentence: fail(name, f"“{name}” {sentence}")


def _text(value: Any, fail: Fail) -> str:
    if not isinstance(value, str):
        fail("is one text: put it in quotes if it holds a colon")
    return value.strip()


def _texts(value: Any, fail: Fail) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > 2:
        fail("is a list of at most two texts, a nudge and a suggestion, each after a dash")
    return tuple(_text(part, fail) for part in value)


def _one_of(*allowed: str) -> Callable[[Any, Fail], str]:
    def read(value: Any, fail: Fail) -> str:
        if value not in allowed:
            fail(f"is one of {', '.join(allowed)}, not “{_short(value)}”")
        return value

    return read


def is_whole(value: Any, least: int, most: int) -> bool:
    """Whether a value is the text of a whole number from `least` to `most`, of nine digits at most."""
    return isinstance(value, str) and value.isdecimal() and len(value) < 10 and least <= int(value) <= most


def _whole(least: int, most: int) -> Callable[[Any, Fail], int]:
    def read(value: Any, fail: Fail) -> int:
        if not is_whole(value, least, most):
            fail(f"is a whole number from {least} to {most}, not “{_short(value)}”")
        return int(value)

    return read


def _number(value: Any, fail: Fail) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = float("nan")
    if not 0 <= found < float("inf"):
        fail(f"is a number from 0 on, not “{_short(value)}”")
    return found


def _heads(value: Any, fail: Fail) -> tuple[tuple[int, int], ...]:
    """Heads as people write them: `[L1 H2, L2 H5]`."""
    found = []
    for part in value if isinstance(value, list) else [value]:
        layer, _, head = (
            (part if isinstance(part, str) else "").replace(" ", "").upper().removeprefix("L").partition("H")
        )
        if not (layer.isdecimal() and head.isdecimal() and len(layer) < 4 and len(head) < 4):
            fail(f"is a list such as [L1 H2, L2 H5], which “{_short(part)}” is not")
        found.append((int(layer), int(head)))
    if not 2 <= len(found) <= MOST_OPTIONS or len(set(found)) < len(found):
        fail(f"names 2 to {MOST_OPTIONS} heads, each once")
    return tuple(found)


def _options(value: Any, fail: Fail) -> tuple[Option, ...]:
    if not isinstance(value, list) or not 2 <= len(value) <= MOST_OPTIONS:
        fail(f"is a list of 2 to {MOST_OPTIONS} sentences, each after a dash")
    return tuple(_option(part, fail) for part in value)


def _option(part: Any, fail: Fail) -> Option:
    if isinstance(part, str):
        return Option(part)
    if not isinstance(part, dict) or set(part) != {"say", "when"}:
        fail("holds sentences, or “say: …” with “when: 0 to 0.5”; a sentence with a colon stands in quotes")
    return Option(_text(part["say"], fail), _range(part["when"], fail))


def _range(value: Any, fail: Fail) -> Range:
    low, _, high = (value if isinstance(value, str) else "").partition(" to ")
    try:
        found = Range(float(low), float(high or low))
    except ValueError:
        found = Range(1, 0)
    if not found.low <= found.high:
        fail(f"holds a range such as “0 to 0.5”, or one number, not “{_short(value)}”")
    return found


def _more(value: Any, fail: Fail) -> Mapping[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        fail("is what the measure asks for, such as “with: {fill: -1e9}”")
    return value


def _short(value: Any) -> str:
    """The beginning of a text as a sentence quotes it; a list or mapping by its name, whose text may be long."""
    return value[:40] if isinstance(value, str) else "a list" if isinstance(value, list) else "a mapping"


def _right(value: Any, fail: Fail) -> int:
    return _whole(1, MOST_OPTIONS)(value, fail) - 1


_flag = _one_of("true", "false")
_READ: Mapping[str, Callable[[Any, Fail], Any]] = {
    "kind": _text,
    "ask": _text,
    "hints": _texts,
    "show": _one_of("row", "map", "grid", "strip"),
    "why": _text,
    "cover": _one_of(*COVERS),
    "row": _text,
    "col": _text,
    "most": _whole(1, MOST_CELLS),
    "heads": _heads,
    "by": _text,
    "least": lambda value, fail: _flag(value, fail) == "true",
    "measure": _text,
    "with": _more,
    "within": _number,
    "unit": _text,
    "options": _options,
    "right": _right,
}
_ARGUMENT = {"with": "more"}
