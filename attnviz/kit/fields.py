"""Declarations of the fields in the state of a picture or page: name, type, default and options.

A state is a frozen dataclass whose fields are declared with the functions below. `read` makes a state from address
parameters, and `write` turns it back into them; `attnviz.kit.browser_view` does the same for the browser. What depends
on a trace (kinds, counts) is passed as `bounds`, by field name, or as a function of the values read before.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

MEAN = "mean"  # mean over all layers or heads
State = TypeVar("State")
# say(allowed, used, part=""): what a text, or a part of it, may be, and what is shown instead; or say(sentence=…).
Say = Callable[..., None]
Read = Callable[[str, Any, Any, Say], Any]  # (text, bound, default, say)


# Of a value that a browser sends: a type; one of several shapes, as a tuple; a list of things of one shape, [shape]; a
# list of as many things as there are shapes, [shape, shape].
Shape = type | tuple[Any, ...] | list[Any]
AT = (int, str)  # a layer or a head, or "mean"


@dataclass(frozen=True)
class Spec:
    """How a field is written in an address, under `name` if that differs from the field's name.

    `shape` is the type of its value in a browser's view, and `options` are the possible values with their titles.
    """

    read: Read
    write: Callable[[Any], str] = str
    name: str = ""
    shape: Shape = str
    options: Mapping[Any, str] = field(default_factory=dict)


class Problem(str):
    """Message about an invalid parameter `name`.

    `is_part` is True if only a part of the parameter is invalid. `allowed` is the part of the message that says what is
    allowed.
    """

    name: str
    is_part: bool
    allowed: str


class PageState:
    """Base class of a page's state. Its declared fields are those that a link contains."""

    def to_params(self) -> dict[str, str]:
        """Return every declared field as an address parameter."""
        return write(self)


def declare(
    default: Any, read: Read, write: Callable[[Any], str] = str, *, name: str = "", shape: Shape = str,
    options: Mapping[Any, str] | None = None,
) -> Any:  # fmt: skip
    """Declare a field of a state with its own functions for reading and writing."""
    return field(default=default, metadata={"spec": Spec(read, write, name, shape, options or {})})


def declare_unlinked(default: Any, shape: Shape) -> Any:
    """Declare a field that only browser and picture exchange, and that links do not contain."""
    return field(default=default, metadata={"shape": shape})


def choice(default: Any, options: Sequence[Any] | Mapping[Any, str] = (), *, name: str = "") -> Any:
    """Declare a field with a few possible values. They are `options`, optionally with titles, or the field's bound."""

    def read(text: str, bound: Sequence[Any] | None, default: Any, say: Say) -> Any:
        known = {str(option): option for option in bound or options}
        if text not in known:
            say(f"it can be {', '.join(known)}", default)
        return known.get(text, default)

    titles = options if isinstance(options, Mapping) else {}
    shape = (str, type(None)) if default is None else type(default)
    return declare(default, read, _or_none, name=name, shape=shape, options=titles)


def index(default: int | str = 0, *, of: str, name: str = "") -> Any:
    """Declare the index of a layer or head (`of`); use `or_mean` if the mean is possible too."""
    return declare(default, _index(of, knows_mean=False), name=name, shape=AT)


def or_mean(default: int | str = 0, *, of: str, name: str = "") -> Any:
    """Declare the index of a layer or head, or "mean"."""
    return declare(default, _index(of, knows_mean=True), name=name, shape=AT)


def _index(of: str, *, knows_mean: bool) -> Read:
    def read(text: str, count: int, default: Any, say: Say) -> Any:
        if text == MEAN:  # valid on another page, so there is no message
            return MEAN if knows_mean else min(default, count - 1)
        if is_index(text, count):
            return int(text)
        say(f"this model has {of}s 0 to {count - 1}", default)
        return default

    return read


def whole_number(default: int | None = None, count: int = 10_000, *, used: str = "", name: str = "") -> Any:
    """Declare a whole number from 0 to `count - 1`; `used` says in messages what the default means."""

    def read(text: str, bound: int | None, default: Any, say: Say) -> Any:
        if is_index(text, most := bound or count):
            return int(text)
        allowed = "it is a position counted from 0" if most == 10_000 else f"it is a whole number from 0 to {most - 1}"
        say(allowed, used or ("none" if default is None else default))
        return default

    return declare(default, read, _or_none, name=name, shape=(int, type(None)) if default is None else int)


