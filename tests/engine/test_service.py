"""The engine's HTTP surface: token, deadline, size limits; a message that is sent twice with one id runs once."""

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from threading import Event
from typing import Any

import httpx
import pytest
import torch

from attnviz.engine.admission import Limits
from attnviz.engine.batching import Batcher
from attnviz.engine.exchange import DEADLINE, ID, WEIGHTS
from attnviz.engine.message import Message
from attnviz.engine.service import ModelService
from attnviz.models.translator.tiny import tiny_translator
from attnviz.tracing import storage
from tests.each_case import each_case
from tests.engine.alike import assert_alike
from tests.engine.served import TOKEN, Served, serve_models

WHO = {"Authorization": f"Bearer {TOKEN}"}


def message(text: str = "I love you", **how: Any) -> bytes:
    """Make a request for a trace."""
    return Message({"args": [text], "how": {"to": "fr"} | how}).to_bytes()


def post(engine: Served, body: bytes = b"", operation: str = "trace", **headers: str) -> httpx.Response:
    """Send a request to the engine, and return its answer."""
    return httpx.post(f"{engine.address}/models/tiny/{operation}", content=body, headers=WHO | headers, timeout=60)


def test_an_answer_is_a_saved_trace(running: Served, tmp_path) -> None:
    from attnviz.tracing.storage import load_trace

    answer = post(running, message(), **{ID: "one"})
    assert (answer.status_code, answer.headers[ID]) == (200, "one")
    file = tmp_path / "answer.npz"
    file.write_bytes(answer.content)
    trace = load_trace(file)
    assert trace.src_text == "I love you"


@pytest.mark.parametrize("given", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer schön"}])
def test_nobody_is_answered_without_the_token(running: Served, given: dict) -> None:
    given = {name: value.encode() for name, value in given.items()}
    for path in ("/models", "/models/tiny/about"):
        answer = httpx.get(running.address + path, headers=given)
        assert answer.status_code == 401
        assert "ATTNVIZ_ENGINE_TOKEN" in answer.json()["error"]
    assert httpx.post(f"{running.address}/models/tiny/trace", content=message(), headers=given).status_code == 401
    assert httpx.get(f"{running.address}/-/healthz").status_code == 200


@each_case(
    ("body", "operation", "headers", "status"),
    [
        (b"no zip", "trace", {}, 422),
        (Message({}).to_bytes(), "trace", {}, 400),
        (Message({"args": [3], "how": []}).to_bytes(), "trace", {}, 400),
        (message(nonsense=1), "trace", {}, 400),
        (message(), "unknown", {}, 404),
        (message(), "trace", {DEADLINE: "soon"}, 400),
        (message(), "trace", {DEADLINE: "12"}, 504),
        (message(), "trace", {DEADLINE: "nan"}, 504),
        (message(), "trace", {WEIGHTS: "others"}, 409),
    ],
)
def test_what_is_no_request_is_refused_with_a_sentence(
    running: Served, body: bytes, operation: str, headers: dict, status: int
) -> None:
    answer = post(running, body, operation, **headers)
    assert answer.status_code == status
    assert answer.json()["error"].endswith(".")


class Slow:
    """A model that is slow and counts its runs."""

    def __init__(self, seconds: float = 0.15) -> None:
        self._model, self._seconds, self.runs = tiny_translator(), seconds, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def trace(self, *args: Any, **how: Any) -> Any:
        self.runs += 1
        time.sleep(self._seconds)
        return self._model.trace(*args, **how)


class Held(Slow):
    """A model whose runs end when the test lets them."""

    def __init__(self) -> None:
        super().__init__(0.0)
        self.may_end = Event()

    def trace(self, *args: Any, **how: Any) -> Any:
        self.runs += 1
        self.may_end.wait(60)
        return self._model.trace(*args, **how)


class Full(Slow):
    """A model whose device has no memory left the first few times."""

    def __init__(self, times: int) -> None:
        super().__init__(0.0)
        self._times = times

    def trace(self, *args: Any, **how: Any) -> Any:
        if self.runs < self._times:
            self.runs += 1
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
        return super().trace(*args, **how)


@pytest.mark.parametrize(("times", "status"), [(1, 200), (2, 503)])
def test_a_full_device_is_tried_once_more_and_then_said_to_be_full(times: int, status: int) -> None:
    with serve_models({"tiny": Full(times)}, Limits(batch=1)) as engine:
        answer = post(engine, message())
    assert answer.status_code == status
    if status != 200:
        assert (answer.json()["type"], "no memory left" in answer.json()["error"]) == ("memory", True)


def test_asked_twice_with_one_id_it_runs_once() -> None:
    slow = Slow()
    with serve_models({"tiny": slow}) as engine, ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: post(engine, message(), **{ID: "same"}), range(4)))
        answers.append(post(engine, message(), **{ID: "same"}))
        assert slow.runs == 1
        assert len({answer.content for answer in answers}) == 1
        post(engine, message(), **{ID: "another"})
        assert slow.runs == 2


