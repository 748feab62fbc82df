"""Long work on a page, one pass of the model after another: how far it is, and a button that stops it.

Between two passes the run gives way to other visitors' runs. It ends if its visitor has left or has asked for something
else. Finished passes are kept, so that the same work goes on from there.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.analysis.cancellable import Cancellable
from attnviz.app import hosting
from attnviz.app.cache.bounded import give_memory_back
from attnviz.app.cache.pictures import get_or_make
from attnviz.app.frame.page import current_page
from attnviz.kit.glossary import definition

if TYPE_CHECKING:
    from attnviz.transformer.probe import Site

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
        current_page().say(f"{doing} was stopped.")
        st.button("Go on", key=f"{key}-again", on_click=_remember, args=(None,), help=definition("Go on"))
        return None

    queue, place = st.empty(), st.empty()
    with _bar(place, key, asked, lambda done, total: f"{doing}: {done} of {total} runs") as draw:
        return make(Cancellable(_giving_way(draw, queue), keep=_keep_as(key, asked)))


@contextmanager
def show_steps(key: str, asked: object, doing: str) -> Iterator[Cancellable]:
    """Show above the picture how many steps of a decoding are done, and a button that stops it. In the run after it was
    stopped, `is_stopped(key, asked)` is true. A decoding of less than `PATIENCE` seconds shows no bar.
    """
    queue, place = current_page().above.empty(), current_page().above.empty()

    def words(done: int, total: int) -> str:
        return f"{doing}: {done} of {total} steps"

    with _bar(place, key, asked, words, term="Stop decoding", after=PATIENCE) as draw:
        yield Cancellable(_giving_way(draw, queue))


def run_pass(key: str, asked: object, layer_count: int, make: Callable[[], Made]) -> Made | None:
    """Run `make`, which runs passes of the model, and show above the picture at which pass and layer it is, with a
    button that stops it; None where the visitor has stopped it. A run of less than `PATIENCE` seconds shows no bar.

    Other visitors' runs do not go first in the middle of a pass, which may hold a lock that they wait for.
    """
    passes = 1
    sites: set[Any] = set()  # of the pass that runs: a site that comes again begins another pass

    def words(done: int, total: int) -> str:
        return f"Running the model: pass {passes}, {done} of {total} layers"

    def count(site: "Site") -> int:
        nonlocal passes
        if site in sites:
            passes += 1
            sites.clear()
        sites.add(site)
        return site.layer

    said = _Words("Running the model on this text", words, "Stop the run", "Run again")
    return _run_listening(said, (key, asked), (layer_count, count), make)


def make_maps(key: str, asked: object, layer_count: int, make: Callable[[], Made]) -> Made | None:
    """Run `make`, which computes every head's map, as `run_pass` runs passes: layer by layer, until it is stopped."""

    def words(done: int, total: int) -> str:
        return f"Making every head's map: {done} of {total} layers"

    said = _Words("Making every head's map", words, "Stop", "Go on")
    return _run_listening(said, (key, asked), (layer_count, lambda site: site.layer), make)


@dataclass(frozen=True)
class _Words:
    """What is said of work: its name, how far it is (of done and total steps), the glossary's term for the button
    *Stop*, and the label of the button that begins the work again.
    """

    name: str
    progress: Callable[[int, int], str]
    stop: str
    again: str


def _run_listening(
    words: _Words, subject: tuple[str, object], layers: tuple[int, Callable[["Site"], int]], make: Callable[[], Made]
) -> Made | None:
    """Run `make` with a bar that goes on at each site that it computes; `layers` are the number of layers, and the
    function that returns how many are done at a site.
    """
    from attnviz.transformer.probe import listen_to_sites  # imports torch, which a page's frame does without

    (key, asked), (layer_count, count), above = subject, layers, current_page().above
    if is_stopped(key, asked):
        current_page().say(f"{words.name} was stopped.")
        above.button(words.again, key=f"{key}-again", on_click=_remember, args=(None,), help=definition(words.again))
        return None
    began = time.monotonic()
    with (
        _bar(above.empty(), key, asked, words.progress, term=words.stop, after=PATIENCE) as draw,
        listen_to_sites(lambda site: draw(count(site), layer_count)),
    ):
        made = make()
    if time.monotonic() - began >= PATIENCE:
        give_memory_back(now_and_then=True)  # of what the work took on its way
    return made


def work_without_bar(key: str = "", asked: object = None) -> Cancellable:
    """Return a Cancellable for a loop over a few passes: it draws nothing, and between two passes other visitors' runs
    go first. If the visitor has left, the run ends there. With a `key`, which names the work, and `asked`, its subject,
    it keeps what is finished.
    """
    place = current_page().above.empty()
    made = Cancellable(lambda _done, _total: hosting.give_way(place))
    return replace(made, keep=_keep_as(key, asked)) if key else made


def run_then_give_way(make: Callable[[], Made]) -> Made:
    """Run a pass of a page that runs several, and let other visitors' runs go first afterwards."""
    made = make()
    work_without_bar().tell(1, 1)
    return made


def _keep_as(key: str, asked: object) -> Callable[[object, Callable[[], Any]], Any]:
    """Return what keeps the finished parts of a work in the cache that all visitors share."""
    return lambda name, make: get_or_make(f"a pass of {key}", (asked, name), make)


def is_stopped(key: str, asked: object) -> bool:
    """Check whether the visitor has stopped this work on this subject."""
    return st.session_state.get(_STOPPED) == (key, asked)


@contextmanager
def _bar(
    place: DeltaGenerator, key: str, asked: object, words: Callable[[int, int], str], *,
    term: str = "Stop", after: float = 0.0,
) -> Iterator[Callable[[int, int], None]]:  # fmt: skip
    """Give what draws a bar and *Stop* in `place` once the work has taken `after` seconds. `term` is the button's in
    the glossary.
    """
    bars: list[DeltaGenerator] = []
    began = time.monotonic()

    def draw(done: int, total: int) -> None:
        if not bars and done < total and time.monotonic() - began >= after:
            with place.container(horizontal=True, vertical_alignment="center", key=f"{key}-progress"):
                bars.append(st.empty())
                st.button("Stop", key=f"{key}-stop", on_click=_remember, args=((key, asked),), help=definition(term))
        for bar in bars:
            bar.progress(min(1.0, done / total), text=words(done, max(done, total)))

    try:
        yield draw
    finally:
        place.empty()


def _giving_way(draw: Callable[[int, int], None], queue: DeltaGenerator) -> Callable[[int, int], None]:
    """Return what draws the bar between two passes, and then lets other visitors' runs go first."""

    def tell(done: int, total: int) -> None:
        draw(done, total)
        hosting.give_way(queue)

    return tell


def forget(key: str) -> None:
    """Let the work of that name begin again where it was stopped."""
    if st.session_state.get(_STOPPED, ("",))[0] == key:
        _remember(None)


def _remember(stopped: tuple[str, object] | None) -> None:
    st.session_state[_STOPPED] = stopped
