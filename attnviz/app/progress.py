"""Progress bar and *Stop* button for long work on a page, which runs the model several times.

Between two passes the run lets other visitors' runs go first. It ends if its visitor has left or has asked for
something else. Finished passes are cached, so that the same work can continue from there.
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
from attnviz.app.frame.page import current_page, is_part
from attnviz.kit.glossary import definition

if TYPE_CHECKING:
    from attnviz.transformer.probe import Site

Made = TypeVar("Made")
PATIENCE = 1.0  # seconds of short steps, before a bar is drawn
_BETWEEN = 0.2  # seconds between two drawings of the same count
_STOPPED = "passes-stopped"


def run_cancellable(key: str, asked: object, doing: str, make: Callable[[Cancellable], Made]) -> Made | None:
    """Run `make` with a Cancellable that shows progress and caches finished passes. Return None if the visitor
    stopped it.

    `key` names the work and `asked` its subject; for another subject the work starts again. `doing` is shown beside the
    count. Work that needs a single pass shows nothing.
    """
    if is_stopped(key, asked):
        current_page().say(f"{doing} was stopped.")
        st.button("Go on", key=f"{key}-again", on_click=_remember, args=(None,), help=definition("Go on"))
        return None

    if is_part():  # whose passes are in the cache, or the whole page runs
        return make(Cancellable(lambda _done, _total: None, keep=_keep_as(key, asked)))
    queue = st.empty()
    with _bar(st.empty, key, asked, lambda done, total: f"{doing}: {done} of {total} runs") as draw:
        return make(Cancellable(_giving_way(draw, queue), keep=_keep_as(key, asked)))


@contextmanager
def show_steps(key: str, asked: object, doing: str) -> Iterator[Cancellable]:
    """Show above the picture how many decoding steps are done, and a button that stops the decoding.

    In the run after the decoding was stopped, `is_stopped(key, asked)` is True. A decoding of less than `PATIENCE`
    seconds shows no bar.
    """
    above = current_page().above
    queue = above.empty()

    def words(done: int, total: int) -> str:
        return f"{doing}: {done} of {total} steps"

    with _bar(above.empty, key, asked, words, term="Stop decoding", after=PATIENCE) as draw:
        yield Cancellable(_giving_way(draw, queue))


def run_pass(key: str, asked: object, layer_count: int, make: Callable[[], Made]) -> Made | None:
    """Run `make`, which runs the model, and show above the picture which pass and layer is being computed.

    Return None if the visitor has stopped the run with the button beside the bar. A run of less than `PATIENCE` seconds
    shows no bar. Other visitors' runs do not go first in the middle of a pass, which may hold a lock that they wait
    for.
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
    """Run `make`, which computes the maps of all heads, with a bar that counts layers.

    Return None if it was stopped.
    """

    def words(done: int, total: int) -> str:
        return f"Making every head's map: {done} of {total} layers"

    said = _Words("Making every head's map", words, "Stop", "Go on")
    return _run_listening(said, (key, asked), (layer_count, lambda site: site.layer), make)


@dataclass(frozen=True)
class _Words:
    """The texts shown for a piece of work.

    `name` is its name, the second field formats its progress from done and total steps, `term` is the glossary's term
    for its *Stop* button, and `again` the label of the button that starts the work again.
    """

    name: str
    progress: Callable[[int, int], str]
    stop: str
    again: str


def _run_listening(
    words: _Words, subject: tuple[str, object], layers: tuple[int, Callable[["Site"], int]], make: Callable[[], Made]
) -> Made | None:
    """Run `make` with a bar that advances at each site (kind and layer) that it computes.

    `layers` has the number of layers, and a function that returns how many layers are done at a site.
    """
    from attnviz.transformer.probe import listen_to_sites  # imports torch, which a page's frame does without

    (key, asked), (layer_count, count), above = subject, layers, current_page().above
    if is_stopped(key, asked):
        current_page().say(f"{words.name} was stopped.")
        above.button(words.again, key=f"{key}-again", on_click=_remember, args=(None,), help=definition(words.again))
        return None
    if is_part():
        return make()
    began = time.monotonic()
    with (
        _bar(above.empty, key, asked, words.progress, term=words.stop, after=PATIENCE) as draw,
        listen_to_sites(lambda site: draw(count(site), layer_count)),
    ):
        made = make()
    if time.monotonic() - began >= PATIENCE:
        give_memory_back(now_and_then=True)  # of what the work took on its way
    return made


