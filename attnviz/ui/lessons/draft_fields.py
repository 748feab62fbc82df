"""The editor's fields: each shows a text of the draft, and writes it back while it is typed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from attnviz.lessons.draft import MOST_TEXT
from attnviz.ui.address import widgets

_PAUSE = "600ms"


@dataclass(frozen=True)
class Fields:
    """Texts by name, under one `key`; `write` takes over a new one."""

    key: str
    texts: Mapping[str, str]
    write: Callable[[str, str], None]

    def line(self, name: str, label: str, **more: Any) -> None:
        """A line of text."""
        draw = lambda **start: st.text_input(label, max_chars=MOST_TEXT, live=_PAUSE, **more, **start)  # noqa: E731
        self._text(name, draw)

    def area(self, name: str, label: str, *, height: int | Literal["content"] = 90, **more: Any) -> None:
        """Several lines, in a field of that many pixels; the keeper of the draft has them told while they are typed."""
        draw = lambda **start: st.text_area(label, max_chars=MOST_TEXT, height=height, **more, **start)  # noqa: E731
        self._text(name, draw)

    def choose(self, name: str, label: str, titles: Mapping[str, str], **more: Any) -> None:
        """One of `titles`, by the text that stands for it; the first where the text is none of them."""
        value = self.texts.get(name, "")
        self.choose_as(name, label, titles, (value if value in titles else next(iter(titles)), str), **more)

    def choose_as(
        self, name: str, label: str, titles: Mapping[str, str], held: tuple[str, Callable[[str], str]], **more: Any
    ) -> None:
        """As `choose`, where the text is another than the choice: `held` has the choice, and makes the text of one."""
        (value, said), options, key = held, list(titles), f"{self.key}-{name}"

        def draw(**start: Any) -> Any:
            return st.selectbox(label, options, format_func=lambda option: titles.get(option, option), **more, **start)

        def take() -> None:
            self.write(name, said(st.session_state[key]))

        widgets.show(key, value, {"index": options.index(value)}, draw, take)

    def several(self, name: str, label: str, options: list[str], **more: Any) -> None:
        """Some of the options, held as a list with commas."""
        key = f"{self.key}-{name}"
        value = [part for part in (one.strip() for one in self.texts.get(name, "").split(",")) if part in options]

        def take() -> None:
            self.write(name, ", ".join(st.session_state[key]))

        widgets.show(
            key, value, {"default": value}, lambda **start: st.multiselect(label, options, **more, **start), take
        )

    def switch(self, name: str, label: str) -> None:
        """Yes or no, held as "true" or nothing."""
        key, value = f"{self.key}-{name}", self.texts.get(name) == "true"

        def take() -> None:
            self.write(name, "true" if st.session_state[key] else "")

        widgets.show(key, value, {"value": value}, lambda **start: st.checkbox(label, **start), take)

    def _text(self, name: str, draw: Callable[..., Any]) -> None:
        key, value = f"{self.key}-{name}", self.texts.get(name, "")
        widgets.show(key, value, {"value": value}, draw, lambda: self.write(name, st.session_state[key] or ""))
