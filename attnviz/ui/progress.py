"""Long work on a page, one pass of the model after another: how far it is, and a button that stops it.

Between two passes the run gives way to other visitors' runs. It ends if its visitor has left or has asked for something
else. Finished passes are kept, so that the same work goes on from there.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from attnviz.analysis.corpus.cancellable import Cancellable
from attnviz.text.glossary import definition
from attnviz.ui import hosting, layout
from attnviz.ui.cache.pictures import get_or_make
from attnviz.ui.frame.page import current_page

Made = TypeVar("Made")
_STOPPED = "passes-stopped"


def run_cancellable(key: str, asked: object, doing: str, make: Callable[[Cancellable], Made]) -> Made | None:
    """Run `make` with a Cancellable, which shows its progress and keeps its finished passes; None if the visitor
    stopped it.

    `key` names the work, `asked` is its subject: for another subject, the work begins again. `doing` is shown beside
    the count. Work of a single pass draws nothing.
    """
    if st.session_state.get(_STOPPED) == (key, asked):
        layout.note(f"{doing} was stopped.")
        st.button("Go on", key=f"{key}-again", on_click=_remember, args=(None,), help=definition("Go on"))
        return None
    queue, place, bars = st.empty(), st.empty(), []

    def tell(done: int, total: int) -> None:
        if not bars and done < total:
            with place.container(horizontal=True, vertical_alignment="center", key=f"{key}-progress"):
                bars.append(st.empty())
                st.button("Stop", key=f"{key}-stop", on_click=_remember, args=((key, asked),), help=definition("Stop"))
        for bar in bars:
            bar.progress(done / total, text=f"{doing}: {done} of {total} runs")
        hosting.give_way(queue)

    def keep(name: object, made: Callable[[], Any]) -> Any:
        return get_or_make(f"a pass of {key}", (asked, name), made)

    try:
        return make(Cancellable(tell, keep=keep))
    finally:
        place.empty()


def work_without_bar() -> Cancellable:
    """Return a Cancellable for a loop over many short passes, which gives way and ends like other work, but draws
    nothing.
    """
    place = current_page().above.empty()
    return Cancellable(lambda _done, _total: hosting.give_way(place))


def forget(key: str) -> None:
    """Let the work of that name begin again where it was stopped."""
    if st.session_state.get(_STOPPED, ("",))[0] == key:
        _remember(None)


def _remember(stopped: tuple[str, object] | None) -> None:
    st.session_state[_STOPPED] = stopped
