"""Track the client's message cache so that no evicted hash is ever sent.

A browser names with each request the messages that it caches, and evicts one that some runs did not send again
(`global.maxCachedMessageAge`). Streamlit's server refers to messages that the *request* named. Where a visitor
presses a key again and again, runs end between a request and its answer, the browser evicts a message in between, and
reads "Cached ForwardMsg MISS": the page is disconnected for good. This waits for a Streamlit whose browser asks again
for a message that it misses.

So evictions are foreseen here by the browser's own rule, only earlier. It ages messages by one with every run that
ends. The end of a whole run evicts those that are too old; that of a fragment, which a class's page has once a
second, evicts the fragment's own alone. A message is young again when it leaves for the browser, and not when a run
draws it: messages of an interrupted run are never sent. `attnviz/app/streamlit_internals.py` sets these functions in.
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

RUNS = 2  # our browser waits longer: some ends of runs are still on their way


class _LastSent(NamedTuple):
    """The run in which a message left for the browser last, and whether it belongs to a fragment."""

    run: int
    is_part: bool


class ClientCache:
    """Messages that one visitor's browser caches. Runs begin in one thread, messages leave in another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._run, self._was_part = 0, False
        self._last: dict[str, _LastSent] = {}
        self._connection: object = None

    def begin(self, named: frozenset[str], *, is_part: bool, connection: object = None) -> frozenset[str]:
        """Begin a run, of fragments alone where `is_part`; return those of the `named` messages that the browser will
        still have at its end. Over another connection than the last run's nothing counts that was sent before: it may
        have been lost.
        """
        with self._lock:
            if connection is not self._connection:
                self._last.clear()
            self._run += 1
            self._last = {name: last for name, last in self._last.items() if self._outlives(last)}
            self._was_part, self._connection = is_part, connection
            return named & self._last.keys()

    def _outlives(self, last: _LastSent) -> bool:
        """Check whether a message survives the end of the run before."""
        return self._run - last.run <= RUNS or (self._was_part and not last.is_part)

    def add(self, name: str, *, is_part: bool) -> None:
        """Note a message that leaves whole, and that the browser will cache."""
        with self._lock:
            self._last[name] = _LastSent(self._run, is_part)

    def refer(self, name: str) -> None:
        """Note a reference that leaves."""
        with self._lock:
            if name in self._last:
                self._last[name] = self._last[name]._replace(run=self._run)


_caches: WeakKeyDictionary[Any, ClientCache] = WeakKeyDictionary()  # by the one object of pages that a session has


def drop_evicted(run: Callable[[Any, Any], None], connection_of: Callable[[Any], object]) -> Callable[[Any, Any], None]:
    """Wrap `run(runner, asked)`, a whole run, so that it refers to messages alone that the browser will still have."""

    @wraps(run)
    def run_kept(runner: Any, asked: Any) -> None:
        is_part, connection = bool(asked.fragment_id_queue), connection_of(runner)
        cache = _cache_of(runner._pages_manager)
        kept = cache.begin(frozenset(asked.cached_message_hashes), is_part=is_part, connection=connection)
        run(runner, replace(asked, cached_message_hashes=kept))

    return run_kept


def note_sent(flush: Callable[[Any], list[Any]]) -> Callable[[Any], list[Any]]:
    """Wrap `flush(session)`, which returns the messages that leave now, so that those that the browser caches are
    noted.
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
