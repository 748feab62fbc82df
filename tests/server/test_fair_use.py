"""Token buckets delay and do not drop; a visitor who finds every place taken is told so."""

import asyncio

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from attnviz.server import fair_use
from attnviz.server.fair_use import FairUse, network_of
from attnviz.server.health import Health, State
from attnviz.server.settings import Settings
from attnviz.server.telemetry import Telemetry
from tests.apart import run_apart
from tests.server.asked import Client, Socket, ask, echo

PAGE = {"accept": "text/html"}


def app_of(state: State | None = None, **settings) -> FairUse:
    return FairUse(echo, Settings(**settings), Telemetry(is_logging=False), state or State())


def test_frames_beyond_the_bucket_come_later_and_none_is_lost() -> None:
    frames = [bytes([number]) for number in range(20)]

    async def go(rate: float, count: int) -> list[bytes]:
        app = app_of(session_rate=rate, session_burst=5, address_rate=1000.0, address_burst=1000)
        socket = Socket(app, "192.0.2.1")
        socket.say(*frames)
        await socket.wait_for_frames(count)
        await asyncio.sleep(0.05)
        socket.task.cancel()
        return socket.frames

    assert run_apart(go(0.01, 5)) == frames[:5], "the sixth comes after a hundred seconds"
    assert run_apart(go(50.0, 20)) == frames


def test_many_connections_of_one_address_share_a_bucket_and_another_address_has_its_own() -> None:
    async def go() -> tuple[int, int]:
        app = app_of(session_rate=1000.0, session_burst=1000, address_rate=0.1, address_burst=10)
        flood = [Socket(app, "192.0.2.1") for _ in range(10)]
        for socket in flood:
            socket.say(*[b"x"] * 20)
        await asyncio.sleep(0.02)
        other = Socket(app, "198.51.100.7")
        other.say(*[b"y"] * 5)
        answered = len(await other.wait_for_frames(5))
        flooded = sum(len(socket.frames) for socket in flood)
        for socket in (*flood, other):
            socket.task.cancel()
        return answered, flooded

    answered, flooded = run_apart(go())
    assert answered == 5
    assert flooded == 10


def test_a_class_behind_one_address_is_not_slowed_by_what_its_pages_ask_by_themselves() -> None:
    poll = BackMsg()
    poll.rerun_script.fragment_id, poll.rerun_script.is_auto_rerun = "watch", True
    choice = BackMsg()
    choice.rerun_script.widget_states.SetInParent()

    async def go(frame: bytes) -> int:
        app = app_of(session_rate=100.0, session_burst=100, address_rate=0.1, address_burst=3)
        students = [Socket(app, "192.0.2.1") for _ in range(30)]
        for socket in students:
            socket.say(frame, frame)
        await asyncio.sleep(0.05)
        came = sum(len(socket.frames) for socket in students)
        for socket in students:
            socket.task.cancel()
        return came

    assert run_apart(go(poll.SerializeToString())) == 60
    assert run_apart(go(choice.SerializeToString())) == 3
    assert run_apart(go(b"\xff\xff")) == 3


def test_plain_requests_beyond_the_bucket_get_429_and_are_told_when_to_come_again() -> None:
    async def work(client: Client) -> list:
        return [await client.get("/_stcore/health") for _ in range(9)]

    answers = ask(app_of(address_rate=0.1, address_burst=1), work)
    assert [answer.status_code for answer in answers] == [200] * 8 + [429]
    assert int(answers[-1].headers["Retry-After"]) >= 1


def test_where_every_place_is_taken_a_page_says_so_and_comes_again_by_itself() -> None:
    async def go() -> None:
        app = app_of(visitors=2)
        first, second = Socket(app, "192.0.2.1"), Socket(app, "192.0.2.2")
        await asyncio.sleep(0.01)
        third = Socket(app, "192.0.2.3")
        await third.task
        assert third.status == 429
        await first.leave()
        await asyncio.sleep(0)
        fourth = Socket(app, "192.0.2.3")
        await asyncio.sleep(0.01)
        assert not fourth.task.done()
        for socket in (second, fourth):
            socket.task.cancel()

    run_apart(go())

    async def work(client: Client):
        app = client._transport.app
        app._connected["192.0.2.9"] = 2
        return await client.get("/heads?src=I+love+you.", headers=PAGE), await client.get("/_stcore/health")

    page, health = ask(app_of(visitors=2), work)
    assert (page.status_code, page.headers["Retry-After"], health.status_code) == (429, "20", 200)
    assert "This server is full: all 2 places are taken at the moment." in page.text
    assert "http-equiv='refresh' content='20'" in page.text, "the address stays, and with it what was typed"


