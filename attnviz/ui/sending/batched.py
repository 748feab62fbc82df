"""What a run draws goes to the browser in batches.

Streamlit wakes its event loop for each element that a script draws, a hundred times a run: each time the script waits
for the interpreter's lock until the loop has looked; and the browser draws the page anew for what comes every ten
milliseconds. Here elements are handed over together, in their order; what begins or ends a run is handed over at once,
with all that came before.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import Any

_EVERY = 0.03  # seconds: a frame of the page is drawn by then, and nobody sees that it waited
_WAITING = "_attnviz_waiting"


def in_batches(hear: Callable[..., None], drawn: object) -> Callable[..., None]:
    """`hear(session, sender, event, …)`, as a run tells its session of events; `drawn` is the event that can wait."""

    @wraps(hear)
    def guarded(session: Any, sender: Any, event: object, **said: Any) -> None:
        waiting: deque[Any] = vars(session).setdefault(_WAITING, deque())
        waiting.append((sender, event, said))
        if event is not drawn:
            session._call_soon_on_event_loop(lambda: _deliver(session, waiting))
        elif len(waiting) == 1:
            session._call_soon_on_event_loop(lambda: _deliver_in_a_moment(session, waiting))

    return guarded


def _deliver_in_a_moment(session: Any, waiting: deque[Any]) -> None:
    asyncio.get_running_loop().call_later(_EVERY, _deliver, session, waiting)


def _deliver(session: Any, waiting: deque[Any]) -> None:
    while waiting:
        sender, event, said = waiting.popleft()
        session._handle_scriptrunner_event_on_event_loop(sender, event, **said)
