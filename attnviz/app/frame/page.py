"""The page that a run draws: places in its frame, and notes above its picture."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Self

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app.markdown import literal

_KEY = "_attnviz_page"


@dataclass
class Page:
    """One run's page. `notes` are shown when the page ends; the notes of a button's callback are shown by the run
    after it.

    `refusal` is why the bar's model cannot be loaded. Each place exists once the frame has drawn it: `above` the
    picture, `running` over the link to copy, and the `link` itself. `reading` is the place of a conversation as the
    model reads it; None without one. `when_left` has what is called once the visitor has gone on to another page, by
    name: it gives back the memory that the page's last run took.
    """

    title: str = ""
    notes: list[str] = field(default_factory=list)
    refusal: str = ""
    reading: DeltaGenerator | None = None
    when_left: dict[str, Callable[[], None]] = field(default_factory=dict)
    above: DeltaGenerator = field(init=False)
    running: DeltaGenerator = field(init=False)
    link: DeltaGenerator = field(init=False)

    @classmethod
    def begin(cls, title: str) -> Self:
        """Begin a run's page, with the notes that callbacks have left. Where the visitor has left another page, let
        that page give its memory back.
        """
        before = current_page()
        made = cls(title, notes=before.notes)
        st.session_state[_KEY] = made
        if before.title == title:
            made.when_left = before.when_left
        else:
            for give_back in before.when_left.values():
                give_back()
        return made

    def add(self, *sentences: str) -> None:
        """Note sentences for the end of the page, each once."""
        self.notes.extend(sentence for sentence in sentences if sentence not in self.notes)

    def say(self, *sentences: str) -> None:
        """Show sentences above the picture: on cut texts, and on links that ask for what is missing."""
        for sentence in sentences:
            self.above.info(literal(sentence), icon=":material/info:")

    def say_notes(self, first: Iterable[str] = ()) -> None:
        """Say `first`, then the notes that were left for the end."""
        self.say(*first, *self.notes)
        self.notes.clear()

    def warn(self, *sentences: str) -> None:
        """Show above the picture what cannot be done, and go on."""
        for sentence in sentences:
            self.above.error(literal(sentence), icon=":material/error:")


def current_page() -> Page:
    """Return the page of this visitor's run; before the first one, a page without a title that takes notes."""
    return st.session_state.setdefault(_KEY, Page())