def test_one_address_has_so_many_places() -> None:
    async def go() -> tuple[int, bool]:
        app = app_of(visitors_an_address=2)
        sockets = [Socket(app, f"2001:db8:1:2::{number:x}") for number in range(3)]
        other = Socket(app, "2001:db8:1:3::1")
        await asyncio.sleep(0.01)
        found = sockets[2].status, other.task.done()
        for socket in (*sockets, other):
            socket.task.cancel()
        return found

    assert run_apart(go()) == (429, False)


def test_a_server_that_stops_lets_nobody_new_in_and_says_that_it_is_not_ready() -> None:
    state = State()

    async def work(client: Client) -> list[int]:
        paths = ("/healthz", "/readyz", "/heads")
        return [(await client.get(path, headers=PAGE)).status_code for path in paths]

    def ask_health() -> list[int]:
        return ask(Health(app_of(state), state), work)

    assert ask_health() == [200, 503, 200]
    state.is_loaded.set()
    assert ask_health() == [200, 200, 200]
    state.is_stopping.set()
    assert ask_health() == [200, 503, 429]


def test_an_address_of_ipv6_counts_as_its_customer() -> None:
    long, short = "2001:db8:1:0:a:b:c:d", ("2001:db8:1::7", "2001:db8:1:0:ffff::1", "2001:0DB8:0001::")
    assert {network_of(one) for one in (long, *short)} == {"2001:db8:1::/64"}
    assert network_of("2001:db8:1:1::7") != network_of(long)
    assert network_of("192.0.2.1") == network_of("::ffff:192.0.2.1") == network_of("::ffff:c000:201") == "192.0.2.1"
    assert network_of("::ffff:192.0.2.2") == "192.0.2.2"
    assert network_of("no address") == "no address"


def test_an_address_cannot_evade_its_bounds_by_writing_itself_short() -> None:
    async def go() -> list[int]:
        app = app_of(visitors_an_address=2)
        sockets = [Socket(app, f"2001:db8::{number:x}") for number in range(4)]
        await asyncio.sleep(0.01)
        found = [socket.status for socket in sockets]
        for socket in sockets:
            socket.task.cancel()
        return found

    assert run_apart(go()) == [0, 0, 429, 429]


def test_a_browser_s_bytes_are_delayed_and_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_use, "_BYTES_AT_ONCE", 10_000)
    frames = [bytes([number]) * 5_000 for number in range(5)]

    async def go(rate: int, count: int) -> list[bytes]:
        monkeypatch.setattr(fair_use, "_BYTES", rate)
        socket = Socket(app_of(session_rate=1000.0, session_burst=1000), "192.0.2.1")
        socket.say(*frames)
        await socket.wait_for_frames(count)
        await asyncio.sleep(0.05)
        socket.task.cancel()
        return socket.frames

    assert run_apart(go(10, 2)) == frames[:2], "the third comes after minutes"
    assert run_apart(go(100_000, 5)) == frames


@pytest.mark.parametrize("path", ["/static/js/one.js", "/_stcore/bidi-components/attnviz.heads/heads-0.js"])
def test_a_page_s_scripts_are_delayed_and_none_is_refused(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setattr(fair_use, "_FILES_AT_ONCE", 20)

    async def work(client: Client) -> list[int]:
        asked = [asyncio.create_task(client.get(path)) for _ in range(50)]
        while sum(task.done() for task in asked) < count:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)  # in which no more come than may
        done = [task for task in asked if task.done()]
        for task in asked:
            task.cancel()
        return [task.result().status_code for task in done]

    for rate, count in ((0.01, 20), (1000, 50)):
        monkeypatch.setattr(fair_use, "_FILES", rate)
        assert ask(app_of(visitors_an_address=1), work) == [200] * count
