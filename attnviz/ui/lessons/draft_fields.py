"""Fields of the editor: each shows a text of the draft, and writes it back while it is typed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from attnviz.lessons.draft import MOST_TEXT
from attnviz.ui.address import widgets

_PAUSE = "600ms"


@dataclass(frozen=True)
class Fields:
    """Texts by name, under one `key`; `write` saves a new one."""

    key: str
    texts: Mapping[str, str]
    write: Callable[[str, str], None]

    def line(self, name: str, label: str, **more: Any) -> None:
        """Draw a field of one line."""
        draw = lambda **start: st.text_input(label, max_chars=MOST_TEXT, live=_PAUSE, **more, **start)  # noqa: E731
        self._text(name, draw)

    def area(self, name: str, label: str, *, height: int | Literal["content"] = 90, **more: Any) -> None:
        """Draw a field of several lines, that many pixels high; the keeper of the draft reports them while they are
        typed.
        """
        draw = lambda **start: st.text_area(label, max_chars=MOST_TEXT, height=height, **more, **start)  # noqa: E731
        self._text(name, draw)

    def choose(self, name: str, label: str, titles: Mapping[str, str], **more: Any) -> None:
        """Draw a choice of `titles` by their keys; the first where the text is none of them."""
        value = self.texts.get(name, "")
        self.choose_as(name, label, titles, (value if value in titles else next(iter(titles)), str), **more)

    def choose_as(
        self, name: str, label: str, titles: Mapping[str, str], held: tuple[str, Callable[[str], str]], **more: Any
    ) -> None:
        """Draw a choice as `choose` does, where the text differs from the choice: `held` has the choice, and the
        function from a choice to its text.
        """
        (value, said), options, key = held, list(titles), f"{self.key}-{name}"

        def draw(**start: Any) -> Any:
            return st.selectbox(label, options, format_func=lambda option: titles.get(option, option), **more, **start)

        def take() -> None:
            self.write(name, said(st.session_state[key]))

        widgets.show(key, value, {"index": options.index(value)}, draw, take)

    def draw_several(self, name: str, label: str, options: list[str], **more: Any) -> None:
        """Draw a choice of some of the options, held as a list with commas."""
        key = f"{self.key}-{name}"
        value = [part for part in (one.strip() for one in self.texts.get(name, "").split(",")) if part in options]

        def take() -> None:
            self.write(name, ", ".join(st.session_state[key]))

        widgets.show(
            key, value, {"default": value}, lambda **start: st.multiselect(label, options, **more, **start), take
        )

    def switch(self, name: str, label: str) -> None:
        """Draw a checkbox, held as "true" or nothing."""
        key, value = f"{self.key}-{name}", self.texts.get(name) == "true"

        def take() -> None:
            self.write(name, "true" if st.session_state[key] else "")

        widgets.show(key, value, {"value": value}, lambda **start: st.checkbox(label, **start), take)

    def _text(self, name: str, draw: Callable[..., Any]) -> None:
        key, value = f"{self.key}-{name}", self.texts.get(name, "")
        widgets.show(key, value, {"value": value}, draw, lambda: self.write(name, st.session_state[key] or ""))
