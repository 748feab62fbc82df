"""Long work on a page, one pass of the model after another: how far it is, and a button that stops it.

Between two passes the run gives way to other visitors' runs. It ends if its visitor has left or has asked for something
else. Finished passes are kept, so that the same work goes on from there.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.analysis.corpus.cancellable import Cancellable
from attnviz.text.glossary import definition
from attnviz.ui import hosting, layout
from attnviz.ui.cache.pictures import get_or_make
from attnviz.ui.frame.page import current_page

Made = TypeVar("Made")
PATIENCE = 1.0  # seconds of short steps, before a bar is drawn
_STOPPED = "passes-stopped"


def run_cancellable(key: str, asked: object, doing: str, make: Callable[[Cancellable], Made]) -> Made | None:
    """Run `make` with a Cancellable, which shows its progress and keeps its finished passes; None if the visitor
    stopped it.

    `key` names the work, `asked` is its subject: for another subject, the work begins again. `doing` is shown beside
    the count. Work of a single pass draws nothing.
    """
    if is_stopped(key, asked):
        layout.note(f"{doing} was stopped.")
        st.button("Go on", key=f"{key}-again", on_click=_remember, args=(None,), help=definition("Go on"))
        return None

    def keep(name: object, made: Callable[[], Any]) -> Any:
        return get_or_make(f"a pass of {key}", (asked, name), made)

    with _bar(st.empty(), st.empty(), key, asked, lambda done, total: f"{doing}: {done} of {total} runs") as tell:
        return make(Cancellable(tell, keep=keep))


@contextmanager
def show_steps(key: str, asked: object, doing: str) -> Iterator[Cancellable]:
    """Show above the picture how many steps of a decoding are done, and a button that stops it. In the run after it was
    stopped, `is_stopped(key, asked)` is true. A decoding of less than `PATIENCE` seconds shows no bar.
    """
    above = current_page().above

    def words(done: int, total: int) -> str:
        return f"{doing}: {done} of {total} steps"

    with _bar(above.empty(), above.empty(), key, asked, words, term="Stop decoding", after=PATIENCE) as tell:
        yield Cancellable(tell)


def work_without_bar() -> Cancellable:
    """Return a Cancellable for a loop over a few passes: it draws nothing, and between two passes other visitors' runs
    go first. If the visitor has left, the run ends there.
    """
    place = current_page().above.empty()
    return Cancellable(lambda _done, _total: hosting.give_way(place))


def is_stopped(key: str, asked: object) -> bool:
    """Check whether the visitor has stopped this work on this subject."""
    return st.session_state.get(_STOPPED) == (key, asked)


@contextmanager
def _bar(
    queue: DeltaGenerator, place: DeltaGenerator, key: str, asked: object, words: Callable[[int, int], str], *,
    term: str = "Stop", after: float = 0.0,
) -> Iterator[Callable[[int, int], None]]:  # fmt: skip
    """Give what draws a bar and *Stop* in `place` once the work has taken `after` seconds. Between two passes other
    visitors' runs go first. `term` is the button's in the glossary.
    """
    bars: list[DeltaGenerator] = []
    began = time.monotonic()

    def tell(done: int, total: int) -> None:
        if not bars and done < total and time.monotonic() - began >= after:
            with place.container(horizontal=True, vertical_alignment="center", key=f"{key}-progress"):
                bars.append(st.empty())
                st.button("Stop", key=f"{key}-stop", on_click=_remember, args=((key, asked),), help=definition(term))
        for bar in bars:
            bar.progress(min(1.0, done / total), text=words(done, max(done, total)))
        hosting.give_way(queue)

    try:
        yield tell
    finally:
        place.empty()


def forget(key: str) -> None:
    """Let the work of that name begin again where it was stopped."""
    if st.session_state.get(_STOPPED, ("",))[0] == key:
        _remember(None)


def _remember(stopped: tuple[str, object] | None) -> None:
    st.session_state[_STOPPED] = stopped
