"""A message that a browser has is referred to, while the browser still has it when the reference arrives.

A browser says with each request which messages it keeps, and lets go of one that some runs did not send again
(`global.maxCachedMessageAge`). Streamlit's server refers to what the *request* named. Where somebody presses a key
again and again, runs end between a request and its answer, the browser lets go of a message in between, and what it
reads then is "Cached ForwardMsg MISS": the page is disconnected for good.

So what a browser lets go of is foreseen here by its own rule, only earlier. It ages messages by one with every run that
ends. The end of a whole run takes those that are too old; that of a fragment, which a class's page has once a second,
takes the fragment's own alone. A message is young again when it leaves for the browser, and not when a run draws it:
what an interrupted run has drawn is never sent. `attnviz/ui/streamlit_internals.py` sets these in.
"""

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

RUNS = 2  # our browser waits longer: some ends of runs are still on their way


class _Last(NamedTuple):
    """In which run a message left for the browser last, and whether it belongs to a fragment."""

    run: int
    is_part: bool


class Sent:
    """What was sent to one visitor. Runs begin in one thread, messages leave in another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._run, self._was_part = 0, False
        self._last: dict[str, _Last] = {}

    def begin(self, kept: frozenset[str], *, is_part: bool) -> frozenset[str]:
        """Of the messages that a browser `kept` when it asked for this run, of fragments alone where `is_part`, those
        that it will still have.
        """
        with self._lock:
            self._run += 1
            self._last = {name: last for name, last in self._last.items() if self._outlives(last)}
            self._was_part = is_part
            return kept & self._last.keys()

    def _outlives(self, last: _Last) -> bool:
        """Check whether the end of the run before leaves a message."""
        return self._run - last.run <= RUNS or (self._was_part and not last.is_part)

    def add(self, name: str, *, is_part: bool) -> None:
        """Note a message that leaves whole, and that the browser will keep."""
        with self._lock:
            self._last[name] = _Last(self._run, is_part)

    def refer(self, name: str) -> None:
        """Note a reference that leaves."""
        with self._lock:
            if name in self._last:
                self._last[name] = self._last[name]._replace(run=self._run)

    def forget(self) -> None:
        """What has left since the connection was lost, nobody knows."""
        with self._lock:
            self._last.clear()


_sent: WeakKeyDictionary[Any, Sent] = WeakKeyDictionary()  # by what a session has one of


def still_kept(reset: Callable[..., None]) -> Callable[..., None]:
    """`reset(context, cached_message_hashes=…)`, the beginning of a run, with the messages that may be referred to."""

    @wraps(reset)
    def filtered(context: Any, *args: Any, cached_message_hashes: frozenset[str] | None = None, **others: Any) -> None:
        is_part = bool(others.get("fragment_ids_this_run"))
        kept = _of(context.pages_manager).begin(frozenset(cached_message_hashes or ()), is_part=is_part)
        reset(context, *args, cached_message_hashes=kept, **others)

    return filtered


def noted(flush: Callable[[Any], list[Any]]) -> Callable[[Any], list[Any]]:
    """`flush(session)`, the messages that leave for its browser now, each noted that the browser will keep."""

    @wraps(flush)
    def noting(session: Any) -> list[Any]:
        messages, sent = flush(session), _of(session._pages_manager)
        for message in messages:
            if message.metadata.cacheable:
                sent.add(message.hash, is_part=bool(message.delta.fragment_id))
            elif message.ref_hash:
                sent.refer(message.ref_hash)
        return messages

    return noting


def anew(connect: Callable[[Any], None]) -> Callable[[Any], None]:
    """`connect(session)`, which a session is told when a browser comes, and again when it comes back."""

    @wraps(connect)
    def forgetting(session: Any) -> None:
        _of(session._pages_manager).forget()
        connect(session)

    return forgetting


def _of(pages: Any) -> Sent:
    return _sent.setdefault(pages, Sent())
