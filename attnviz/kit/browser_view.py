"""The `view` of a payload, which is a picture's state in the browser: making it, and validating what the
browser reports.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from attnviz.kit.fields import Shape, specs_of
from attnviz.kit.wire import Payload

MOST_TEXT = 1 << 20  # maximum characters, enough for a large painted mask
MOST_PARTS = 4096  # maximum length of a list, such as of heads


def to_view(state: Any) -> dict[str, Any]:
    """Return a state as it is sent to the browser: every declared field by its name, with tuples as lists."""
    return {name: to_list(getattr(state, name)) for name in shapes_of(type(state))}


def from_view(state: type, told: Any) -> dict[str, Any] | None:
    """Validate a view that a browser sent, and return its values by the field names of `state`, with lists as tuples.

    Missing and undeclared fields are left out. Return None if any value has the wrong type or is larger than what our
    scripts send, because a client can send anything.
    """
    if not isinstance(told, Mapping):
        return None
    shapes = {name: shape for name, shape in shapes_of(state).items() if name in told}
    if not all(is_of(told[name], shape) for name, shape in shapes.items()):
        return None
    return {name: _to_tuple(told[name]) for name in shapes}


def add_view(payload: Payload, state: Any) -> Payload:
    """Return a payload with a state as its view, and with the options and defaults of the state's fields in its
    header.
    """
    return with_declaration(payload, type(state)).with_view(to_view(state))


def with_declaration(payload: Payload, state: type) -> Payload:
    """Add the options of a state's fields, and their defaults, to a payload's header."""
    return payload._replace(header={**payload.header, "options": options_of(state), "defaults": to_view(state())})


def options_of(state: type) -> dict[str, list[list[Any]]]:
    """Return the options of a state's fields with their titles, in the form used in a payload's header."""
    return {
        name: [[*option] for option in spec.options.items()] for name, spec in specs_of(state).items() if spec.options
    }


def is_of(value: Any, shape: Shape) -> bool:
    """Return whether a value has the declared type, and is not larger than what our scripts send."""
    if isinstance(shape, tuple):
        return any(is_of(value, one) for one in shape)
    if isinstance(shape, list):
        if not isinstance(value, list) or len(value) > MOST_PARTS:
            return False
        shapes = shape * len(value) if len(shape) == 1 else shape
        return len(value) == len(shapes) and all(map(is_of, value, shapes))
    if isinstance(value, bool) and shape is not bool:
        return False
    return isinstance(value, shape) and _is_plain(value, depth=3)


def _is_plain(value: Any, *, depth: int) -> bool:
    if isinstance(value, str):
        return len(value) <= MOST_TEXT and value.isprintable()
    if isinstance(value, int | float):
        return abs(value) < 1 << 53  # largest exact integer in JavaScript
    if isinstance(value, Sequence):
        return depth > 0 and len(value) <= MOST_PARTS and all(_is_plain(part, depth=depth - 1) for part in value)
    return value is None


def shapes_of(state: type) -> dict[str, Shape]:
    """Return the type of each declared field's value in a view, by the field's name."""
    unlinked = {one.name: one.metadata["shape"] for one in fields(state) if "shape" in one.metadata}
    return {name: spec.shape for name, spec in specs_of(state).items()} | unlinked


def to_list(value: Any) -> Any:
    """Return a value with tuples converted to lists, as in a view."""
    return [to_list(part) for part in value] if isinstance(value, tuple | list) else value


def _to_tuple(value: Any) -> Any:
    return tuple(_to_tuple(part) for part in value) if isinstance(value, tuple | list) else value
