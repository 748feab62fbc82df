"""Long work of a listed model: replies, hidden spans, and a chat template that never ends. Others are answered, and
memory is bounded. What takes long on a large model is made to take long on a tiny one.
"""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from tests.browser.served.process import start_server
from tests.models.huggingface.chat import chat_folder
from tests.websocket.visitor import Visitor

HOSTILE, HONEST = {"X-Forwarded-For": "192.0.2.9"}, {"X-Forwarded-For": "192.0.2.1"}
SPANS = 60
TEXT = "cat dog " * 40
ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
PATIENCE = 100.0  # seconds that anything may take on a busy machine
# A pass takes a quarter of a second until there is a file “fast”, a token a tenth, and a template as long as it
# likes. Passes, tokens and renderings are told of in files. At the first token of a reply caches let go of its prompt's
# trace, and nothing else has it.
SLOW = """
import gc, os, pathlib, time, weakref
from attnviz.decoding.reply.numbers.reply import Reply
from attnviz.models.huggingface.chat import template
from attnviz.models.huggingface.model import HuggingFaceModel
from attnviz.app.cache import bounded, budget, traces

folder, template.SECONDS, budget.PARTS["replies"] = pathlib.Path({folder!r}), 1000.0, 1e-9
rerun, go_on, attention, empty, begin, ask = (
    HuggingFaceModel.rerun, Reply.go_on, traces.attention, bounded.empty, Reply.__init__, template._Process.ask)
traced, replies = {{}}, weakref.WeakSet()

def tell(file, line):
    with (folder / file).open("a") as out:
        out.write(f"{{line}}\\n")

def slow_rerun(*given, **named):
    if not (folder / "fast").exists():
        time.sleep(0.25)
    tell("passes", 1)
    return rerun(*given, **named)

def slow_go_on(reply, count):
    traces._traces.forget(lambda _: True)
    tell("tokens", f"{{id(reply)}} {{traced[reply.prompt.encoded.text]() is not None}}")
    time.sleep(0.1)
    return go_on(reply, count)

def watched_attention(request):
    made = attention(request)
    if request.src[:1].isdigit():  # the prompt of a reply
        traced[request.src] = weakref.ref(made)
    return made

def watched_empty():
    held = empty()
    tell("replies", len(replies))
    return held

def watched_begin(reply, *given, **named):
    replies.add(reply)
    begin(reply, *given, **named)

def watched_ask(*given):
    tell("renderings", 1)
    return ask(*given)

HuggingFaceModel.rerun, Reply.go_on, traces.attention, bounded.empty, Reply.__init__, template._Process.ask = (
    slow_rerun, slow_go_on, watched_attention, watched_empty, watched_begin, watched_ask)
"""


