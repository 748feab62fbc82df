"""Ignore widget values that the client sent before it saw a server-side update.

With each choice a browser sends the values of all widgets. Where Back, an example or another model has just set one, or
taken it away, and the news is still on its way, the value from before comes back and looks to Streamlit like a choice:
it would undo what was set. So the times at which widgets are set are numbered, and a hidden field, sent after them,
brings the number to the browser and back: beside an older number, a value from before is no choice.
"""

import time
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

_KEY, _FIELD, _PLACE = "set-here", "heard", "heard-slot"


@dataclass
class _SetHere:
    """`number` counts from the session's start, in milliseconds since 1970: above what the session before has counted.
    `former` are the values that a widget had before that number. `drawn` are the widgets of this run and their values,
    `shown` those of the last run that came to its end.
    """

    page: str
    number: int = field(default_factory=lambda: int(time.time() * 1000))
    former: dict[str, tuple[int, list[Any]]] = field(default_factory=dict)
    drawn: dict[str, Any] = field(default_factory=dict)
    shown: dict[str, Any] = field(default_factory=dict)


def begin(page: str) -> None:
    """Call once a run, where the hidden field may stand: another page has other widgets."""
    found: _SetHere = st.session_state.setdefault(_KEY, _SetHere(page))
    if found.page != page:
        found.page, found.former, found.shown = page, {}, {}
    found.drawn = {}
    st.session_state[_PLACE] = st.container(key="heard-field")


def draw(key: str, value: Any) -> None:
    """Call before a widget is drawn with this value, whether it is set here or has it from the browser."""
    found: _SetHere | None = st.session_state.get(_KEY)
    if found is None:
        return
    if key in st.session_state and st.session_state[key] != value:
        _remember(found, key, st.session_state[key])
    found.drawn[key] = value


def is_stale(key: str) -> bool:
    """Check whether a widget's changed value is its former one, from a browser that has not heard of another."""
    found: _SetHere | None = st.session_state.get(_KEY)
    number, values = found.former.get(key, (0, [])) if found is not None else (0, [])
    return number > _newest_seen() and st.session_state[key] in values


def end() -> None:
    """Call when the page's widgets have been drawn, once or more a run: the browser hears of them before the number."""
    place, found = st.session_state.pop(_PLACE, None), st.session_state.get(_KEY)
    if place is None or found is None:
        return
    for key in found.shown.keys() - found.drawn.keys():
        _remember(found, key, found.shown[key])
    found.shown = found.drawn
    if st.session_state.get(_FIELD) != str(found.number):
        st.session_state[_FIELD] = str(found.number)
    place.text_input(_FIELD, key=_FIELD)


def _remember(found: _SetHere, key: str, value: Any) -> None:
    number, values = found.former.get(key, (0, []))
    has_heard = number <= _newest_seen()
    if has_heard or value not in values:
        found.number += 1
        found.former[key] = found.number, [value] if has_heard else [*values, value]


def _newest_seen() -> int:
    """Return the newest number that the browser has; one above all where it has no such field."""
    said = str(st.session_state.get(_FIELD, ""))
    return int(said) if said.isdecimal() and len(said) < 20 else 1 << 63
