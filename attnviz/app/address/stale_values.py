"""Ignore widget values that the client sent before it saw a server-side update.

With each choice a browser sends the values of all widgets. Suppose that Back, an example or another model has just set
or removed a widget's value, and the browser has not received the update yet. Then the browser sends the former value,
which Streamlit takes for a choice that undoes the update. To prevent this, each update gets a number. The server sends
the number in a hidden field after the widgets, and the browser returns the field with all other values. If the returned
number is older than a widget's last update, a former value of that widget is not a choice.
"""

import time
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

_KEY, _FIELD, _PLACE = "set-here", "heard", "heard-slot"


@dataclass
class _SetHere:
    """The values that the server has set, with the numbers of these updates.

    `number` starts as the session's start time in milliseconds since 1970, so that it exceeds every number of an
    earlier session. `former` has, by widget, the number of its last update and the values before it. `drawn` has the
    widgets of this run with their values, `shown` those of the last run that finished.
    """

    page: str
    number: int = field(default_factory=lambda: int(time.time() * 1000))
    former: dict[str, tuple[int, list[Any]]] = field(default_factory=dict)
    drawn: dict[str, Any] = field(default_factory=dict)
    shown: dict[str, Any] = field(default_factory=dict)


def begin(page: str) -> None:
    """Prepare a run, and reserve the place of the hidden field. Call this once per run; another page starts afresh."""
    found: _SetHere = st.session_state.setdefault(_KEY, _SetHere(page))
    if found.page != page:
        found.page, found.former, found.shown = page, {}, {}
    found.drawn = {}
    st.session_state[_PLACE] = st.container(key="heard-field")


def draw(key: str, value: Any) -> None:
    """Note the value with which a widget is about to be drawn, whether the server or the browser has set the value."""
    found: _SetHere | None = st.session_state.get(_KEY)
    if found is None:
        return
    if key in st.session_state and st.session_state[key] != value:
        _remember(found, key, st.session_state[key])
    found.drawn[key] = value


def is_stale(key: str) -> bool:
    """Check whether a widget's new value is a former one, sent by a browser that has not received the update yet."""
    found: _SetHere | None = st.session_state.get(_KEY)
    number, values = found.former.get(key, (0, [])) if found is not None else (0, [])
    return number > _newest_seen() and st.session_state[key] in values


def end() -> None:
    """Send the hidden field with the newest number. Call this after the page's widgets have been drawn."""
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
    """Return the newest number that the browser has received, or a very large one if it has no hidden field."""
    said = str(st.session_state.get(_FIELD, ""))
    return int(said) if said.isdecimal() and len(said) < 20 else 1 << 63
