"""The engine on a real Ray cluster: replicas killed, overloaded and replaced, and all of it stopped.

Seconds are measured and told (-s), never asserted. ATTNVIZ_ENGINE_SECONDS says how long replicas are killed (180),
ATTNVIZ_ENGINE_STOPPED how long the engine is away (60).
"""

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import httpx

from attnviz.engine.admission import Limits
from attnviz.engine.client import Engine
from attnviz.engine.engine_translator import EngineTranslator
from attnviz.engine.exchange import ID, SENT
from attnviz.engine.message import Message
from attnviz.engine.remote import RemoteModel
from attnviz.models.catalogue import DEFAULT, translator
from attnviz.tracing import storage
from benchmarks.timing import percentile
from tests.cluster.engine.conftest import PORT, TOKEN, OnRay
from tests.engine.alike import assert_alike

MODELS, REPLICAS = (DEFAULT,), 2
TEXT = "I love you very much."
KILLED_FOR = float(os.environ.get("ATTNVIZ_ENGINE_SECONDS", "180"))
KILLED_EVERY = 20.0
STOPPED_FOR = float(os.environ.get("ATTNVIZ_ENGINE_STOPPED", "60"))
_FEWEST = 8 * Limits().waiting  # requests, of a slow machine's too much
_ADDRESS = f"http://127.0.0.1:{PORT}/models/{DEFAULT}"
_WHO = {"Authorization": f"Bearer {TOKEN}"}


def say(sentence: str) -> None:
    """Print what was counted: `pytest -s` shows it."""
    sys.stdout.write(f"\n{sentence}\n")


def post(client: httpx.Client, text: str, id_: str = "") -> httpx.Response:
    """Post one request, once, and return its answer."""
    body = Message({"args": [text], "how": {"to": "fr"}}).to_bytes()
    return client.post(f"{_ADDRESS}/trace", content=body, headers=_WHO | {ID: id_}, timeout=60)


def test_an_answer_is_a_trace_that_numpy_reads(engine: Engine) -> None:
    with httpx.Client() as raw:
        answer = post(raw, TEXT, "its id")
    assert answer.headers[ID] == "its id"
    assert storage.from_bytes(answer.content).src_text == TEXT


def test_killed_replicas_lose_nothing_and_double_nothing(engine: Engine) -> None:
    there, stop = RemoteModel(engine, DEFAULT), threading.Event()

    def client(number: int) -> list[tuple[str, str, float]]:
        found = []
        while not stop.is_set():
            text, began = f"Client {number} asks {len(found)} times.", time.monotonic()
            found.append((text, there.trace(text, to="fr").src_text, time.monotonic() - began))
        return found

    killed = []
    with ThreadPoolExecutor(8) as pool, httpx.Client() as raw:
        asked = [pool.submit(client, number) for number in range(8)]
        until = time.monotonic() + KILLED_FOR
        try:
            while time.monotonic() + 5 < until:
                time.sleep(min(KILLED_EVERY, KILLED_FOR / 2))
                killed.append(_one_of_two(raw))
                os.kill(killed[-1], signal.SIGKILL)
            time.sleep(5)
        finally:
            stop.set()
        answers = [answer for one in asked for answer in one.result()]
    seconds = sorted(took for *_, took in answers)
    say(f"{len(answers)} answers, {len(killed)} kills, p50 {percentile(seconds, 50):.2f} s, worst {seconds[-1]:.2f} s")
    assert killed
    assert all(asked == answered for asked, answered, _ in answers)
    assert len({asked for asked, *_ in answers}) == len(answers)


def test_of_five_times_too_much_the_rest_is_told_to_come_again(engine: Engine) -> None:
    """The order of answers is tested in tests/engine: by this client's clock, a busy machine has answers change places
    that did not.
    """
    RemoteModel(engine, DEFAULT)  # it is up
    with httpx.Client() as raw:
        _one_of_two(raw)  # after what was killed before
    with ThreadPoolExecutor(1) as apart:  # a test with a browser has an event loop in this thread
        most, answers = apart.submit(asyncio.run, _too_much(5.0, seconds=10.0)).result()
    accepted, refused = ([one for one in answers if one.status == code] for code in (200, 429))
    told = (
        f"{len(found)} {word}, p95 {_p95(found):.2f} s" for found, word in ((accepted, "accepted"), (refused, "not"))
    )
    say(f"{most:.0f} are answered a second; of {len(answers)} in 10 s: {', '.join(told)}")
    assert {one.status for one in answers} == {200, 429}
    assert all(storage.from_bytes(one.content).src_text == one.text for one in accepted)
    assert len({one.replica for one in accepted}) == REPLICAS


