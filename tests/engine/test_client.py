"""The engine's client: it retries, waits when asked to, stops at its deadline, and finds the engine again."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from attnviz.engine import client
from attnviz.engine.client import Engine, EngineGoneError, OtherWeightsError
from attnviz.engine.engine_translator import EngineTranslator
from attnviz.engine.exchange import DEADLINE, ID
from attnviz.engine.message import Message
from attnviz.engine.remote import RemoteModel
from attnviz.models.translator.tiny import tiny_translator
from tests.engine.alike import assert_alike
from tests.engine.served import TOKEN, serve_models

Answers = list[Callable[[BaseHTTPRequestHandler], None]]


def status(code: int, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer without a sentence, as Ray's proxy does."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()

    return answer


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    """Close the connection without an answer, as a killed replica does."""
    handler.close_connection = True


@contextmanager
def answering(first: Answers) -> Iterator[tuple[str, list[dict]]]:
    """Start a server that gives these answers to messages, then right ones; its address, and the headers it got."""
    seen: list[dict] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b'{"models": [{"name": "tiny", "path": "tiny"}]}'
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            seen.append(dict(self.headers))
            if first:
                first.pop(0)(self)
                return
            self.send_response(200)
            self.send_header(ID, self.headers[ID])
            self.end_headers()
            self.wfile.write(Message({"done": True}).to_bytes())

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses between retries."""
    for name, seconds in (("_PAUSE", 0.01), ("_GONE_AFTER", 0.2), ("_LOOK_AGAIN", 0.05), ("_SELDOMEST", 0.1)):
        monkeypatch.setattr(client, name, seconds)


def test_what_a_dying_replica_loses_is_asked_again_with_the_same_id() -> None:
    lost = [hang_up, status(500), status(503), hang_up]
    with answering(lost) as (address, seen), closing(Engine(address)) as engine:
        answer = engine.ask("tiny", "trace", Message())
    assert Message.from_bytes(answer).meta == {"done": True}
    assert len(seen) == 5
    assert len({headers[ID] for headers in seen}) == 1
    assert len({headers[DEADLINE] for headers in seen}) == 1


def test_a_replica_that_dies_late_in_a_long_answer_is_no_engine_that_is_gone() -> None:
    def hang_up_later(handler: BaseHTTPRequestHandler) -> None:
        time.sleep(0.5)  # longer than silence is tolerated
        hang_up(handler)

    with answering([hang_up_later]) as (address, seen), closing(Engine(address)) as engine:
        engine.ask("tiny", "trace", Message())
        assert engine.is_there
    assert len(seen) == 2


def test_told_to_wait_it_waits() -> None:
    with answering([status(429, Retry_After="1")]) as (address, seen), closing(Engine(address)) as engine:
        began = time.monotonic()
        engine.ask("tiny", "trace", Message())
        assert time.monotonic() - began >= 0.95
    assert len(seen) == 2


def test_it_gives_up_at_the_deadline_and_says_that_there_was_too_much_to_do() -> None:
    with answering([status(429)] * 999) as (address, _), closing(Engine(address, seconds=0.3)) as engine:
        with pytest.raises(EngineGoneError, match="too busy"):
            engine.ask("tiny", "trace", Message())
        assert engine.is_there  # it is only busy


def test_an_answer_to_somebody_else_is_none() -> None:
    def foreign(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header(ID, "another")
        handler.end_headers()

    with (
        answering([foreign]) as (address, _),
        closing(Engine(address)) as engine,
        pytest.raises(EngineGoneError, match="another request"),
    ):
        engine.ask("tiny", "trace", Message())


@pytest.mark.parametrize("address", ["127.0.0.1:8600", "ftp://engine", "engine"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="ATTNVIZ_ENGINE is an address"):
        Engine(address)


def test_a_wrong_token_is_said(models: dict) -> None:
    with (
        serve_models({"tiny": models["tiny"]}) as running,
        closing(Engine(running.address, "wrong")) as engine,
        pytest.raises(ValueError, match="ATTNVIZ_ENGINE_TOKEN"),
    ):
        engine.models()


def test_a_translator_runs_here_while_the_engine_is_gone_and_there_again_when_it_is_back(
    models: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    run = RemoteModel.trace
    monkeypatch.setattr(RemoteModel, "trace", lambda self, *a, **how: asked.append(a[0]) or run(self, *a, **how))
    with serve_models({"tiny": models["tiny"]}) as served_here, closing(Engine(served_here.address, TOKEN)) as engine:
        model = EngineTranslator(tiny_translator(), engine)
        plain = tiny_translator().trace("I love you", to="fr")
        assert_alike(model.trace("I love you", to="fr"), plain)
        assert asked == ["I love you"]
        served_here.stop()
        assert_alike(model.trace("I love you", to="fr"), plain)
        assert not engine.is_there
        assert_alike(model.rerun(plain), plain)
        assert model.translate("I love you", to="fr") == plain.tgt_text
        served_here.start()
        until = time.monotonic() + 60
        while not engine.is_there and time.monotonic() < until:
            time.sleep(0.02)
        asked.clear()
        model.trace("you", to="fr")
        assert asked == ["you"]


def test_a_translator_runs_here_where_the_engine_has_other_weights() -> None:
    other = tiny_translator(seed=1)
    with serve_models({"tiny": other}) as running, closing(Engine(running.address, TOKEN)) as engine:
        model = EngineTranslator(tiny_translator(), engine)
        assert_alike(model.trace("I love you", to="fr"), tiny_translator().trace("I love you", to="fr"))


def test_new_weights_are_noticed_and_the_next_run_is_theirs() -> None:
    with serve_models({"tiny": tiny_translator()}) as running, closing(Engine(running.address, TOKEN)) as engine:
        model = RemoteModel(engine, "tiny")
        running.services["tiny"]._model = other = tiny_translator(seed=1)
        running.services["tiny"].about = type(model.about).describe(other, "tiny")
        with pytest.raises(OtherWeightsError, match="other weights"):
            model.trace("I love you", to="fr")
        assert_alike(model.trace("I love you", to="fr"), other.trace("I love you", to="fr"))