@dataclass(frozen=True)
class Server:
    """A server with two listed models, and the folder in which it tells what it computes."""

    address: str
    pid: int
    folder: Path

    def told(self, file: str) -> list[str]:
        """Return the lines that it has told so far."""
        with suppress(FileNotFoundError):
            return (self.folder / file).read_text(encoding="utf-8").split("\n")[:-1]
        return []

    def ended_runs(self, page: str) -> int:
        """Count the runs of a page that have ended so far, as the log says."""
        return sum(f'"event": "answer", "page": "{page}"' in line for line in self.told("log"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("models")
    models = [str(chat_folder.save(folder / name, template)) for name, template in MODELS.items()]
    given = {"ATTNVIZ_MODELS": ",".join(models), "ATTNVIZ_PROXIES": "127.0.0.1", "ATTNVIZ_STOP_SECONDS": "0"}
    given["ATTNVIZ_DATABASE"] = str(folder / "classes.sqlite")
    with start_server(folder / "log", given, first=SLOW.format(folder=str(folder))) as (address, process):
        for model in models:
            with Visitor(address, patience=PATIENCE, headers=HOSTILE) as visitor:
                assert not visitor.open("heads", {"model": model, "src": "cat"}).exceptions
        yield Server(address, process.pid, folder)


MODELS = {"decoder": "{{ messages[0].content }}", "endless": ENDLESS}


@contextmanager
def visitors(server: Server, page: str, *queries: dict[str, str]) -> Iterator[list[threading.Thread]]:
    """Open a page with each query, in a browser of the hostile address each; they leave at the end of the block."""
    opened: list[Visitor] = []

    def browse(query: dict[str, str]) -> None:
        with (
            suppress(ConnectionClosed, TimeoutError),
            Visitor(server.address, patience=PATIENCE, headers=HOSTILE) as one,
        ):
            opened.append(one)
            one.open(page, {"model": str(server.folder / "decoder")} | query)

    threads = [threading.Thread(target=browse, args=(query,)) for query in queries]
    for thread in threads:
        thread.start()
    try:
        yield threads
    finally:
        for one in opened:
            with suppress(RuntimeError):  # it has left already
                one._connection.close()
        for thread in threads:
            thread.join()


def comes_true(is_so: Callable[[], object], seconds: float = PATIENCE) -> bool:
    """Wait until a condition holds; return whether it did in time."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def ask_honestly(server: Server) -> None:
    """Ask the shipped translator for a sentence, from another address."""
    with Visitor(server.address, patience=PATIENCE, headers=HONEST) as visitor:
        shown = visitor.open("", {"src": "I love you."})
        assert not shown.exceptions
        assert not shown.alerts


def spans_of(text: str) -> dict[str, str]:
    """Ask for each token of a text hidden in turn."""
    spans = ";".join(f"token {at}={at}-{at + 1}" for at in range(1, SPANS + 1))
    answer = f"{SPANS + 3}-{SPANS + 5}"
    return {"src": text, "tab": "spans", "spans": spans.replace(" ", "%20"), "answer": answer, "hidden": "later"}


def test_hidden_spans_give_way_to_another_address_and_end_when_their_visitor_leaves(server: Server) -> None:
    texts, ended = [f"{word} {TEXT}" for word in ("The", "A")], server.ended_runs("heads")
    with visitors(server, "heads", *map(spans_of, texts)) as hostile:
        assert comes_true(lambda: len(server.told("passes")) > 4)
        ask_honestly(server)
        ask_honestly(server)
        assert all(thread.is_alive() for thread in hostile), "others need not wait until all spans are hidden"
    assert comes_true(lambda: server.ended_runs("heads") >= ended + 2)
    assert len(server.told("passes")) < 2 * SPANS, "nobody waits for these any more"
    (server.folder / "fast").touch()
    with Visitor(server.address, patience=PATIENCE, headers=HONEST) as visitor:
        model = {"model": str(server.folder / "decoder")}
        for text in texts:
            assert not visitor.open("heads", model | spans_of(text)).exceptions
    assert len(server.told("passes")) <= 2 * SPANS + 2, "what was finished before is kept"


def test_replies_are_written_one_after_another_where_memory_is_for_one(server: Server) -> None:
    asked = [{"src": f"{number} cat", "tab": "reply", "limit": "8", "written": "8"} for number in range(4)]
    with visitors(server, "decoding", *asked) as hostile:
        assert comes_true(lambda: not any(thread.is_alive() for thread in hostile))
        told = [line.split() for line in server.told("tokens")]
        assert {held for _, held in told} == {"False"}, "nothing holds the trace of a prompt while its reply is written"
        order = [reply for reply, _ in told]
        blocks = [one for one, before in zip(order, ["", *order], strict=False) if one != before]
        assert len(blocks) == len(set(blocks)) == 4
    os.kill(server.pid, signal.SIGUSR1)
    assert comes_true(lambda: server.told("replies"))
    assert server.told("replies")[-1] == "0", "no session holds a reply that caches have let go"


def test_a_template_that_never_ends_holds_no_place_of_the_queue(server: Server) -> None:
    model = str(server.folder / "endless")
    asked = [{"model": model, "chat": json.dumps([["user", f"cat {number}"]])} for number in range(3)]
    with visitors(server, "heads", *asked) as hostile:
        assert comes_true(lambda: len(server.told("renderings")) == 3)
        ask_honestly(server)
        ask_honestly(server)
        assert all(thread.is_alive() for thread in hostile)
