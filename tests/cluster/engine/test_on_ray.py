"""The engine on a real Ray cluster: right, alone and in batches; killed, overloaded, replaced and stopped.

ATTNVIZ_ENGINE_SECONDS says how long replicas are killed (180), ATTNVIZ_ENGINE_STOPPED how long the engine is away (60).
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
import torch

from attnviz.analysis.masks.mask_spec import MaskSpec
from attnviz.analysis.rerun import write_again
from attnviz.engine.client import Engine
from attnviz.engine.message import ID, Message
from attnviz.engine.remote import RemoteModel
from attnviz.engine.translator_there import TranslatorThere
from attnviz.models.catalogue import DEFAULT, translator
from attnviz.models.decoding_record import decoding_record
from attnviz.tracing import storage
from attnviz.tracing.causes.making import ablate
from attnviz.tracing.interventions import MaskOverride
from attnviz.transformer.probe import Site
from tests.cluster.engine.conftest import KINDS, PORT, TOKEN, OnRay
from tests.engine.alike import assert_alike

TEXT = "I love you very much."
KILLED_FOR = float(os.environ.get("ATTNVIZ_ENGINE_SECONDS", "180"))
KILLED_EVERY = 20.0
STOPPED_FOR = float(os.environ.get("ATTNVIZ_ENGINE_STOPPED", "60"))
WITHIN = 1e-6  # threads sum in another order; in one thread it is the same to the last digit
_ADDRESS = f"http://127.0.0.1:{PORT}/models/{DEFAULT}"
_WHO = {"Authorization": f"Bearer {TOKEN}"}


def posted(client: httpx.Client, text: str, id_: str = "") -> httpx.Response:
    """What a single request is answered, which is not repeated."""
    body = Message({"args": [text], "how": {"to": "fr"}}).to_bytes()
    return client.post(f"{_ADDRESS}/trace", content=body, headers=_WHO | {ID: id_}, timeout=60)


@pytest.mark.parametrize("name", [DEFAULT, *KINDS])
def test_traces_masks_interventions_and_steps_equal_the_local_models(engine: Engine, local: dict, name: str) -> None:
    here, there = local[name], RemoteModel(engine, name)
    to = {"to": "de"} if here.inputs.has_language else {}
    kind = here.kinds[-1]
    done = {**to, "interventions": [ablate(kind, layer=0, heads=[1])]}
    for how in (to, done):
        assert_alike(here.trace(TEXT, **how), there.trace(TEXT, **how), within=WITHIN)
    trace = here.trace(TEXT, **to)
    mask = MaskOverride([Site(kind, 0)], MaskSpec({"window": (1,)}).build)
    assert_alike(here.rerun(trace, mask), there.rerun(trace, mask), within=WITHIN)
    if here.writes:
        assert write_again(here, trace, mask) == write_again(there, trace, mask)
        records = [decoding_record(one.stepwise(TEXT, **to)) for one in (here, there)]
        assert records[0].chosen == records[1].chosen
        torch.testing.assert_close(records[0].logits, records[1].logits, atol=1e-5, rtol=1e-5)
        for each, attn in records[0].attn.items():
            torch.testing.assert_close(attn, records[1].attn[each], atol=WITHIN, rtol=0)


def test_what_runs_together_equals_what_runs_alone(engine: Engine, local: dict) -> None:
    texts = [f"{TEXT} {'I like it. ' * (count % 5)}{count}" for count in range(24)]
    there = RemoteModel(engine, DEFAULT)
    with ThreadPoolExecutor(12) as pool:
        together = list(pool.map(lambda text: there.trace(text, to="es"), texts))
    for text, made in zip(texts, together, strict=True):
        alone = local[DEFAULT].trace(text, to="es")
        assert made.sentences == alone.sentences
        for kind in alone.kinds:
            torch.testing.assert_close(made.attn(kind), alone.attn(kind), atol=WITHIN, rtol=0)


def test_an_answer_is_a_trace_that_numpy_reads(engine: Engine) -> None:
    with httpx.Client() as raw:
        answer = posted(raw, TEXT, "its id")
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
                pid = int(posted(raw, "Who answers?").headers["X-Attnviz-Replica"])
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
            time.sleep(5)
        finally:
            stop.set()
        answers = [answer for one in asked for answer in one.result()]
    seconds = sorted(took for *_, took in answers)
    print(
        f"{len(answers)} answers, {len(killed)} kills, p50 {seconds[len(seconds) // 2]:.2f} s, worst {seconds[-1]:.2f} s"
    )
    assert killed
    assert all(asked == answered for asked, answered, _ in answers)
    assert len({asked for asked, *_ in answers}) == len(answers)
    assert seconds[-1] < 3.0


def test_of_five_times_too_much_the_rest_is_told_to_come_again(engine: Engine) -> None:
    RemoteModel(engine, DEFAULT)  # it is up
    stop, answers = time.monotonic() + 10, list[tuple[int, float]]()

    def client(number: int) -> None:
        with httpx.Client() as raw:
            while time.monotonic() < stop:
                began = time.monotonic()
                answer = posted(raw, f"Number {number} at {began}.")
                answers.append((answer.status_code, time.monotonic() - began))
                if answer.status_code == 429:
                    assert float(answer.headers["Retry-After"]) >= 1
                    time.sleep(0.1)

    with ThreadPoolExecutor(160) as pool:
        list(pool.map(client, range(160)))
    statuses = [status for status, _ in answers]
    accepted = sorted(took for status, took in answers if status == 200)
    print(f"{len(accepted)} accepted, {statuses.count(429)} refused, p95 {accepted[int(0.95 * len(accepted))]:.2f} s")
    assert set(statuses) == {200, 429}
    assert accepted[int(0.95 * len(accepted))] < 5.0


def test_models_are_replaced_without_a_failure(on_ray: OnRay, engine: Engine) -> None:
    RemoteModel(engine, DEFAULT)
    stop = threading.Event()

    def client(number: int) -> list[int]:
        found = []
        with httpx.Client() as raw:
            while not stop.is_set():
                found.append(posted(raw, f"Number {number}, {len(found)}.").status_code)
        return found

    pids = _pids()
    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(client, number) for number in range(6)]
        try:
            on_ray.process.send_signal(signal.SIGHUP)
            on_ray.wait_for("every model was loaded again")
        finally:
            stop.set()
        statuses = [status for one in asked for status in one.result()]
    print(f"{len(statuses)} answers while replicas were replaced")
    assert set(statuses) == {200}
    assert not pids & _pids()


def test_a_stopped_engine_stops_no_dashboard(on_ray: OnRay, engine: Engine) -> None:
    model = TranslatorThere(translator(DEFAULT), engine)
    plain = model.trace(TEXT, to="fr")
    on_ray.stop()
    until, runs = time.monotonic() + STOPPED_FOR, 0
    while time.monotonic() < until:
        assert_alike(model.trace(TEXT, to="fr"), plain, within=1e-5)
        assert not engine.is_there
        runs += 1
    print(f"{runs} runs in the dashboard while the engine was away")
    on_ray.start()
    _until(lambda: engine.is_there, 60)
    with httpx.Client() as raw:
        assert posted(raw, TEXT).status_code == 200


def _pids() -> set[str]:
    with httpx.Client() as raw:
        return {posted(raw, f"Who? {count}").headers["X-Attnviz-Replica"] for count in range(24)}


def _until(is_so: Callable[[], Any], seconds: float) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.1)
