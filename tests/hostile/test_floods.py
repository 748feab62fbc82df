"""Floods, half requests and abandoned sessions, at a real server with its defaults: memory and open files are bounded,
and other visitors get in.
"""

import resource
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.browser.served.process import start_server
from tests.hostile import raw
from tests.hostile.watched import LINUX_ONLY, Watched, comes_true, open_files
from tests.websocket.upload import place, upload, xsrf_headers
from tests.websocket.visitor import Visitor, state

pytestmark = LINUX_ONLY
FEW = 1_024  # files that a shell lets a process open
# The ten seconds after which an upload must have come at its least rate become three, the 15 seconds for a request's
# head five, and the half minute that a session is kept for three seconds.
IMPATIENT = (
    "from attnviz.server import connections, fair_use, serving\n"
    "from attnviz.app import streamlit_internals\n"
    "fair_use._PATIENCE, connections._HEAD_SECONDS, serving._SWEEP = 3.0, 5.0, 1\n"
    "set_options, kept = streamlit_internals.set_options, {'server.disconnectedSessionTTL': 3}\n"
    "streamlit_internals.set_options = lambda options: set_options({**options, **kept})\n"
)
HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "
OTHERS_WAIT = 25.0  # seconds at most, on a machine with other things to do


class Server(NamedTuple):
    """A server, and its process."""

    address: str
    process: subprocess.Popen


@contextmanager
def soft_limit(files: int) -> Iterator[None]:
    """How many files this process, and what it starts meanwhile, may open, where the hard limit allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(files, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("floods")
    database = {"ATTNVIZ_DATABASE": str(folder / "classes.sqlite")}
    with ExitStack() as stack:
        with soft_limit(FEW):
            address, process = stack.enter_context(start_server(folder / "log", database, first=IMPATIENT))
        with Visitor(address) as visitor:
            visitor.open("", {"src": "I love you."})  # what is imported late is here now
        yield Server(address, process)
    assert "Exception in ASGI application" not in (folder / "log").read_text(encoding="utf-8")


def watch(server: Server) -> Watched:
    return Watched(server.address, server.process.pid)


def token(server: Server) -> str:
    """Streamlit's token against requests from other sites, as headers."""
    with closing(HTTPConnection(urlsplit(server.address).netloc, timeout=60)) as asking:
        return "".join(f"{name}: {value}\r\n" for name, value in xsrf_headers(asking).items())


def states(count: int) -> bytes:
    """Make a message of empty widget states: two bytes each, and fifty times as much once they are parsed."""
    message = BackMsg()
    for _ in range(count):
        message.rerun_script.widget_states.widgets.add()
    return message.SerializeToString()


def texts(size: int) -> bytes:
    """Make a message that is taken: one state, of a long text."""
    message = BackMsg()
    message.rerun_script.widget_states.widgets.append(state("$$ID-0-none", string_value="a" * size))
    return message.SerializeToString()


@pytest.mark.parametrize("count", [1_900_000, 5_000])
def test_a_message_of_nothing_but_states_is_refused_before_it_is_parsed(server: Server, count: int) -> None:
    message = raw.deflate(states(count))
    assert len(message) < 6_000
    with watch(server) as seen:
        for _ in range(3):
            with raw.open_websocket(server.address) as connection:
                raw.send_for(connection, message * 20, 3.0, len(message) * 20)
                assert raw.closing_code(connection) == 1009
    assert seen.grown < 120
    assert seen.longest < OTHERS_WAIT


def test_messages_that_deflate_well_are_inflated_one_at_a_time(server: Server) -> None:
    message = raw.deflate(texts(900_000))
    assert len(message) < 2_000
    with watch(server) as seen, ExitStack() as stack:
        flooding = [stack.enter_context(raw.open_websocket(server.address)) for _ in range(4)]
        for connection in flooding:
            raw.send_for(connection, message * 200, 1.0, len(message) * 200)
        with Visitor(server.address) as visitor:
            assert not visitor.open("", {"src": "I love you."}).exceptions
    assert seen.grown < 200
    assert seen.longest < OTHERS_WAIT


def test_a_client_that_sends_after_the_close_is_cut_off(server: Server) -> None:
    """Streamlit closes after a malformed message, and uvicorn then waits ten seconds for the client to close, too."""
    wrong = BackMsg()
    wrong.rerun_script.query_string = "a=1"
    message = raw.deflate(texts(900_000))
    with watch(server) as seen, raw.open_websocket(server.address) as connection:
        connection.sendall(raw.frame(raw.BINARY, wrong.SerializeToString().replace(b"a=1", b"\xff\xff\xff")))
        assert raw.send_for(connection, message * 50, 8.0, 40 << 20)
    assert seen.grown < 60
    assert seen.longest < OTHERS_WAIT


