"""The queue for runs: a limited number computes at a time, served round-robin over the visitors' addresses."""

import ctypes
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

_LOOK = 0.5  # seconds between two looks at what takes too long
_TOLD = 0.5  # seconds between two messages to a waiting visitor
_USUAL = 0.1  # seconds of a run, before any was seen
_GRACE = 5.0  # seconds between two requests to a run to end
_PRESENT = 10.0  # seconds after its last request for which an address counts as present


class BusyError(ValueError):
    """Raised if the queue is full."""


class TooLongError(ValueError):
    """Raised in a run that took longer than allowed.

    Python raises it in another thread by its class and without arguments, so the class itself has the message.
    """

    seconds = 0.0

    def __str__(self) -> str:
        return (
            f"This run took longer than the {self.seconds:g} s that this server allows for one run. "
            "Please try a shorter text or fewer steps."
        )


@dataclass
class _Ticket:
    address: str
    owner: threading.Thread = field(default_factory=threading.current_thread)
    called: threading.Event = field(default_factory=threading.Event)
    since: float = 0.0
    waited: float = 0.0
    is_over: bool = False

    @property
    def thread(self) -> int:
        """The identifier of this ticket's thread. Python may give it to another thread once this one has ended."""
        return self.owner.ident or 0


class Turns:
    """Queue that lets at most `places` runs compute at a time, each of them alone for its first `alone` seconds.

    Two runs that share Python's interpreter lock would both end late, and use more processor time. While visitors from
    other addresses are present, one address gets at most half of the places, so that another visitor's short run does
    not have to wait for the end of a long one.

    Waiting runs are served round-robin over the addresses, so that a visitor who asks a hundred times gets no more
    turns than one who asks once.

    A thread has one turn. If it asks again, because a new run has replaced its own, it goes to the end of the queue. A
    run that holds its turn for more than `seconds` is ended with `TooLongError`, which the page shows like any other
    refusal.
    """

    def __init__(self, places: int, *, most: int, seconds: float, alone: float = 0.0) -> None:
        self._places, self._most, self._seconds, self._alone = places, most, seconds, alone
        self._lock = threading.Lock()
        self._running: dict[int, _Ticket] = {}
        self._waiting: OrderedDict[str, deque[_Ticket]] = OrderedDict()
        self._asked: OrderedDict[str, float] = OrderedDict()  # when each address that is present asked last
        self._too_long = type("TooLongError", (TooLongError,), {"seconds": seconds})
        self._usual = _USUAL
        self._is_watched = False

    @property
    def running_count(self) -> int:
        """The number of runs that have their turn."""
        return len(self._running)

    @property
    def waiting_count(self) -> int:
        """The number of runs that wait for their turn."""
        with self._lock:
            return self._count()

    def take(self, address: str, tell: Callable[[str], None]) -> None:
        """Wait for this thread's turn. `tell` receives a sentence with its place in the queue and the expected seconds.

        Raises BusyError if too many wait already, and passes on whatever `tell` raises.
        """
        self.give_back()
        with self._lock:
            ticket = _Ticket(address)
            self._note_presence(address)
            if self._count() >= self._most and not (self._has_place() and self._may_start(address)):
                raise BusyError(
                    f"{self._most} runs wait already, and this server lets no more wait. Please press Run in a moment."
                )
            self._waiting.setdefault(address, deque()).append(ticket)
            self._start_watchdog()
            self._call()
        self._wait(ticket, tell)

    @property
    def has_turn(self) -> bool:
        """Whether this thread has its turn."""
        return threading.get_ident() in self._running

    @property
    def held_seconds(self) -> float:
        """The number of seconds since this thread's turn began; 0 if it has none."""
        ticket = self._running.get(threading.get_ident())
        return 0.0 if ticket is None else time.monotonic() - ticket.since

    @property
    def is_over(self) -> bool:
        """Whether the queue has asked this thread to stop because its turn took too long."""
        ticket = self._running.get(threading.get_ident())
        return ticket is not None and ticket.is_over

    def give_back(self) -> float:
        """End this thread's turn, if it has one. Return the seconds for which the thread had waited.

        If the queue raises TooLongError in the thread at this moment, the turn ends just the same.
        """
        try:
            return self._release()
        except TooLongError:
            return self._release()

    def _release(self) -> float:
        with self._lock:
            ticket = self._running.pop(threading.get_ident(), None)
            if ticket is None:
                return 0.0
            self._usual += 0.1 * (time.monotonic() - ticket.since - self._usual)
            self._call()
        return ticket.waited

    def _wait(self, ticket: _Ticket, tell: Callable[[str], None]) -> None:
        started = word = time.monotonic()
        try:
            while not ticket.called.wait(min(_TOLD, self._alone or _TOLD)):
                with self._lock:
                    self._call()  # what runs may have been alone for long enough
                if time.monotonic() - word >= _TOLD and not ticket.called.is_set():
                    word = time.monotonic()
                    tell(self._queue_notice(ticket))
        except BaseException:  # the visitor asked for something else, or has gone
            with self._lock:
                self._leave(ticket)
            raise
        ticket.waited = time.monotonic() - started

    def _leave(self, ticket: _Ticket) -> None:
        if self._running.pop(ticket.thread, None) is None:
            queue = self._waiting.get(ticket.address, deque())
            if ticket in queue:
                queue.remove(ticket)
            if not queue:
                self._waiting.pop(ticket.address, None)
        self._call()

    def _call(self) -> None:
        """Give the free places to tickets that wait for their turn, going round the addresses."""
        while self._has_place() and (address := next(filter(self._may_start, self._waiting), None)) is not None:
            queue = self._waiting.pop(address)
            ticket = queue.popleft()
            if queue:
                self._waiting[address] = queue
            ticket.since = time.monotonic()
            self._running[ticket.thread] = ticket
            ticket.called.set()

    def _note_presence(self, address: str) -> None:
        now = time.monotonic()
        self._asked[address] = now
        self._asked.move_to_end(address)
        while now - next(iter(self._asked.values())) > _PRESENT:
            self._asked.popitem(last=False)

    def _may_start(self, address: str) -> bool:
        """Check whether the address has less than half of the places, or no other address is present."""
        held = sum(ticket.address == address for ticket in self._running.values())
        if held < max(1, self._places // 2):
            return True
        others = {ticket.address for ticket in self._running.values()} | set(self._waiting)
        now = time.monotonic()
        others |= {other for other, asked in self._asked.items() if now - asked <= _PRESENT}
        return not others - {address}

    def _has_place(self) -> bool:
        now = time.monotonic()
        return len(self._running) < self._places and all(
            now - ticket.since >= self._alone for ticket in self._running.values()
        )

    def _count(self) -> int:
        return sum(map(len, self._waiting.values()))

    def _queue_notice(self, ticket: _Ticket) -> str:
        with self._lock:
            before = self._tickets_before(ticket)
            seconds = (before + 1) * self._usual / (1 if self._usual < self._alone else self._places)
        others = "1 other is" if before == 1 else f"{before} others are"
        return f"Many visitors are waiting: {others} before you. Your turn comes in about {max(1, round(seconds))} s."

    def _tickets_before(self, ticket: _Ticket) -> int:
        """Count the tickets that will run before this one if no one else joins (round-robin per address)."""
        own = self._waiting.get(ticket.address, deque())
        place = own.index(ticket) if ticket in own else 0
        return (
            len(self._running)
            + place
            + sum(min(len(queue), place + 1) for address, queue in self._waiting.items() if address != ticket.address)
        )

    def _start_watchdog(self) -> None:
        if not self._is_watched:
            self._is_watched = True
            threading.Thread(target=self._watch, name="attnviz-turns", daemon=True).start()

    def _watch(self) -> None:
        while True:
            time.sleep(_LOOK)
            with self._lock:
                late = [one for one in self._running.values() if time.monotonic() - one.since > self._seconds]
                for ticket in late:
                    self._end(ticket)

    def _end(self, ticket: _Ticket) -> None:
        """End a run that takes too long.

        If its thread has ended without giving the turn back, only remove its ticket.
        """
        if not ticket.owner.is_alive():
            self._leave(ticket)
            return
        ticket.is_over = True
        ticket.since += _GRACE  # time to show the error; code that catches it and goes on gets it again
        _raise_in(ticket.thread, self._too_long)


def _raise_in(thread: int, error: type[BaseException]) -> None:
    """Raise an exception in another thread at its next Python instruction, so after a running torch operation."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))
