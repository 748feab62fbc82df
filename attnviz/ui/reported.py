"""What a component tells of the visitor's choice, where it is what it can tell; anybody can send anything."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

MOST_TEXT = 1 << 20  # characters: a large painted mask, as text
MOST_PARTS = 4096  # heads of a list
Shape = type | tuple[type, ...]
TEXT, NUMBER, SITE = str, int, (int, str)  # a layer or a head may also be "mean"
OPTIONAL_TEXT, OPTIONAL_NUMBER = (str, type(None)), (int, type(None))
SWITCH = (bool, int)


def reported(key: str, name: str, fields: Mapping[str, Shape]) -> dict[str, Any] | None:
    """What the component of that key holds under `name`; None unless every one of `fields` is there, of its type.

    Fields besides these are left out, and so is what is too large for anything that a component of ours says.
    """
    said = st.session_state.get(key)
    found = said.get(name) if isinstance(said, Mapping) else None
    if not isinstance(found, Mapping) or not all(
        field in found and is_of(found[field], shape) for field, shape in fields.items()
    ):
        return None
    return {field: found[field] for field in fields}


def is_of(value: Any, shape: Shape) -> bool:
    """Whether a value has that type and a size that may be; a list holds numbers, texts and lists of these."""
    if isinstance(value, bool) and bool not in (shape if isinstance(shape, tuple) else (shape,)):
        return False
    return isinstance(value, shape) and _is_plain(value, depth=3)


def _is_plain(value: Any, *, depth: int) -> bool:
    if isinstance(value, str):
        return len(value) <= MOST_TEXT and value.isprintable()
    if isinstance(value, int):
        return abs(value) < 1 << 53  # as far as a browser counts
    if isinstance(value, Sequence):
        return depth > 0 and len(value) <= MOST_PARTS and all(_is_plain(part, depth=depth - 1) for part in value)
    return value is None
