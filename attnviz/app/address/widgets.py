"""Widgets that show a choice and write it back into the texts that the address says."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from attnviz.app.address import persistent, stale_values


def select(
    name: str, label: str, options: Sequence[Any], value: Any, shown: Callable[[Any], str] = str, *, means: str = ""
) -> None:
    """Draw a list to choose from; the choice goes into the text `name`. `means` says what the label means."""

    def draw(**more: Any) -> Any:
        return st.selectbox(label, options, format_func=shown, help=means or None, **more)

    _show(name, value, {"index": list(options).index(value)}, draw, shown(value))


def slider(name: str, label: str, options: Sequence[Any], value: Any, shown: Callable[[Any], str] = str) -> None:
    """Draw a slider through options that stand in an order; arrow keys walk it."""
    start = {"value": value}
    _show(name, value, start, lambda **more: st.select_slider(label, options, format_func=shown, **more))


def segments(
    name: str, label: str, options: Mapping[str, str], value: str, *, hide_label: bool = False, means: str = ""
) -> None:
    """Draw a few choices side by side, each with its title; the choice goes into the text `name`. `means` says what the
    label means.
    """
    look: dict[str, Any] = {"label_visibility": "collapsed" if hide_label else "visible", "help": means or None}

    def draw(**more: Any) -> Any:
        return st.segmented_control(label, list(options), format_func=options.__getitem__, **look, **more)

    _show(name, value, {"default": value}, draw)


def text_field(name: str, label: str, value: str, *, limit: int, help_text: str | None = None, empty: str = "") -> None:
    """Draw a line of text of at most `limit` characters; `empty` says what no text means."""

    def draw(**more: Any) -> str | None:
        return st.text_input(label, max_chars=limit, placeholder=empty or None, help=help_text, **more)

    _show(name, value, {"value": value}, draw)


def _show(name: str, value: Any, start: Mapping[str, Any], draw: Callable[..., Any], title: str = "") -> None:
    show(f"pick-{name}", value, start, draw, lambda: write(name), title)


def show(
    key: str, value: Any, start: Mapping[str, Any], draw: Callable[..., Any], take: Callable[[], None], title: str = ""
) -> Any:
    """Draw a widget that shows `value`, and return its value; `take` is called with a choice before the next run.

    `start` are the arguments that give `draw` its first value. `title` is how a list names the value, where that may
    change while the value stays: the browser keeps the title that it has until the value is set again. The first choice
    after a restart of the server comes with the first run of a new session: Streamlit does not know the widget then and
    reports no change, so it is taken here.
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
    """Write what the widget `pick-name` holds into the text `name`: for widgets that are not made here."""
    value = st.session_state.get(f"pick-{name}")
    if value is not None:
        persistent.write({name: str(value)})
