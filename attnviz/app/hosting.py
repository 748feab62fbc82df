"""Hooks of a server with many visitors: a queue for runs, and the right to open any model. `make run` sets neither,
and its visitor never waits.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app.markdown import literal

Tell = Callable[[str], None]
SLICE = 0.25  # seconds of a long run, after which another visitor's may come first


class Queue(Protocol):
    """Turns of threads, one each (`attnviz.server.turns.Turns`)."""

    @property
    def has_turn(self) -> bool:
        """Whether this thread has its turn."""
        ...

    @property
    def held_seconds(self) -> float:
        """For how many seconds this thread has had its turn; 0 without one."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether this thread's turn took too long and has been asked to end."""
        ...

    def take(self, address: str, tell: Tell) -> None:
        """Wait for this thread's turn among the addresses, and `tell` why and for how long. Raises ValueError."""
        ...

    def give_back(self) -> float:
        """End this thread's turn; return the seconds that it waited."""
        ...


@dataclass(frozen=True)
class Hosting:
    """The queue for runs; `network_of(address)` identifies the visitors that share a place in it;
    `may_open_any(role)` says whether a visitor of that role may open models that are not offered, `is_author(role)`
    whether they see broken lessons.
    """

    queue: Queue
    network_of: Callable[[str], str]
    may_open_any: Callable[[str], bool]
    is_author: Callable[[str], bool] = lambda role: False

    def take(self, tell: Tell) -> None:
        """Wait for the turn of the visitor whose page this thread runs. Raises ValueError."""
        self.queue.take(self.network_of(st.context.ip_address or ""), tell)


ROLE = "X-Attnviz-Role"  # the header with the visitor's role; the server drops it from what a browser sends
_hosting: list[Hosting] = []


def use(hosting: Hosting | None) -> None:
    """Set the server's hooks, before the first visitor comes; None for a server with one visitor."""
    _hosting[:] = [hosting] if hosting else []


def wait(place: DeltaGenerator) -> None:
    """Wait for this visitor's turn, and show the reason in `place`. Raises ValueError, with one sentence, where too
    many wait.
    """
    said: list[DeltaGenerator] = []

    def tell(sentence: str) -> None:
        if not said:
            said.append(place.empty())
        said[0].info(literal(sentence), icon=":material/hourglass_top:")

    for hosting in _hosting:
        hosting.take(tell)
    for slot in said:
        slot.empty()


def has_turn() -> bool:
    """Check whether this run has its turn."""
    return any(hosting.queue.has_turn for hosting in _hosting)


def give_back_turn() -> None:
    """End this run's turn early, because it waits for something else; other runs compute meanwhile."""
    for hosting in _hosting:
        hosting.queue.give_back()


def give_way(place: DeltaGenerator) -> None:
    """Let other visitors' runs go first, if this run has had its turn for a while; then wait for the next turn, as
    `wait` does. Called between two passes of long work. If the visitor has left, the run ends here, because drawing
    anything ends it.
    """
    if any(hosting.queue.held_seconds >= SLICE for hosting in _hosting):
        place.empty()
        wait(place)


def ensure_turn() -> None:
    """Wait for this visitor's turn where a button's callback or a part of the page computes: they run before the page,
    or without it, and so without its turn. Nothing where this run has its turn. Raises ValueError, with one sentence,
    where too many wait.
    """
    said: list[DeltaGenerator] = []

    def tell(sentence: str) -> None:
        said[:] = [(said[0] if said else st).toast(literal(sentence), icon=":material/hourglass_top:")]

    for hosting in _hosting:
        if not hosting.queue.has_turn:
            hosting.take(tell)


@contextmanager
def hold(lock: Lock) -> Iterator[None]:
    """Hold a lock. Wait for the lock without this visitor's turn: the run that holds it may be waiting for its next
    turn, and would never get one if the runs that wait for the lock had all the places.
    """
    if not lock.acquire(blocking=False):
        had_turn = has_turn()
        give_back_turn()
        lock.acquire()
    else:
        had_turn = False
    try:
        if had_turn:
            ensure_turn()
        yield
    finally:
        lock.release()


def is_over() -> bool:
    """Check whether this run took too long and has been asked to end: a loop that shows an error and goes on ends
    here.
    """
    return any(hosting.queue.is_over for hosting in _hosting)


def file_in_turn(make: Callable[[], bytes]) -> Callable[[], bytes]:
    """Wrap `make`, the file of a download button: pressed, it waits for a turn of this visitor, within a run's
    limit.
    """
    address = st.context.ip_address or ""

    def make_in_turn() -> bytes:
        for hosting in _hosting:
            hosting.queue.take(hosting.network_of(address), lambda _: None)
        try:
            return make()
        finally:
            for hosting in _hosting:
                hosting.queue.give_back()

    return make_in_turn


def may_open_any() -> bool:
    """Check whether this visitor may open models that the instance does not offer."""
    return any(hosting.may_open_any(role()) for hosting in _hosting)


def is_author() -> bool:
    """Check whether this visitor sees broken and unlisted lessons: a teacher, or the visitor of `make run`. All
    visitors of a server without a login are taken for students.
    """
    return not _hosting or any(hosting.is_author(role()) for hosting in _hosting)


def role() -> str:
    """Return this visitor's role, as the server's header has it; "" without a login."""
    return st.context.headers.get(ROLE, "")
