"""Admission control: the engine accepts a request if recent answers say that it can answer in time, and accepts again
once it is quick again.
"""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from attnviz.engine.admission import Admission, Limits
from attnviz.engine.door import PROXY_VARIABLE, EngineDoor, middlewares, variables
from attnviz.engine.exchange import DEADLINE, SENT, RefusedError
from attnviz.engine.service import ModelService
from attnviz.models.translator.tiny import tiny_translator
from tests.each_case import each_case

FOR_EVER = float("inf")


def taking(**seconds: float) -> Admission:
    """Make an admission that knows what operations take, with four seconds for each request."""
    made = Admission(Limits(waiting=100, wait_seconds=4.0))
    for operation, each in seconds.items():
        made.learn(operation, each)
    return made


def admits(admission: Admission, operation: str = "trace", *, age: float = 0.0, within: float = FOR_EVER) -> bool:
    """Check whether one more request is accepted, by its age and its deadline in seconds."""
    try:
        admission.enter(operation, sent=time.time() - age, until=time.time() + within)
    except RefusedError as refusal:
        return refusal.status != 429
    return True


@each_case(
    ("seconds", "age", "within", "count"),
    [(0.49, 0.0, FOR_EVER, 8), (0.49, 2.1, FOR_EVER, 3), (0.49, 0.0, 2.1, 4), (0.01, 0.0, FOR_EVER, 100)],
)
def test_as_many_are_let_in_as_will_be_answered_in_time(seconds: float, age: float, within: float, count: int) -> None:
    admission = taking(trace=seconds)
    assert [admits(admission, age=age, within=within) for _ in range(101)].count(True) == count


def test_where_nothing_is_to_be_done_everybody_is_let_in() -> None:
    admission = taking(trace=60.0)
    assert admits(admission, age=30.0)
    assert not admits(admission)


def test_each_operation_takes_its_own_time_and_an_unknown_one_the_longest() -> None:
    admission = taking(trace=0.1, stepwise=3.5)
    assert admits(admission, "stepwise")
    assert admits(admission, "trace")
    assert not admits(admission, "stepwise")
    assert not admits(admission, "rerun")


def test_a_refusal_says_after_how_many_seconds_to_try_again() -> None:
    admission = taking(trace=4.0)
    assert admits(admission)
    with pytest.raises(RefusedError) as refusal:
        admission.enter("trace", sent=time.time(), until=FOR_EVER)
    assert refusal.value.again == 4


def test_it_learns_from_answers_and_from_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    still = SimpleNamespace(time=time.time, monotonic=lambda: 0.0)  # each answer takes no time at all
    monkeypatch.setattr("attnviz.engine.admission.time", still)
    admission = taking(trace=1.0)
    first, second = (admission.enter("trace", sent=time.time(), until=FOR_EVER) for _ in range(2))
    assert (first.share, second.share) == (1.0, 0.5)  # the second has waited for the first
    admission.leave(first, is_answered=False)
    assert admission.seconds_of("trace") == 1.0
    admission.leave(second, is_answered=True)
    assert admission.seconds_of("trace") == pytest.approx(0.7)
    assert admits(admission, age=30.0)  # both have gone


def test_a_model_that_has_warmed_up_knows_what_an_answer_takes() -> None:
    service = ModelService(tiny_translator(), "tiny")
    service.warm_up()
    assert service._admission.seconds_of("trace") > 0


def test_a_model_that_cannot_warm_up_answers_all_the_same(models: dict) -> None:
    class Refusing:
        def __getattr__(self, name: str) -> object:
            return getattr(models["bert"], name)

        def trace(self, *_: object, **how: object) -> None:
            raise ValueError("It takes something else.")

    ModelService(Refusing(), "bert").warm_up()  # type: ignore[arg-type]


def test_the_door_refuses_without_asking_what_is_behind_it() -> None:
    asked: list[str] = []

    async def ask() -> tuple[list[httpx.Response], list[httpx.Response]]:
        may_end = asyncio.Event()

        async def answer(request: Request) -> Response:
            asked.append(request.url.path)
            await may_end.wait()
            return PlainTextResponse("an answer")

        app = EngineDoor(Starlette(routes=[Route("/{any:path}", answer, methods=["GET", "POST"])]), ["large"])
        app._admissions["/models/large"].learn("trace", 1.5)  # seconds, of the four that a request may wait
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://attn.example") as client:
            wanted = {SENT: f"{time.time():.3f}", DEADLINE: f"{time.time() + 2.9:.3f}"}  # before a second could end
            many = [asyncio.create_task(client.post("/models/large/trace", headers=wanted)) for _ in range(12)]
            paths = ("GET /models", "POST /models/other/trace", "GET /models/large/about")
            others = [asyncio.create_task(client.request(*path.split())) for path in paths]
            while asked.count("/models/large/trace") + sum(one.done() for one in many) < len(many):
                await asyncio.sleep(0)
            refused = [one.result() for one in many if one.done()]
            assert {answer.status_code for answer in refused} == {429}  # the one that was let in still waits
            may_end.set()
            return await asyncio.gather(*many), await asyncio.gather(*others)

    with ThreadPoolExecutor(1) as apart:  # a test with a browser has an event loop in this thread
        many, others = apart.submit(asyncio.run, ask()).result()
    assert [answer.status_code for answer in many].count(200) == 1
    assert {answer.headers["Retry-After"] for answer in many if answer.status_code == 429} == {"1"}
    assert {answer.status_code for answer in others} == {200}
    assert len(asked) == 1 + len(others)


def test_ray_is_told_of_the_door_by_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    told = variables({"/srv/models/large": "large", "gpt2": "gpt2"})
    assert told[PROXY_VARIABLE] == "attnviz.engine.door.middlewares"
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    (one,) = middlewares()
    assert (one.cls, one.args) == (EngineDoor, (["large", "gpt2"],))