def number(default: float, low: float, high: float, *, name: str = "") -> Any:
    """Declare a number from `low` to `high`; a whole number if the default is one."""
    kind = type(default)

    def read(text: str, bound: Any, default: Any, say: Say) -> Any:
        value = _number(text)
        if low <= value <= high:  # False for NaN
            return kind(value)
        say(f"it is a number from {low:g} to {high:g}", f"{default:g}")
        return default

    return declare(default, read, name=name, shape=(int, float) if kind is float else int)


def flag(*, default: bool = False) -> Any:
    """Declare a switch: 1 or 0 in an address, true or false in older links."""
    return declare(
        default,
        lambda text, bound, default, say: read_flag(text, default, say),
        lambda value: "1" if value else "0",
        shape=(bool, int),
    )


def read_flag(text: str, default: Any, say: Say, *, more: str = "") -> Any:
    """Parse a switch; `more` names further allowed values in the message."""
    if text not in (known := {"0": False, "1": True, "false": False, "true": True}):
        say(f"it is true{',' if more else ' or'} false{more}", str(default).lower())
    return known.get(text, default)


def text(default: str = "", *, limit: int) -> Any:
    """Declare a typed text of at most `limit` characters; an empty text means the default."""
    return declare(default, lambda text, bound, default, say: text[:limit] if text.strip() else default)


def window(name: str = "") -> Any:
    """Declare the visible part of a map: first row, end of rows, first key, end of keys, such as 0.8.2.10; None
    for all.

    The picture checks whether its map is that large.
    """

    def read(text: str, bound: Any, default: Any, say: Say) -> Any:
        parts = text.split(".")
        if len(parts) == 4 and all(is_index(part) for part in parts):
            top, bottom, left, right = map(int, parts)
            if top < bottom and left < right:
                return top, bottom, left, right
        say("a zoom is given as first row, last row, first key, last key, such as 0.8.2.10", "the whole map")
        return None

    return declare(
        None, read, lambda value: ".".join(map(str, value or ())), name=name, shape=([int, int, int, int], type(None))
    )


def is_index(text: str, count: int = 100_000) -> bool:
    """Return whether a text is a number from 0 to `count - 1`."""
    return text.isdecimal() and len(text) < 6 and int(text) < count


def read(
    state: type[State], texts: Mapping[str, str], bounds: Mapping[str, Any], start: Any = None,
    named: Callable[[str], str] = str, **given: Any,
) -> tuple[State, tuple[Problem, ...]]:  # fmt: skip
    """Parse a state from address parameters, and return it with a message for each invalid one.

    Args:
        state: a dataclass whose fields are declared as above.
        texts: address parameters by name; if one is missing or empty, the value is that of `start`, or the default.
        bounds: possible values by field name.
        start: the state for missing parameters, such as a model's start.
        named: function from a field's usual name in an address to its name in `texts`.
        **given: values of fields that are not in `texts`.
    """
    found, problems = dict(given), list[Problem]()
    for one in fields(state):  # type: ignore[arg-type]
        spec: Spec | None = one.metadata.get("spec")
        if spec is None or one.name in given:
            continue
        name, default = named(spec.name or one.name), getattr(start, one.name, one.default)
        asked, bound = texts.get(name, ""), bounds.get(one.name)
        bound = bound(found) if callable(bound) else bound
        say = _sayer(problems, name, asked)
        found[one.name] = spec.read(asked, bound, default, say) if asked else default
    return state(**found), tuple(problems)


def write(state: Any, named: Callable[[str], str] = str) -> dict[str, str]:
    """Return every declared field as an address parameter; `named` is explained at `read`."""
    return write_view(type(state), {name: getattr(state, name) for name in specs_of(state)}, named)


def write_view(state: type, view: Mapping[str, Any], named: Callable[[str], str] = str) -> dict[str, str]:
    """Return the fields of `state` that a view contains as address parameters; `named` is explained at `read`."""
    return {named(spec.name or name): spec.write(view[name]) for name, spec in specs_of(state).items() if name in view}


def specs_of(state: Any) -> dict[str, Spec]:
    """Return how each declared field is written, by the field's name."""
    return {one.name: one.metadata["spec"] for one in fields(state) if "spec" in one.metadata}


def _sayer(problems: list[Problem], name: str, asked: str) -> Say:
    def say(allowed: str = "", used: object = "", part: str = "", *, sentence: str = "") -> None:
        usual = f"The link asks for {name} “{(part or asked)[:40]}”, but {allowed}; used instead: {used}."
        problem = Problem(sentence or usual)
        problem.name, problem.is_part, problem.allowed = name, bool(part), allowed or sentence
        problems.append(problem)

    return say


def _or_none(value: Any) -> str:
    return "" if value is None else str(value)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
