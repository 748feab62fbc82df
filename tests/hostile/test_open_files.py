"""Half requests and abandoned sessions: other visitors still get in."""

import resource
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path

import pytest

from tests.browser.served.process import start_server
from tests.hostile import raw
from tests.hostile.watched import LINUX_ONLY, Watched, open_files
from tests.websocket.visitor import Visitor

pytestmark = LINUX_ONLY
FEW = 1_024  # as a shell gives them
# The half minute that a session is kept for, and the 15 seconds for a request's head, become a few.
IMPATIENT = (
    "from attnviz.server import connections, serving\n"
    "from attnviz.app import streamlit_internals\n"
    "connections._HEAD_SECONDS, serving._SWEEP, set_options = 5.0, 1, streamlit_internals.set_options\n"
    "kept = {'server.disconnectedSessionTTL': 3}\n"
    "streamlit_internals.set_options = lambda options: set_options({**options, **kept})\n"
)
HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "


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
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    folder = tmp_path_factory.mktemp("files")
    with ExitStack() as stack:
        with soft_limit(FEW):
            database = {"ATTNVIZ_DATABASE": str(folder / "classes.sqlite")}
            started = start_server(folder / "log", database, first=IMPATIENT)
            address, process = stack.enter_context(started)
        with Visitor(address) as visitor:
            visitor.open("", {"src": "I love you."})  # what is imported late is here now
        yield address, process.pid


def comes_true(is_so: Callable[[], bool], seconds: float) -> bool:
    """Wait until a condition holds; return whether it did in time."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.5)
    return True


def half_requests(stack: ExitStack, address: str, source: str, count: int) -> list[socket.socket]:
    made = [stack.enter_context(raw.connect(address, source)) for _ in range(count)]
    for one in made:
        with suppress(ConnectionError):
            one.sendall(HALF)
    return made


def test_half_requests_of_an_address_are_so_many_and_end_by_themselves(server: tuple[str, int]) -> None:
    address, pid = server
    with soft_limit(4 * FEW), ExitStack() as stack, Watched(address, pid) as seen:
        made = half_requests(stack, address, raw.HOSTILE, 1_100)
        with Visitor(address) as visitor:
            assert not visitor.open("", {"src": "I love you."}).exceptions
        assert sum(not raw.is_closed(one) for one in made) <= 512
        assert comes_true(lambda: all(map(raw.is_closed, made)), 90), "each has so many seconds for its head"
    assert seen.longest < 60
    assert seen.grown < 100


@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 3 * FEW, reason="the system allows too few files")
def test_half_requests_of_many_addresses_leave_room_for_others(server: tuple[str, int]) -> None:
    address, pid = server
    with soft_limit(4 * FEW), ExitStack() as stack, Watched(address, pid) as seen:
        for number in range(11, 15):
            half_requests(stack, address, f"127.0.0.{number}", 300)
        with Visitor(address) as visitor:
            assert not visitor.open("", {"src": "I love you."}).exceptions
    assert seen.longest < 60


def test_sessions_that_nobody_comes_back_to_let_go_of_their_files(server: tuple[str, int]) -> None:
    address, pid = server
    assert comes_true(lambda: open_files(pid) < 100, 60), "earlier tests' connections have gone"
    before = open_files(pid)
    for _ in range(20):
        with raw.open_websocket(address):
            pass
    most = open_files(pid)
    assert most > before + 40, "three for each session"
    assert comes_true(lambda: open_files(pid) < before + 20, 90), "nobody comes, and after a while they have gone"


def test_a_slow_but_honest_head_is_answered(server: tuple[str, int]) -> None:
    address, _ = server
    with raw.connect(address) as connection:
        for piece in (b"GET /healthz HTTP/1.1\r\n", b"Host: 127.0.0.1\r\n", b"\r\n"):
            connection.sendall(piece)
            time.sleep(0.5)
        assert b" 200 " in connection.recv(4096)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Provide a server that has a place for one visitor of each address; a proxy says which."""
    log = tmp_path_factory.mktemp("full") / "log"
    with start_server(log, {"ATTNVIZ_VISITORS_AN_ADDRESS": "1", "ATTNVIZ_PROXIES": "127.0.0.1,127.0.0.9"}) as (
        address,
        _,
    ):
        yield address, log


def test_a_websocket_that_is_refused_is_one_line_of_the_log(full: tuple[str, Path]) -> None:
    address, log = full
    with raw.open_websocket(address):
        before = len(log.read_text(encoding="utf-8").splitlines())
        with pytest.raises(AssertionError, match=" 429 "), raw.open_websocket(address):
            pass
        comes_true(lambda: len(log.read_text(encoding="utf-8").splitlines()) > before, 10)
        time.sleep(1)
        added = log.read_text(encoding="utf-8").splitlines()[before:]
    assert len(added) == 1
    assert '"reason": "full"' in added[0]


@pytest.mark.parametrize(
    ("first", "others", "is_let_in"),
    [
        ("2001:db8::1", ("2001:db8::2", "2001:db8:0:0:ffff::3", "2001:0DB8::4"), False),
        ("2001:db8:1::1", ("2001:db8:1:1::1", "2001:db8:2::1"), True),
        ("::ffff:192.0.2.1", ("192.0.2.1", "::ffff:c000:201"), False),
        ("::ffff:192.0.2.7", ("::ffff:192.0.2.8", "192.0.2.9"), True),
    ],
)
def test_an_address_of_ipv6_is_a_64_however_it_is_written(full, first: str, others: tuple[str, ...], is_let_in) -> None:
    address, _ = full
    with raw.open_websocket(address, said_to_be=first):
        for other in others:
            expected = nullcontext() if is_let_in else pytest.raises(AssertionError, match=" 429 ")
            with expected, raw.open_websocket(address, said_to_be=other):
                pass
