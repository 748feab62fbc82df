"""Choices that live in texts which the address keeps: read with care, shown by widgets, written back by them."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st


class Reader:
    """Reads texts of a link; a bad one falls back to its default and leaves a sentence in `problems`."""

    def __init__(self, params: Mapping[str, str]) -> None:
        self.params, self.problems = params, list[str]()

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
        text = (part or self.params.get(name, ""))[:40]
        self.problems.append(f"The link asks for {name} “{text}”, but {allowed}; shown is {used}.")


def linked(names: Sequence[str]) -> dict[str, str]:
    """The texts that the address holds, in widgets that nobody sees."""
    with st.container(key="link-state"):
        return {name: st.text_input(name, key=name, bind="query-params") or "" for name in names}


def pick(
    name: str, label: str, options: Sequence[Any], value: Any, shown: Callable[[Any], str] = str, **rest: Any
) -> None:
    """A list to choose from; the choice goes into the text `name`."""
    st.session_state[f"pick-{name}"] = value
    st.selectbox(label, options, key=f"pick-{name}", format_func=shown, on_change=take, args=(name,), **rest)


def walk(name: str, label: str, options: Sequence[Any], value: Any, shown: Callable[[Any], str] = str) -> None:
    """A slider through options that stand in an order; arrow keys walk it."""
    st.session_state[f"pick-{name}"] = value
    st.select_slider(label, options, key=f"pick-{name}", format_func=shown, on_change=take, args=(name,))


def segments(name: str, label: str, options: Mapping[str, str], value: str, *, hide_label: bool = False) -> None:
    """A few choices side by side, each with its title; the choice goes into the text `name`."""
    st.session_state[f"pick-{name}"] = value
    st.segmented_control(
        label,
        list(options),
        key=f"pick-{name}",
        format_func=options.__getitem__,
        on_change=take,
        args=(name,),
        label_visibility="collapsed" if hide_label else "visible",
    )


def typed(name: str, label: str, value: str, *, limit: int, help_text: str | None = None, empty: str = "") -> None:
    """A line of text of at most `limit` characters; `empty` says what no text means."""
    st.session_state[f"pick-{name}"] = value
    st.text_input(
        label,
        key=f"pick-{name}",
        max_chars=limit,
        placeholder=empty or None,
        on_change=take,
        args=(name,),
        help=help_text,
    )


def take(name: str) -> None:
    """Write what the widget `pick-name` holds into the text `name`: for widgets that are not made here."""
    value = st.session_state.get(f"pick-{name}")
    if value is not None:
        st.session_state[name] = str(value)
