"""Functions that read a question's fields from the texts, lists and mappings of parsed YAML.

Each function raises `LessonError` for a value that it cannot read. Its sentence lacks the subject, which is the field.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attnviz.lessons.faults import Fault, FaultList, LessonError
from attnviz.lessons.question import COVERS, Option, Range

MOST_CELLS, MOST_OPTIONS = 5, 8
SPOTS = ("row", "map", "grid", "strip")  # what the third hint falls on


def field_error(sentence: str, in_file: str = "", *, field: str = "") -> LessonError:
    """Return a LessonError with one mistake, about the field that is being read or about the field `field`."""
    return LessonError(Fault(sentence, field, in_file))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise field_error("is one text", "put it in quotes if it holds a colon")
    return value.strip()


def _read_each(values: Sequence[Any], read: Callable[[Any], Any]) -> tuple:
    """Apply `read` to all values. Raises LessonError with the mistakes in all of them."""
    faults, found = FaultList(), []
    for value in values:
        with faults.collect():
            found.append(read(value))
    faults.raise_any()
    return tuple(found)


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > 2:
        raise field_error("holds at most two texts, a nudge and a suggestion", "write each after a dash")
    return _read_each(value, _text)


def _one_of(*allowed: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in allowed:
            raise field_error(f"is one of {', '.join(allowed)}, not “{shorten_value(value)}”")
        return value

    return read


def is_whole(value: Any, least: int, most: int) -> bool:
    """Check whether a value is the text of a whole number from `least` to `most`, of nine digits at most."""
    return isinstance(value, str) and value.isdecimal() and len(value) < 10 and least <= int(value) <= most


def _whole_number(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if not is_whole(value, least, most):
            raise field_error(f"is a whole number from {least} to {most}, not “{shorten_value(value)}”")
        return int(value)

    return read


def _number(value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = float("nan")
    if not 0 <= found < float("inf"):
        raise field_error(f"is a number from 0 on, not “{shorten_value(value)}”")
    return found


def _heads(value: Any) -> tuple[tuple[int, int], ...]:
    """Read heads as authors write them: `[L1 H2, L2 H5]`."""
    found = _read_each(value if isinstance(value, list) else [value], _head)
    if not 2 <= len(found) <= MOST_OPTIONS or len(set(found)) < len(found):
        raise field_error(f"names 2 to {MOST_OPTIONS} heads, each once")
    return found


def _head(value: Any) -> tuple[int, int]:
    text = value if isinstance(value, str) else ""
    layer, _, head = text.replace(" ", "").upper().removeprefix("L").partition("H")
    if not (layer.isdecimal() and head.isdecimal() and len(layer) < 4 and len(head) < 4):
        raise field_error(f"names heads such as L1 H2, which “{shorten_value(value)}” is not", "write [L1 H2, L2 H5]")
    return int(layer), int(head)


def _options(value: Any) -> tuple[Option, ...]:
    if not isinstance(value, list) or not 2 <= len(value) <= MOST_OPTIONS:
        raise field_error(f"holds 2 to {MOST_OPTIONS} sentences", "write each after a dash")
    return _read_each(value, _option)


def _option(part: Any) -> Option:
    if isinstance(part, str):
        return Option(part)
    if not isinstance(part, dict) or set(part) != {"say", "when"}:
        how = "write “- …”, in quotes if it holds a colon, or “- say: …” with “when: 0 to 0.5”"
        raise field_error("holds sentences, or sentences with a range", how)
    return Option(_text(part["say"]), _range(part["when"]))


def _range(value: Any) -> Range:
    low, _, high = (value if isinstance(value, str) else "").partition(" to ")
    try:
        found = Range(float(low), float(high or low))
    except ValueError:
        found = Range(1, 0)
    if not found.low <= found.high:
        raise field_error(f"is a range such as “0 to 0.5”, or one number, not “{shorten_value(value)}”", field="when")
    return found


def _measure_options(value: Any) -> Mapping[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise field_error("is what the measure asks for, such as fill: -1e9", "write “with: {fill: -1e9}”")
    return value


def shorten_value(value: Any) -> str:
    """Return the first 40 characters of a text, to quote it in a sentence; or "a list" or "a mapping"."""
    return value[:40] if isinstance(value, str) else "a list" if isinstance(value, list) else "a mapping"


def _right_option(value: Any) -> int:
    return _whole_number(1, MOST_OPTIONS)(value) - 1


_flag = _one_of("true", "false")
READ: Mapping[str, Callable[[Any], Any]] = {
    "kind": _text,
    "ask": _text,
    "hints": _texts,
    "show": _one_of(*SPOTS),
    "why": _text,
    "cover": _one_of(*COVERS),
    "row": _text,
    "col": _text,
    "most": _whole_number(1, MOST_CELLS),
    "heads": _heads,
    "by": _text,
    "least": lambda value: _flag(value) == "true",
    "measure": _text,
    "with": _measure_options,
    "within": _number,
    "unit": _text,
    "options": _options,
    "right": _right_option,
}
