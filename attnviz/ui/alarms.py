"""Timers without a thread each: Streamlit starts one for every spinner, and nearly every run stops it at once."""

import contextvars
import logging
import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar

_LOG = logging.getLogger(__name__)
_LOOK = 0.1  # seconds between two looks at what is due


class Alarm:
    """As `threading.Timer`: calls `function` after `seconds`, unless it is cancelled. One thread looks for all.

    `carried` names what a run leaves on a timer's thread to be known by: it is put on the thread that rings.
    """

    carried: ClassVar[str] = ""
    _set: ClassVar[set["Alarm"]] = set()
    _lock = threading.Lock()
    _thread: threading.Thread | None = None

    def __init__(self, seconds: float, function: Callable[[], Any]) -> None:
        self._seconds, self._function, self._due = seconds, function, 0.0

    def start(self) -> None:
        """Begin to count."""
        self._due = time.monotonic() + self._seconds
        with Alarm._lock:
            Alarm._set.add(self)
            if Alarm._thread is None:
                Alarm._thread = threading.Thread(target=_look_after_all, name="attnviz-alarms", daemon=True)
                Alarm._thread.start()

    def cancel(self) -> None:
        """Forget it; nothing happens where it has rung."""
        with Alarm._lock:
            Alarm._set.discard(self)

    @classmethod
    def due(cls) -> "list[Alarm]":
        """Those whose time has come, which are then forgotten."""
        with cls._lock:
            found = [alarm for alarm in cls._set if alarm._due <= time.monotonic()]
            cls._set.difference_update(found)
        return found

    def run(self) -> None:
        """Call the function. Streamlit puts around this what makes it part of the run that set the alarm."""
        self._function()

    def ring(self) -> None:
        """As a thread of its own would."""
        setattr(threading.current_thread(), Alarm.carried, vars(self).get(Alarm.carried))
        contextvars.copy_context().run(self.run)


def _look_after_all() -> None:
    while True:
        time.sleep(_LOOK)
        for alarm in Alarm.due():
            try:
                alarm.ring()
            except BaseException as gone:  # Streamlit ends a run that is over by one that is no Exception
                _LOG.debug("A spinner of a run that is over: %s", gone)
