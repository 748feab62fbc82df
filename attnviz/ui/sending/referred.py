"""A message that a browser has is referred to, while the browser still has it when the reference arrives.

A browser says with each request which messages it keeps, and lets go of one that some runs did not send again
(`global.maxCachedMessageAge`). Streamlit's server refers to what the *request* named. Where somebody presses a key
again and again, runs end between a request and its answer, the browser lets go of a message in between, and what it
reads then is "Cached ForwardMsg MISS": the page is disconnected for good. So a message counts as kept for `RUNS` runs
of its session as the server counts them, interrupted ones and those of fragments too: never fewer than the browser has
seen end. `attnviz/ui/streamlit_internals.py` sets these into Streamlit's `ScriptRunContext`.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

RUNS = 2  # our browser waits longer: what a run sent that was interrupted may never have arrived


class Sent:
    """What was sent to one visitor, and in which of the visitor's runs last."""

    def __init__(self) -> None:
        self._run = 0
        self._last: dict[str, int] = {}

    def begin(self, kept: frozenset[str]) -> frozenset[str]:
        """Of the messages that a browser `kept` when it asked for this run, those that it will still have."""
        self._run += 1
        self._last = {name: run for name, run in self._last.items() if self._run - run <= RUNS}
        return kept & self._last.keys()

    def add(self, name: str) -> None:
        """Note a message that the browser will keep."""
        self._last[name] = self._run


_sent: WeakKeyDictionary[Any, Sent] = WeakKeyDictionary()  # by what a session has one of


def still_kept(reset: Callable[..., None]) -> Callable[..., None]:
    """`reset(context, cached_message_hashes=…)`, the beginning of a run, with the messages that may be referred to."""

    @wraps(reset)
    def filtered(context: Any, *args: Any, cached_message_hashes: frozenset[str] | None = None, **others: Any) -> None:
        kept = _of(context).begin(frozenset(cached_message_hashes or ()))
        reset(context, *args, cached_message_hashes=kept, **others)

    return filtered


def noted(enqueue: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """`enqueue(context, message)`, which notes what a browser will keep."""

    @wraps(enqueue)
    def noting(context: Any, message: Any) -> None:
        enqueue(context, message)
        if message.metadata.cacheable:
            _of(context).add(message.hash)

    return noting


def _of(context: Any) -> Sent:
    return _sent.setdefault(context.pages_manager, Sent())
