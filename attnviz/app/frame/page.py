"""The page that a run draws: its places in the frame, and the notes above its picture."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Self

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app.markdown import literal

_KEY = "_attnviz_page"
_is_part: ContextVar[bool] = ContextVar("is_part", default=False)


@dataclass
class Page:
    """The page of one run.

    `notes` are shown at the end of the run; notes from a button's callback are shown by the run that follows. `refusal`
    says why the top bar's model cannot be loaded. The frame fills these places when it draws them: `above` the picture,
    `running` over the link to copy, the `link` itself, and `reading` for the rendered conversation (None without one).
    `query` is the query string of the link, once it is drawn. `when_left` has functions, by name, that free the page's
    memory once the visitor has opened another page. `said` counts the sentences above the picture.
    """

    title: str = ""
    notes: list[str] = field(default_factory=list)
    refusal: str = ""
    query: str = ""
    said: int = 0
    reading: DeltaGenerator | None = None
    when_left: dict[str, Callable[[], None]] = field(default_factory=dict)
    above: DeltaGenerator = field(init=False)
    running: DeltaGenerator = field(init=False)
    link: DeltaGenerator = field(init=False)

    @classmethod
    def begin(cls, title: str) -> Self:
        """Begin the page of a run, with the notes from callbacks. If the visitor has just left another page, free the
        memory of that page.
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
        """Add notes that are shown at the end of the run, each one once."""
        self.notes.extend(sentence for sentence in sentences if sentence not in self.notes)

    def say(self, *sentences: str) -> None:
        """Show sentences above the picture, such as notes on truncated texts and on links that cannot be followed."""
        for sentence in sentences:
            run_whole()
            self.said += 1
            self.above.info(literal(sentence), icon=":material/info:")

    def say_notes(self, first: Iterable[str] = ()) -> None:
        """Show the sentences in `first`, and then the page's notes."""
        self.say(*first, *self.notes)
        self.notes.clear()

    def warn(self, *sentences: str) -> None:
        """Show errors above the picture, and go on with the run."""
        for sentence in sentences:
            run_whole()
            self.said += 1
            self.above.error(literal(sentence), icon=":material/error:")


def current_page() -> Page:
    """Return the page of this visitor's run.

    Before the first run this is a page without a title, which only takes notes.
    """
    return st.session_state.setdefault(_KEY, Page())


@contextmanager
def running_part() -> Iterator[None]:
    """Mark the run of a fragment alone."""
    token = _is_part.set(True)
    try:
        yield
    finally:
        _is_part.reset(token)


def is_part() -> bool:
    """Check whether only a fragment of the page runs."""
    return _is_part.get()


def run_whole() -> None:
    """Run the whole page, if only a fragment runs: what follows is about the rest of the page, or takes long."""
    if _is_part.get():
        st.rerun()