FRAMES = {
    "pings": raw.frame(raw.PING),
    "pings that carry all they can": raw.frame(raw.PING, bytes(125)),
    "pongs": raw.frame(raw.PONG),
    "fragments": raw.frame(raw.CONTINUATION, is_last=False),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_client_that_sends_frames_without_messages_is_cut_off(server: Server, kind: str) -> None:
    first = raw.frame(raw.BINARY, is_last=False) if kind == "fragments" else b""
    with watch(server) as seen, raw.open_websocket(server.address) as connection:
        connection.sendall(first)
        assert raw.send_for(connection, FRAMES[kind] * 10_000, 10.0, 40 << 20)
    assert seen.grown < 60
    assert seen.longest < OTHERS_WAIT


def test_a_flood_of_pings_is_closed_with_the_policy_code(server: Server) -> None:
    with raw.open_websocket(server.address) as connection:
        connection.sendall(raw.frame(raw.PING) * 150)
        assert raw.closing_code(connection) == 1008


def test_an_honest_visitor_s_pings_and_fragments_are_answered(server: Server) -> None:
    message, size = texts(400_000), 1 << 15
    pieces = [message[at : at + size] for at in range(0, len(message), size)]
    with raw.open_websocket(server.address) as connection:
        connection.sendall(raw.frame(raw.PING, b"there?"))
        for at, piece in enumerate(pieces):
            connection.sendall(raw.frame(raw.CONTINUATION if at else raw.BINARY, piece, is_last=piece is pieces[-1]))
        assert raw.closing_code(connection, 2.0) == 0
        connection.sendall(raw.frame(raw.PING, b"there?"))


def test_requests_sent_ahead_of_answers_that_nobody_reads_are_cut_off(server: Server) -> None:
    request = b"GET /static/index.html HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with watch(server) as seen, ExitStack() as stack:
        flooding = [stack.enter_context(raw.connect(server.address)) for _ in range(4)]
        assert all(raw.send_for(one, request * 5_000, 4.0, 60 << 20) for one in flooding)
    assert seen.grown < 60
    assert seen.longest < OTHERS_WAIT


def test_a_link_that_is_too_long_is_answered_with_a_sentence(server: Server) -> None:
    with closing(HTTPConnection(urlsplit(server.address).netloc, timeout=60)) as asking:
        asking.request("GET", f"/heads?src={'a' * 200_000}", headers={"Accept": "text/html"})
        answer = asking.getresponse()
        assert answer.status == 414
        assert answer.read().decode().startswith("This link is too long: at most 64 kB of an address are read.")


def test_the_rest_of_a_link_that_is_too_long_is_read_so_that_the_answer_is_not_lost(server: Server) -> None:
    with raw.connect(server.address) as browser:
        browser.sendall(b"GET /heads?src=" + b"a" * 200_000)
        answer = b"".join(iter(lambda: browser.recv(4096), b""))
        assert answer.startswith(b"HTTP/1.1 414 ")
        for _ in range(10):  # each after the first raises where the server has closed its end
            browser.sendall(b"a" * 100_000)


def test_slow_uploads_of_one_address_keep_nobody_else_from_theirs(server: Server) -> None:
    with Visitor(server.address) as hostile, Visitor(server.address) as visitor, ExitStack() as stack:
        for one in (hostile, visitor):
            one.open("heads", {"src": "I love you."})
        head = f"PUT {place(hostile, 'slow.npz').upload_url} HTTP/1.1\r\nHost: 127.0.0.1\r\n{token(server)}"
        begun = f"{head}Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 9000\r\n\r\n--x"
        slow = [stack.enter_context(raw.connect(server.address)) for _ in range(5)]
        for connection in slow:
            connection.sendall(begun.encode())
        status, _ = upload(visitor, server.address, "honest.npz", bytes(2_000))
        assert status == 204, "within the client's 60 seconds"
        slow[0].settimeout(60)
        assert b" 408 " in slow[0].recv(4096)


def half_requests(stack: ExitStack, address: str, source: str, count: int) -> list[socket.socket]:
    made = [stack.enter_context(raw.connect(address, source)) for _ in range(count)]
    for one in made:
        with suppress(ConnectionError):
            one.sendall(HALF)
    return made


def test_half_requests_of_an_address_are_so_many_and_end_by_themselves(server: Server) -> None:
    address, pid = server.address, server.process.pid
    with soft_limit(4 * FEW), ExitStack() as stack, Watched(address, pid) as seen:
        made = half_requests(stack, address, raw.HOSTILE, 1_100)
        with Visitor(address) as visitor:
            assert not visitor.open("", {"src": "I love you."}).exceptions
        assert sum(not raw.is_closed(one) for one in made) <= 512
        assert comes_true(lambda: all(map(raw.is_closed, made)), 90), "each has so many seconds for its head"
    assert seen.longest < 60
    assert seen.grown < 100


@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 3 * FEW, reason="the system allows too few files")
def test_half_requests_of_many_addresses_leave_room_for_others(server: Server) -> None:
    address, pid = server.address, server.process.pid
    with soft_limit(4 * FEW), ExitStack() as stack, Watched(address, pid) as seen:
        for number in range(11, 15):
            half_requests(stack, address, f"127.0.0.{number}", 300)
        with Visitor(address) as visitor:
            assert not visitor.open("", {"src": "I love you."}).exceptions
    assert seen.longest < 60


def test_sessions_that_nobody_comes_back_to_let_go_of_their_files(server: Server) -> None:
    address, pid = server.address, server.process.pid
    assert comes_true(lambda: open_files(pid) < 100, 60), "earlier tests' connections have gone"
    before = open_files(pid)
    for _ in range(20):
        with raw.open_websocket(address):
            pass
    most = open_files(pid)
    assert most > before + 40, "three for each session"
    assert comes_true(lambda: open_files(pid) < before + 20, 90), "nobody comes, and after a while they have gone"


def test_a_slow_but_honest_head_is_answered(server: Server) -> None:
    address = server.address
    with raw.connect(address) as connection:
        for piece in (b"GET /healthz HTTP/1.1\r\n", b"Host: 127.0.0.1\r\n", b"\r\n"):
            connection.sendall(piece)
            time.sleep(0.5)
        assert b" 200 " in connection.recv(4096)
