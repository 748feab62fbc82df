"""Hooks for a server with many visitors: a queue for runs, and the permission to open any model.

`make run` sets neither hook, so its visitor never waits.
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
    """Queue in which each thread waits for its turn to compute (`attnviz.server.turns.Turns`)."""

    @property
    def has_turn(self) -> bool:
        """Whether this thread has its turn."""
        ...

    @property
    def held_seconds(self) -> float:
        """The number of seconds since this thread's turn began; 0 if it has none."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether the queue has asked this thread to stop because its turn took too long."""
        ...

    def take(self, address: str, tell: Tell) -> None:
        """Wait for this thread's turn; each address gets its share. `tell` shows the reason and the expected wait.

        Raises ValueError if too many wait.
        """
        ...

    def give_back(self) -> float:
        """End this thread's turn; return the seconds that it waited."""
        ...


@dataclass(frozen=True)
class Hosting:
    """The hooks of a server.

    `queue` is the queue for runs. `network_of(address)` names the network of an address; its visitors share a place in
    the queue. `may_open_any(role)` says whether a visitor with this role may open models that the server does not
    offer, and `is_author(role)` whether they see broken lessons.
    """

    queue: Queue
    network_of: Callable[[str], str]
    may_open_any: Callable[[str], bool]
    is_author: Callable[[str], bool] = lambda role: False

    def take(self, tell: Tell) -> None:
        """Wait for the turn of the visitor whose page this thread runs. Raises ValueError if too many wait."""
        self.queue.take(self.network_of(st.context.ip_address or ""), tell)


ROLE = "X-Attnviz-Role"  # the header with the visitor's role; the server drops it from what a browser sends
_hosting: list[Hosting] = []


def use(hosting: Hosting | None) -> None:
    """Set the server's hooks, before the first visitor comes; None for a server with one visitor."""
    _hosting[:] = [hosting] if hosting else []


def wait(place: DeltaGenerator) -> None:
    """Wait for this visitor's turn, and show the reason in `place`. Raises ValueError if too many wait."""
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
    """End this run's turn early while it waits for something else, so that other runs can compute."""
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
    """Wait for this visitor's turn, unless this run has its turn already.

    Button callbacks and fragments call this before they compute, because they run outside the page's run and its turn.
    Raises ValueError if too many wait.
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
    """Check whether the server has asked this run to end because it took too long. Loops that go on after errors stop
    then.
    """
    return any(hosting.queue.is_over for hosting in _hosting)


def file_in_turn(make: Callable[[], bytes]) -> Callable[[], bytes]:
    """Wrap `make`, which makes a download button's file, so that it first waits for this visitor's turn."""
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
    """Check whether this visitor sees broken and unlisted lessons, as a teacher and the visitor of `make run` do.

    On a server without a login, all visitors count as students.
    """
    return not _hosting or any(hosting.is_author(role()) for hosting in _hosting)


def role() -> str:
    """Return this visitor's role from the header that the server sets; "" without a login."""
    return st.context.headers.get(ROLE, "")
