"""A bounded cache of loaded models that many threads use."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from types import SimpleNamespace

import pytest
import torch

from attnviz.app import hosting
from attnviz.app.cache import bounded
from attnviz.app.cache.bounded import UNDER_WAY, BoundedCache
from attnviz.server.turns import Turns


class Loader:
    """Loads names as themselves, and remembers which."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, name, progress):
        self.read.append(name)
        if progress is not None:
            progress(1.0, name)
        if name == "wrong":
            raise ValueError("There is no model of that name.")
        return object()


def test_the_longest_unused_model_makes_room():
    loader = Loader()
    cache = BoundedCache(loader, most=2)
    kept = cache.get("a")
    cache.get("b")
    assert cache.get("a") is kept
    cache.get("c")
    assert cache.names == ("a", "c")
    assert cache.get("a") is kept
    cache.get("b")
    assert loader.read == ["a", "b", "c", "b"]


def test_many_who_ask_for_one_model_load_it_once():
    begin, release, read = Barrier(8), Event(), []

    def slow(name, progress):
        read.append(name)
        release.wait(10)
        return object()

    cache = BoundedCache(slow)

    def ask(_):
        begin.wait(10)
        release.set()
        return cache.get("a")

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(ask, range(8)))
    assert read == ["a"]
    assert len(set(map(id, found))) == 1


def test_nobody_waits_for_a_model_of_another_name():
    release = Event()
    cache = BoundedCache(lambda name, progress: release.wait(10) and name if name == "slow" else name)
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(cache.get, "slow")
        assert cache.get("quick") == "quick"
        assert not slow.done()
        release.set()
        assert slow.result(10) == "slow"


def test_a_refusal_costs_nobody_a_model_and_is_tried_again():
    loader = Loader()
    cache = BoundedCache(loader, most=1)
    kept = cache.get("a")
    for _ in range(2):
        with pytest.raises(ValueError, match="no model of that name"):
            cache.get("wrong")
    assert cache.get("a") is kept
    assert loader.read == ["a", "wrong", "wrong"]


def test_whoever_loads_is_told_of_the_progress():
    told = []
    cache = BoundedCache(Loader())
    for _ in range(2):
        cache.get("a", lambda share, what: told.append((share, what)))
    assert told == [(1.0, "a")]


def test_whoever_waits_is_told_that_somebody_loads_it():
    begun, told, said = Event(), Event(), []

    def slow(name, progress):
        begun.set()
        assert told.wait(10)
        return object()

    def hear(share, what):
        said.append(what)
        told.set()

    cache = BoundedCache(slow)
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(cache.get, "a")
        assert begun.wait(10)
        assert cache.get("a", hear) is first.result(10)
    cache.get("a", hear)
    assert said == [UNDER_WAY]


def test_things_of_different_sizes_share_the_room_and_the_newest_always_stays():
    cache = BoundedCache(lambda name, progress: name, most=10, size=len)
    for name in ("aaaa", "bbb", "cc"):
        cache.get(name)
    cache.get("aaaa")
    assert cache.names == ("bbb", "cc", "aaaa")
    cache.get("dddd")  # 13: the longest unused goes
    assert cache.names == ("cc", "aaaa", "dddd")
    cache.get("e" * 99)
    assert cache.names == ("e" * 99,)


def test_whoever_asks_may_bring_along_how_it_is_made():
    cache, made = BoundedCache[str, str](most=2), []
    for _ in range(2):
        assert cache.get("a", read=lambda name, progress: made.append(name) or f"{name} made") == "a made"
    assert made == ["a"]
    with pytest.raises(ValueError, match="cannot compute 'b'"):
        cache.get("b")


def test_what_is_counted_by_the_byte_can_be_let_go_of_and_loaded_models_stay():
    models, traces = BoundedCache(Loader()), BoundedCache(Loader(), most=100, size=lambda _: 40)
    model = models.get("a")
    first = traces.get("I love you.")
    traces.get("A dog.")
    assert bounded.empty() >= 80
    assert (traces.names, traces.total) == ((), 0)
    assert models.get("a") is model
    assert traces.get("I love you.") is not first


def test_where_a_device_is_full_all_caches_are_emptied_and_it_is_read_again():
    other, found = BoundedCache(Loader(), most=100, size=lambda _: 40), []
    other.get("A dog.")

    def read(name, progress):
        found.append(other.names)
        if len(found) in (1, 3, 4):
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return name

    cache = BoundedCache(read)
    assert cache.get("a") == "a"
    assert found == [("A dog.",), ()]
    with pytest.raises(ValueError, match="no memory left for this"):
        cache.get("b")
    assert cache.get("b") == "b", "it can be asked for again"


def test_who_waits_for_what_another_run_computes_holds_no_place_of_the_queue():
    turns, begun, has_turn = Turns(1, most=9, seconds=60), Event(), Event()
    cache = BoundedCache(most=2)

    def compute(*_):
        begun.set()
        turns.give_back()  # as a run does between two passes, so that others go first
        assert has_turn.wait(30)
        turns.take("a", print)
        return "made"

    def ask(name):
        turns.take(name, print)
        has_turn.set() if name == "b" else None
        try:
            return cache.get("x", read=compute)
        finally:
            turns.give_back()

    hosting.use(hosting.Hosting(turns, lambda _: "b", lambda _: False))
    pool = ThreadPoolExecutor(2)
    try:
        first = pool.submit(ask, "a")
        assert begun.wait(30)
        second = pool.submit(ask, "b")
        assert [first.result(30), second.result(30)] == ["made", "made"]
    finally:
        hosting.use(None)
        pool.shutdown(wait=False, cancel_futures=True)


@pytest.mark.parametrize("ended", [{"is_over": True}, {"has_turn": False}], ids=["too long", "too many wait"])
def test_what_a_run_makes_after_the_server_has_ended_it_is_not_kept(ended):
    queue = SimpleNamespace(has_turn=True, is_over=False)
    cache = BoundedCache()

    def refused(*_):
        vars(queue).update(ended)
        return "This took too long."

    hosting.use(hosting.Hosting(queue, str, lambda _: False))
    try:
        assert cache.get("worth of heads", read=refused) == "This took too long."
        vars(queue).update(has_turn=True, is_over=False)
        assert cache.get("worth of heads", read=lambda *_: "0.7 nats") == "0.7 nats"
        assert cache.get("worth of heads", read=refused) == "0.7 nats"
    finally:
        hosting.use(None)
