"""Choices that live in texts which the address says: read with care, shown by widgets, written back by them."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from attnviz.ui.address import persistent


class Reader:
    """Reads texts of a link; a bad one falls back to its default and leaves a sentence in `problems`.

    One that no link brought (the head of another model, of another page) falls back without a word.
    """

    def __init__(self, params: Mapping[str, str]) -> None:
        self.params, self.problems = params, list[str]()
        self.linked = params.linked if isinstance(params, persistent.Texts) else frozenset(params)

    def one_of(self, name: str, allowed: Sequence[str], default: str) -> str:
        """One of a few texts."""
        text = self.params.get(name, "")
        if not text or text in allowed:
            return text or default
        self.say(name, f"it can be {', '.join(allowed)}", default)
        return default

    def index(self, name: str, count: int, default: int = 0) -> int:
        """A number from 0 to `count - 1`. "mean", which another page knows, is the default without a word."""
        text = self.params.get(name, "")
        if not text or text == "mean":
            return min(default, count - 1)
        if text.isdecimal() and len(text) < 6 and int(text) < count:
            return int(text)
        self.say(name, f"this model has {name}s 0 to {count - 1}", default)
        return min(default, count - 1)

    def whole(self, name: str, count: int, default: int | None = None) -> int | None:
        """A whole number from 0 to `count - 1`."""
        text = self.params.get(name, "")
        if not text:
            return default
        if text.isdecimal() and len(text) < 6 and int(text) < count:
            return int(text)
        self.say(name, f"it is a whole number from 0 to {count - 1}", "none" if default is None else default)
        return default

    def number(self, name: str, default: float, *, least: float, most: float) -> float:
        """A number from `least` to `most`."""
        text = self.params.get(name, "")
        try:
            value = float(text) if text else default
        except ValueError:
            value = math.nan
        if least <= value <= most:  # which not-a-number is not
            return value
        self.say(name, f"it is a number from {least:g} to {most:g}", f"{default:g}")
        return default

    def zoom(self) -> tuple[int, int, int, int] | None:
        """Part of a map: first row, row after the last, first key, key after the last, such as 0.8.2.10.

        Whether the map is as long as that, the picture knows.
        """
        text = self.params.get("zoom", "")
        if not text:
            return None
        parts = text.split(".")
        if len(parts) == 4 and all(part.isdecimal() and len(part) < 6 for part in parts):
            top, bottom, left, right = map(int, parts)
            if top < bottom and left < right:
                return top, bottom, left, right
        self.say("zoom", "a zoom is first and last row, first and last key, such as 0.8.2.10", "the whole map")
        return None

    def say(self, name: str, allowed: str, used: object, *, part: str = "") -> None:
        """Note that the text `name`, or a `part` of it, asks for what is not there."""
        if name not in self.linked:
            if not part and isinstance(self.params, persistent.Texts):
                persistent.set_aside(name)
            return
        text = (part or self.params.get(name, ""))[:40]
        self.problems.append(f"The link asks for {name} “{text}”, but {allowed}; shown is {used}.")


def pick(
    name: str, label: str, options: Sequence[Any], value: Any, shown: Callable[[Any], str] = str, *, means: str = ""
) -> None:
    """A list to choose from; the choice goes into the text `name`. `means` says what the label means."""

    def draw(**more: Any) -> Any:
        return st.selectbox(label, options, format_func=shown, help=means or None, **more)

    _show(name, value, {"index": list(options).index(value)}, draw)


def walk(name: str, label: str, options: Sequence[Any], value: Any, shown: Callable[[Any], str] = str) -> None:
    """A slider through options that stand in an order; arrow keys walk it."""
    start = {"value": value}
    _show(name, value, start, lambda **more: st.select_slider(label, options, format_func=shown, **more))


def segments(
    name: str, label: str, options: Mapping[str, str], value: str, *, hide_label: bool = False, means: str = ""
) -> None:
    """A few choices side by side, each with its title; the choice goes into the text `name`. `means` says what the
    label means.
    """
    look: dict[str, Any] = {"label_visibility": "collapsed" if hide_label else "visible", "help": means or None}

    def draw(**more: Any) -> Any:
        return st.segmented_control(label, list(options), format_func=options.__getitem__, **look, **more)

    _show(name, value, {"default": value}, draw)


def typed(name: str, label: str, value: str, *, limit: int, help_text: str | None = None, empty: str = "") -> None:
    """A line of text of at most `limit` characters; `empty` says what no text means."""

    def draw(**more: Any) -> str | None:
        return st.text_input(label, max_chars=limit, placeholder=empty or None, help=help_text, **more)

    _show(name, value, {"value": value}, draw)


def _show(name: str, value: Any, start: Mapping[str, Any], draw: Callable[..., Any]) -> None:
    show(f"pick-{name}", value, start, draw, lambda: take(name))


def show(key: str, value: Any, start: Mapping[str, Any], draw: Callable[..., Any], take: Callable[[], None]) -> Any:
    """Draw a widget that shows `value`, and what stands in it; `take` hears of a choice before the next run.

    `start` is how `draw` is told what to begin with. The first choice after a restart of the server comes with the
    first run of a new session: Streamlit knows no widget then whose change it could tell, so that it is taken here.
    """
    if persistent.is_drawn(key):
        if st.session_state[key] == value:  # set again, it would undo what is just being typed
            return draw(key=key, on_change=take, **start)
        st.session_state[key] = value
        return draw(key=key, on_change=take)
    st.session_state.pop(key, None)  # of another page, where a run was cut short
    chosen = draw(key=key, on_change=take, **start)
    if chosen != value:
        take()
        st.rerun()
    return chosen


def take(name: str) -> None:
    """Write what the widget `pick-name` holds into the text `name`: for widgets that are not made here."""
    value = st.session_state.get(f"pick-{name}")
    if value is not None:
        persistent.write({name: str(value)})