def test_a_failure_is_not_kept_for_who_asks_again(running: Served) -> None:
    assert post(running, message(" "), **{ID: "again"}).status_code == 422
    assert post(running, message(), **{ID: "again"}).status_code == 200


@pytest.mark.parametrize(
    ("limits", "each", "let_in"),
    [(Limits(waiting=3, batch=1), 0.0, 3), (Limits(batch=1, wait_seconds=0.5), 0.3, 1)],
    ids=["as many as may wait", "as many as can be answered soon"],
)
def test_what_is_too_much_is_told_to_come_again_before_the_others_are_answered(
    limits: Limits, each: float, let_in: int
) -> None:
    held = Held()
    with serve_models({"tiny": held}, limits) as engine, ThreadPoolExecutor(12) as pool:
        engine.services["tiny"]._admission.learn("trace", each)
        asked = [pool.submit(post, engine, message()) for _ in range(12)]
        refused = [one.result() for one in islice(as_completed(asked), 12 - let_in)]
        held.may_end.set()
        statuses = [one.result().status_code for one in asked]
    assert {(answer.status_code, answer.headers.get("Retry-After")) for answer in refused} == {(429, "1")}
    assert (statuses.count(200), statuses.count(429)) == (let_in, 12 - let_in)


@pytest.mark.parametrize("batch", [1, 4])
def test_what_is_late_when_its_turn_comes_never_begins(batch: int) -> None:
    held, deadline = Held(), 0.3  # seconds
    with serve_models({"tiny": held}, Limits(batch=batch)) as engine, ThreadPoolExecutor(2) as pool:
        before = pool.submit(post, engine, message("before"))
        while not held.runs:
            time.sleep(0.01)
        late = pool.submit(post, engine, message(), **{DEADLINE: f"{time.time() + deadline:.3f}"})
        time.sleep(deadline)
        held.may_end.set()
        assert before.result().status_code == 200
        assert late.result().status_code == 504
    assert held.runs == 1
    assert "could begin" in late.result().json()["error"]


def test_who_came_first_is_answered_first() -> None:
    async def ask() -> tuple[list[list[int]], list[int]]:
        batches, ended = [], []

        async def run(items: Sequence[int]) -> Sequence[int]:
            batches.append([*items])
            await asyncio.sleep(0)
            return items

        batcher: Batcher[int, int] = Batcher(run, most=3, seconds=0.0)

        async def visitor(number: int) -> None:
            ended.append(await batcher.submit("one key", number))

        await asyncio.gather(*map(visitor, range(8)))
        return batches, ended

    with ThreadPoolExecutor(1) as apart:  # a test with a browser has an event loop in this thread
        batches, ended = apart.submit(asyncio.run, ask()).result()
    assert batches == [[0, 1, 2], [3, 4, 5], [6, 7]]
    assert ended == [*range(8)]


@pytest.mark.parametrize("name", ["tiny", "bert"])
def test_what_runs_together_equals_what_runs_alone(models: dict, name: str) -> None:
    texts = ["I love you", "a", "a big red dog jumped over a small pond", "machine learning is fun", " "]
    how = {"to": "zh"} if name == "tiny" else {}
    batches: list[int] = []

    async def ask() -> list[Any]:
        service = ModelService(models[name], name, limits=Limits(batch=4, batch_seconds=0.5))
        together = service._run_batch
        service._run_batch = lambda jobs: batches.append(len(jobs)) or together(jobs)  # type: ignore[method-assign]
        transport = httpx.ASGITransport(_route(service))
        async with httpx.AsyncClient(transport=transport, base_url="http://attn.example") as client:
            bodies = [Message({"args": [text], "how": how}).to_bytes() for text in texts]
            return await asyncio.gather(*(client.post("/trace", content=body) for body in bodies))

    with ThreadPoolExecutor(1) as apart:  # a test with a browser has an event loop in this thread
        answers = apart.submit(asyncio.run, ask()).result()
    assert batches == [4]  # the blank one runs alone, and says what is wrong with it
    for text, answer in zip(texts[:-1], answers, strict=False):
        assert_alike(models[name].trace(text, **how), storage.from_bytes(answer.content), within=5e-6)
    assert answers[-1].status_code == 422


def test_a_refused_request_spoils_no_batch(models: dict) -> None:
    service_limits = Limits(batch=3, batch_seconds=0.1)
    with serve_models({"tiny": models["tiny"]}, service_limits) as engine, ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda text: post(engine, message(text)), ["I", "\u200b", "you"]))
        assert [answer.status_code for answer in answers][::2] == [200, 200]


def _route(service: ModelService) -> Any:
    from attnviz.engine.serving import engine_app

    app = engine_app({"m": service})

    async def strip_prefix(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, "path": f"/models/m{scope['path']}"}, receive, send)

    return strip_prefix