def work_without_bar(key: str = "", asked: object = None) -> Cancellable:
    """Return a Cancellable for a loop over a few passes. It draws nothing.

    Between two passes it lets other visitors' runs go first, and ends the run if the visitor has left. With a `key`,
    which names the work, and its subject `asked`, it also caches finished passes.
    """
    place = current_page().above.empty()
    made = Cancellable(lambda _done, _total: hosting.give_way(place))
    return replace(made, keep=_keep_as(key, asked)) if key else made


def run_then_give_way(make: Callable[[], Made]) -> Made:
    """Return `make()`, which is one of several passes on a page, and let other visitors' runs go first afterwards."""
    made = make()
    work_without_bar().tell(1, 1)
    return made


def _keep_as(key: str, asked: object) -> Callable[[object, Callable[[], Any]], Any]:
    """Return a function that caches the finished parts of a piece of work for all visitors."""
    return lambda name, make: get_or_make(f"a pass of {key}", (asked, name), make)


def is_stopped(key: str, asked: object) -> bool:
    """Check whether the visitor has stopped the work named `key` on the subject `asked`."""
    return st.session_state.get(_STOPPED) == (key, asked)


@contextmanager
def _bar(
    begin: Callable[[], DeltaGenerator], key: str, asked: object, words: Callable[[int, int], str], *,
    term: str = "Stop", after: float = 0.0,
) -> Iterator[Callable[[int, int], None]]:  # fmt: skip
    """Yield a function that draws a bar and *Stop* once the work has taken `after` seconds.

    `begin` makes the place for them, which most work is too short to need. `term` is the glossary's term that explains
    the button.
    """
    places: list[DeltaGenerator] = []
    bars: list[DeltaGenerator] = []
    began = since = time.monotonic()
    drawn, before = (-1, -1, 0.0), 0  # what was drawn last, and when

    def draw(done: int, total: int) -> None:
        nonlocal since, drawn, before
        now = time.monotonic()
        since, before = (now if done < before else since), done  # another pass begins at its first layer
        if not bars and done < total and time.monotonic() - began >= after:
            places.append(begin())
            with places[0].container(horizontal=True, vertical_alignment="center", key=f"{key}-progress"):
                bars.append(st.empty())
                st.button("Stop", key=f"{key}-stop", on_click=_remember, args=((key, asked),), help=definition(term))
        if (done, total) == drawn[:2] and now - drawn[2] < _BETWEEN:  # a layer tells after each block of its rows
            return
        drawn = done, total, now
        for bar in bars:
            left = _time_left(now - since, done, total)
            bar.progress(min(1.0, done / total), text=words(done, max(done, total)) + left)

    try:
        yield draw
    finally:
        for place in places:
            place.empty()


def _time_left(seconds: float, done: int, total: int) -> str:
    from attnviz.transformer.probe import time_left  # imports torch, which a page's frame does without

    return time_left(seconds, done, total)


def _giving_way(draw: Callable[[int, int], None], queue: DeltaGenerator) -> Callable[[int, int], None]:
    """Return a function that updates the bar between two passes, and then lets other visitors' runs go first."""

    def tell(done: int, total: int) -> None:
        draw(done, total)
        hosting.give_way(queue)

    return tell


def forget(key: str) -> None:
    """Allow the work named `key` to run again after it was stopped."""
    if st.session_state.get(_STOPPED, ("",))[0] == key:
        _remember(None)


def _remember(stopped: tuple[str, object] | None) -> None:
    st.session_state[_STOPPED] = stopped
