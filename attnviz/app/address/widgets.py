"""Streamlit widgets whose value is a text of the page's address."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from attnviz.app.address import persistent, stale_values


def select(
    name: str, label: str, options: Sequence[Any], value: Any, shown: Callable[[Any], str] = str, *, means: str = ""
) -> None:
    """Draw a list whose choice is written into the address parameter `name`. `means` is the label's tooltip."""

    def draw(**more: Any) -> Any:
        return st.selectbox(label, options, format_func=shown, help=means or None, **more)

    _show(name, value, {"index": list(options).index(value)}, draw, shown(value))


def slider(name: str, label: str, options: Sequence[Any], value: Any, shown: Callable[[Any], str] = str) -> None:
    """Draw a slider over ordered options whose choice is written into the text `name`; arrow keys move the slider."""
    start = {"value": value}
    _show(name, value, start, lambda **more: st.select_slider(label, options, format_func=shown, **more))


def segments(
    name: str, label: str, options: Mapping[str, str], value: str, *, hide_label: bool = False, means: str = ""
) -> None:
    """Draw a few choices side by side, each with its title. The choice is written into the text `name`.

    `means` explains the label at the pointer.
    """
    look: dict[str, Any] = {"label_visibility": "collapsed" if hide_label else "visible", "help": means or None}

    def draw(**more: Any) -> Any:
        return st.segmented_control(label, list(options), format_func=options.__getitem__, **look, **more)

    _show(name, value, {"default": value}, draw)


def text_field(name: str, label: str, value: str, *, limit: int, help_text: str | None = None, empty: str = "") -> None:
    """Draw a text field for at most `limit` characters; `empty` is its placeholder, which says what an empty field
    means.
    """

    def draw(**more: Any) -> str | None:
        return st.text_input(label, max_chars=limit, placeholder=empty or None, help=help_text, **more)

    _show(name, value, {"value": value}, draw)


def _show(name: str, value: Any, start: Mapping[str, Any], draw: Callable[..., Any], title: str = "") -> None:
    show(f"pick-{name}", value, start, draw, lambda: write(name), title)


def show(
    key: str, value: Any, start: Mapping[str, Any], draw: Callable[..., Any], take: Callable[[], None], title: str = ""
) -> Any:
    """Draw a widget that shows `value`, and return its value. `take` is called after a choice, before the next run.

    `draw` draws the Streamlit widget, and `start` has the keyword arguments with which it first shows `value`. If the
    name of a value in a list can change while the value stays the same, pass the name as `title`; the browser would
    otherwise go on showing the old name. The first choice after a restart of the server arrives with the first run of a
    new session. Streamlit does not know the widget then and reports no change, so this function calls `take` itself.
    """

    def hear() -> None:
        # It is gone where a page was left before it was drawn: what was heard is old.
        if key in st.session_state and not stale_values.is_stale(key):
            take()

    is_drawn = persistent.is_drawn(key)
    if not is_drawn:
        st.session_state.pop(key, None)  # of another page, where a run was cut short
    stale_values.draw(key, value)
    is_renamed = st.session_state.get(titled := f"{key}-title", title) != title
    st.session_state[titled] = title
    is_shown = is_drawn and st.session_state[key] == value
    if is_shown and not is_renamed:  # set again, it would undo what is just being typed
        return draw(key=key, on_change=hear, **start)
    if is_drawn:
        st.session_state[key] = value
        return draw(key=key, on_change=hear)
    chosen = draw(key=key, on_change=hear, **start)
    if chosen != value:
        take()
        st.rerun()
    return chosen


def write(name: str) -> None:
    """Copy the value of the Streamlit widget with the key `pick-{name}` into the address parameter `name`."""
    value = st.session_state.get(f"pick-{name}")
    if value is not None:
        persistent.write({name: str(value)})
