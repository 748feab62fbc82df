"""The queue of runs: a bounded number at a time, one address after the other."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from attnviz.server.turns import BusyError, TooLongError, Turns

PATIENCE = 10


def quiet(_: str) -> None:
    pass


class Waiting:
    """Threads that wait for a turn, let on one at a time; `order` is who ran."""

    def __init__(self, turns: Turns) -> None:
        self.turns, self.order, self.go = turns, [], threading.Semaphore(0)
        self.pool = ThreadPoolExecutor(20)

    def queue(self, *names: str) -> list:
        """One thread for each, in this order; a name's first letter is its address."""
        told = []
        for name in names:
            before = self.turns.waiting_count + self.turns.running_count
            told.append(self.pool.submit(self._run, name))
            while self.turns.waiting_count + self.turns.running_count == before:
                time.sleep(0.001)
        return told

    def _run(self, name: str) -> None:
        self.turns.take(name[0], quiet)
        self.order.append(name)
        self.go.acquire(timeout=PATIENCE)
        self.turns.give_back()

    def finish(self, told: list) -> list[str]:
        for _ in told:
            self.go.release()
        for one in told:
            one.result(PATIENCE)
        self.pool.shutdown()
        return self.order


def test_a_visitor_with_many_requests_gets_one_turn_a_round() -> None:
    waiting = Waiting(Turns(1, most=100, seconds=60))
    told = waiting.queue("f0", "f1", "f2", "f3", "a0", "b0", "a1", "c0")
    assert waiting.finish(told) == ["f0", "f1", "a0", "b0", "c0", "f2", "a1", "f3"]


def test_while_others_wait_one_address_has_half_of_the_places() -> None:
    turns = Turns(2, most=100, seconds=60)
    waiting = Waiting(turns)
    told = waiting.queue("f0", "f1")
    assert turns.running_count == 2, "without others it has both"
    told += waiting.queue("f2", "f3", "a0")
    waiting.go.release()
    while len(waiting.order) < 3:
        time.sleep(0.001)
    assert waiting.order[2] == "a0", "f waited before a, and has one of two places still"
    assert sorted(waiting.finish(told)) == ["a0", "f0", "f1", "f2", "f3"]


def test_an_address_leaves_a_place_free_while_another_address_is_present(monkeypatch) -> None:
    monkeypatch.setattr("attnviz.server.turns._PRESENT", 1000.0)
    turns = Turns(2, most=1, seconds=60)
    turns.take("a", quiet)
    turns.give_back()
    waiting = Waiting(turns)
    told = waiting.queue("f0", "f1")
    assert (turns.running_count, turns.waiting_count) == (1, 1), "a asked a moment ago, and may ask again"
    with pytest.raises(BusyError):
        turns.take("f", quiet)
    turns.take("a", quiet)
    turns.give_back()
    monkeypatch.setattr("attnviz.server.turns._PRESENT", 0.0)
    while turns.running_count < 2:
        time.sleep(0.001)
    assert waiting.finish(told) == ["f0", "f1"]


def test_no_more_run_than_there_are_places() -> None:
    turns = Turns(3, most=100, seconds=60)
    waiting = Waiting(turns)
    told = waiting.queue(*"abcdef")
    assert (turns.running_count, turns.waiting_count, len(waiting.order)) == (3, 3, 3)
    waiting.finish(told)
    assert (turns.running_count, turns.waiting_count) == (0, 0)


def test_a_run_is_alone_at_first_and_then_lets_others_run_beside_it() -> None:
    turns = Turns(3, most=100, seconds=60, alone=0.2)
    waiting = Waiting(turns)
    started = time.monotonic()
    told = waiting.queue(*"abcd")
    assert (turns.running_count, turns.waiting_count) == (1, 3)
    for running in (2, 3):
        while len(waiting.order) < running:
            assert time.monotonic() - started < PATIENCE
            time.sleep(0.001)
        assert time.monotonic() - started >= (running - 1) * 0.2
    assert (turns.running_count, turns.waiting_count, waiting.order) == (3, 1, ["a", "b", "c"])
    waiting.finish(told)
    assert waiting.order[3:] == ["d"]


def test_where_each_is_alone_the_next_begins_when_one_has_ended() -> None:
    turns = Turns(3, most=1, seconds=60, alone=60)
    waiting = Waiting(turns)
    told = waiting.queue("a", "b")
    with pytest.raises(BusyError):
        turns.take("c", quiet)
    assert (turns.running_count, turns.waiting_count) == (1, 1)
    waiting.finish(told)
    assert waiting.order == ["a", "b"]


def test_a_run_that_takes_the_place_of_its_own_lets_others_in_before() -> None:
    turns = Turns(1, most=9, seconds=60)
    turns.take("a", quiet)
    waiting = Waiting(turns)
    told = waiting.queue("b0")
    waiting.go.release()
    turns.take("a", quiet)  # the same thread again
    assert waiting.order == ["b0"]
    assert (turns.running_count, turns.waiting_count) == (1, 0)
    told[0].result(PATIENCE)
    waiting.pool.shutdown()
    turns.give_back()
    assert (turns.running_count, turns.give_back()) == (0, 0.0)


def test_where_too_many_wait_the_next_one_is_refused_at_once() -> None:
    waiting = Waiting(Turns(1, most=2, seconds=60))
    told = waiting.queue("a0", "b0", "c0")
    with pytest.raises(BusyError, match="2 runs wait already, and this server lets no more wait"):
        waiting.turns.take("d", quiet)
    waiting.finish(told)


def test_a_waiting_visitor_is_told_the_queues_length_and_time(monkeypatch) -> None:
    monkeypatch.setattr("attnviz.server.turns._TOLD", 0.01)
    waiting = Waiting(Turns(1, most=9, seconds=60))
    told = waiting.queue("a0", "b0")
    said: list[str] = []

    def hear(sentence: str) -> None:
        said.append(sentence)
        if len(said) == 3:
            raise InterruptedError  # as Streamlit does where the visitor asks for something else

    with pytest.raises(InterruptedError):
        waiting.turns.take("c", hear)
    assert set(said) == {"Many visitors are waiting: 2 others are before you. Your turn comes in about 1 s."}
    assert waiting.turns.waiting_count == 1, "who gives up waiting leaves the queue"
    waiting.finish(told)
    assert (waiting.turns.running_count, waiting.turns.waiting_count) == (0, 0)


def test_a_run_that_takes_too_long_is_ended_and_its_place_is_free(monkeypatch) -> None:
    monkeypatch.setattr("attnviz.server.turns._LOOK", 0.01)
    turns = Turns(1, most=9, seconds=0.05)

    def work() -> None:
        for _ in range(1000):
            time.sleep(0.005)

    turns.take("a", quiet)
    with pytest.raises(TooLongError, match=r"longer than the 0\.05 s that this server allows for one run"):
        work()
    turns.give_back()
    assert turns.running_count == 0
    time.sleep(0.1)  # and nobody is told to end whose turn is over


def test_a_thread_that_ended_without_giving_its_turn_back_is_struck_off(monkeypatch) -> None:
    monkeypatch.setattr("attnviz.server.turns._LOOK", 0.01)
    told: list[int] = []
    monkeypatch.setattr("attnviz.server.turns._raise_in", lambda thread, _: told.append(thread))
    turns = Turns(1, most=9, seconds=0.05)
    gone = threading.Thread(target=turns.take, args=("a", quiet))
    gone.start()
    gone.join()
    turns.take("b", quiet)  # waits until the turn of the thread that ended is struck off
    assert not told, "another thread may have its number by now"
    turns.give_back()
