"""Track the client's message cache so that no evicted hash is ever sent.

With each request a browser lists the messages that it has cached. It evicts a message that was not sent again for some
runs (`global.maxCachedMessageAge`). Streamlit's server sends only a reference to a message that the *request* listed.
If a visitor presses a key again and again, other runs end between a request and its answer. The browser may then have
evicted a message when the reference to it arrives. It reports "Cached ForwardMsg MISS", and the page is disconnected
for good. This module can go once a Streamlit browser requests a missing message again.

The module predicts evictions by the browser's own rule, but a little earlier. The age of every message grows by one
with each run that ends. The end of a whole run evicts all messages that are too old; the end of a fragment's run, which
a class's page has once a second, evicts only messages of fragments. A message's age starts again when it leaves for the
browser, and not when a run draws it, since messages of an interrupted run are never sent.
`attnviz/app/streamlit_internals.py` installs these functions.
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

RUNS = 2  # our browser waits longer: some ends of runs are still on their way


class _LastSent(NamedTuple):
    """The number of the run in which a message was last sent, and whether the message belongs to a fragment."""

    run: int
    is_part: bool


class ClientCache:
    """The messages that one visitor's browser has cached.

    Runs begin in one thread, and messages are sent in another.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._run, self._was_part = 0, False
        self._last: dict[str, _LastSent] = {}
        self._connection: object = None

    def begin(self, named: frozenset[str], *, is_part: bool, connection: object = None) -> frozenset[str]:
        """Begin a run, and return those of the `named` messages that the browser will still have when the run ends.

        `is_part` says that the run draws fragments alone. If the connection differs from the last run's, all earlier
        messages are forgotten, since they may have been lost.
        """
        with self._lock:
            if connection is not self._connection:
                self._last.clear()
            self._run += 1
            self._last = {name: last for name, last in self._last.items() if self._outlives(last)}
            self._was_part, self._connection = is_part, connection
            return named & self._last.keys()

    def _outlives(self, last: _LastSent) -> bool:
        """Check whether the browser still has a message after the end of the previous run."""
        return self._run - last.run <= RUNS or (self._was_part and not last.is_part)

    def add(self, name: str, *, is_part: bool) -> None:
        """Note that a complete message is sent, which the browser will cache."""
        with self._lock:
            self._last[name] = _LastSent(self._run, is_part)

    def refer(self, name: str) -> None:
        """Note that a reference to a message is sent, which makes the message young again."""
        with self._lock:
            if name in self._last:
                self._last[name] = self._last[name]._replace(run=self._run)


_caches: WeakKeyDictionary[Any, ClientCache] = WeakKeyDictionary()  # by the one object of pages that a session has


def drop_evicted(run: Callable[[Any, Any], None], connection_of: Callable[[Any], object]) -> Callable[[Any, Any], None]:
    """Wrap `run(runner, asked)` so that it refers only to messages that the browser will still have."""

    @wraps(run)
    def run_kept(runner: Any, asked: Any) -> None:
        is_part, connection = bool(asked.fragment_id_queue), connection_of(runner)
        cache = _cache_of(runner._pages_manager)
        kept = cache.begin(frozenset(asked.cached_message_hashes), is_part=is_part, connection=connection)
        run(runner, replace(asked, cached_message_hashes=kept))

    return run_kept


def note_sent(flush: Callable[[Any], list[Any]]) -> Callable[[Any], list[Any]]:
    """Wrap `flush(session)`, which returns the messages to send now, so that messages that the browser caches
    are noted.
    """

    @wraps(flush)
    def note_and_flush(session: Any) -> list[Any]:
        messages, cache = flush(session), _cache_of(session._pages_manager)
        for message in messages:
            if message.metadata.cacheable:
                cache.add(message.hash, is_part=bool(message.delta.fragment_id))
            elif message.ref_hash:
                cache.refer(message.ref_hash)
        return messages

    return note_and_flush


def _cache_of(pages: Any) -> ClientCache:
    return _caches.setdefault(pages, ClientCache())