class _Answer(NamedTuple):
    """The answer to one request, and when it was sent and received by the client's clock."""

    text: str
    status: int
    content: bytes
    replica: str
    sent: float
    ended: float


def _p95(answers: list[_Answer]) -> float:
    return percentile([one.ended - one.sent for one in answers], 95)


async def _too_much(times: float, *, seconds: float) -> tuple[float, list[_Answer]]:
    """Measure how many requests a second are answered, at capacity and far above it."""
    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=None), headers=_WHO, timeout=120) as client:
        stop, answered = time.monotonic() + 4, list[int]()

        async def visitor(number: int) -> None:
            while time.monotonic() < stop:
                answered.append((await _ask(client, f"Number {number}, {len(answered)}.")).status)

        await asyncio.gather(*map(visitor, range(16)))
        most, began, tasks = answered.count(200) / 4, time.monotonic(), list[asyncio.Task[_Answer]]()
        rate = max(times * most, _FEWEST / seconds)
        for number in range(int(rate * seconds)):
            await asyncio.sleep(began + number / rate - time.monotonic())
            tasks.append(asyncio.create_task(_ask(client, f"Much, {number}.")))
        return most, await asyncio.gather(*tasks)


async def _ask(client: httpx.AsyncClient, text: str) -> _Answer:
    body, began = Message({"args": [text], "how": {"to": "fr"}}).to_bytes(), time.monotonic()
    answer = await client.post(f"{_ADDRESS}/trace", content=body, headers={SENT: f"{time.time():.3f}"})
    assert answer.status_code != 429 or float(answer.headers["Retry-After"]) >= 1
    replica = answer.headers.get("X-Attnviz-Replica", "")
    return _Answer(text, answer.status_code, answer.content, replica, began, time.monotonic())


def test_models_are_replaced_without_a_failure(ray_engine: OnRay, engine: Engine) -> None:
    RemoteModel(engine, DEFAULT)
    stop = threading.Event()

    def client(number: int) -> list[int]:
        found = []
        with httpx.Client() as raw:
            while not stop.is_set():
                found.append(post(raw, f"Number {number}, {len(found)}.").status_code)
                if found[-1] == 429:
                    time.sleep(0.2)
        return found

    pids = _pids()
    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(client, number) for number in range(6)]
        try:
            ray_engine.process.send_signal(signal.SIGHUP)
            ray_engine.wait_for("every model was loaded again")
        finally:
            stop.set()
        statuses = [status for one in asked for status in one.result()]
    say(f"{statuses.count(200)} answers and {statuses.count(429)} to come again while replicas were replaced")
    assert 200 in statuses
    assert set(statuses) <= {200, 429}  # a replica that has just come is slow, and may let in fewer
    assert not pids & _pids()


def test_a_stopped_engine_stops_no_dashboard(ray_engine: OnRay, engine: Engine) -> None:
    model = EngineTranslator(translator(DEFAULT), engine)
    plain = model.trace(TEXT, to="fr")
    ray_engine.stop()
    until, runs = time.monotonic() + STOPPED_FOR, 0
    while time.monotonic() < until:
        assert_alike(model.trace(TEXT, to="fr"), plain, within=1e-5)
        assert not engine.is_there
        runs += 1
    say(f"{runs} runs in the dashboard while the engine was away")
    ray_engine.start()
    _wait_for(lambda: engine.is_there, 60)
    with httpx.Client() as raw:
        assert post(raw, TEXT).status_code == 200


def _one_of_two(raw: httpx.Client) -> int:
    """Return the process of a replica, once two run: on a busy machine one takes longer than 20 seconds to come up."""
    seen: list[str] = []

    def two() -> bool:
        answer = post(raw, f"Who answers? {time.monotonic()}")
        seen.extend([answer.headers["X-Attnviz-Replica"]] if answer.status_code == 200 else [])
        return len(set(seen[-8:])) == 2

    _wait_for(two, 240)
    return int(seen[-1])


def _pids() -> set[str]:
    with httpx.Client() as raw:
        answers = [post(raw, f"Who? {count}") for count in range(24)]
    return {answer.headers["X-Attnviz-Replica"] for answer in answers if answer.status_code == 200}


def _wait_for(is_so: Callable[[], Any], seconds: float) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.1)
