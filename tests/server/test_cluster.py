"""A cluster before it starts: impossible settings are refused in one sentence; and a process that is started again."""

import asyncio
import shutil
import socket
import sys
from pathlib import Path

import pytest

from attnviz.__main__ import main
from attnviz.server.cluster import haproxy
from attnviz.server.cluster.plan import plan
from attnviz.server.cluster.supervised_process import SupervisedProcess
from tests.apart import run_apart
from tests.browser.server import free_port

SECRET = "0123456789" * 4


def make_plan(fronts: str = "2", **given):
    return plan(fronts, None, {"port": free_port(), **given}, 60.0)


@pytest.mark.parametrize("fronts", ["0", "65", "-1", "two", "", "1.5", "²", "9999999999"])
def test_a_number_of_fronts_that_cannot_be_is_said(fronts: str, capsys) -> None:
    assert main(["cluster", f"--fronts={fronts}"]) == 2
    said = capsys.readouterr().err
    assert said == f"attnviz: fronts is {fronts!r}: it has to be a whole number from 1 to 64.\n"


def test_a_port_of_a_front_that_is_taken_is_said(capsys) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["cluster", "--port", str(port - 2), "--fronts", "2"]) == 2
    said = capsys.readouterr().err
    assert said == f"attnviz: Port {port} of 127.0.0.1 cannot be listened on: Address already in use.\n"


def test_fronts_beyond_the_last_port_are_said() -> None:
    with pytest.raises(ValueError, match="port 65534 leaves no room for 2 fronts"):
        make_plan(port=65534)


def test_more_fronts_than_the_memory_has_shares_for_are_said(monkeypatch) -> None:
    monkeypatch.setenv("ATTNVIZ_MEMORY_SHARE", "0.2")
    with pytest.raises(ValueError, match=r"leaves each of 5 fronts less than 0\.05: set 0\.25 or more"):
        make_plan("5")


def test_a_missing_haproxy_is_said_with_the_command_that_installs_it(monkeypatch, capsys) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    assert main(["cluster", "--port", str(free_port())]) == 2
    assert capsys.readouterr().err == (
        "attnviz: cluster needs HAProxy, which is not installed: apt-get install haproxy.\n"
    )


def test_a_configuration_that_haproxy_does_not_take_is_said(tmp_path: Path) -> None:
    program = tmp_path / "haproxy"
    program.write_text("#!/bin/sh\necho '[ALERT] (1) : config : parsing [x:3] : unknown keyword.' >&2\nexit 1\n")
    program.chmod(0o700)
    with pytest.raises(ValueError, match=r"rejects the configuration .*: config : parsing .* unknown keyword.$"):
        haproxy.check(str(program), tmp_path / "haproxy.cfg")


def test_fronts_share_a_secret_and_the_memory_and_leave_names_and_tls_to_haproxy(monkeypatch) -> None:
    for name, text in {"HOST": "0.0.0.0", "PROXIES": "10.0.0.0/8", "COOKIE_SECRET": SECRET, "PORT": "1"}.items():
        monkeypatch.setenv(f"ATTNVIZ_{name}", text)
    found = make_plan("2", host="0.0.0.0")
    told = [found.environment(front) for front in found.fronts]
    assert [one["ATTNVIZ_PORT"] for one in told] == [str(found.settings.port + 1), str(found.settings.port + 2)]
    for one in told:
        assert (one["ATTNVIZ_HOST"], one["ATTNVIZ_HOSTS"]) == ("127.0.0.1", "*")
        assert one["ATTNVIZ_PROXIES"] == "127.0.0.1,10.0.0.0/8"
        assert (one["ATTNVIZ_COOKIE_SECRET"], one["ATTNVIZ_MEMORY_SHARE"]) == (SECRET, "0.2")


def test_its_configuration_names_every_front_and_the_bounds_of_all(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("ATTNVIZ_VISITORS", "50")
    found = make_plan("3", host="::1")
    text = haproxy.write(found, tmp_path).read_text(encoding="utf-8")
    port = found.settings.port
    assert f"bind [::1]:{port}\n" in text
    assert [f"server f{n} 127.0.0.1:{port + n} cookie f{n}" in text for n in (1, 2, 3)] == [True] * 3
    assert "nbsrv(fronts),mul(50)" in text
    assert "sc0_conn_cur gt 150" in text
    assert "secure " not in text
    assert "tries again in 20 seconds" in (tmp_path / "full.html").read_text(encoding="utf-8")


def test_what_ends_by_itself_is_started_again_after_growing_pauses_and_what_is_replaced_at_once() -> None:
    said: list[dict] = []

    async def keep() -> int:
        kept = SupervisedProcess(
            "short", (sys.executable, "-c", "raise SystemExit(3)"), None, lambda _, **w: said.append(w)
        )
        running = asyncio.create_task(kept.run())
        while len(said) < 2:
            await asyncio.sleep(0.01)
        await kept.end(1)
        running.cancel()
        long = SupervisedProcess("long", ("sleep", "60"), None, lambda _, **w: said.append(w))
        running = asyncio.create_task(long.run())
        while not long.is_running:
            await asyncio.sleep(0.01)
        await long.replace(5)
        while long.starts < 2 or not long.is_running:
            await asyncio.sleep(0.01)
        await long.end(5)
        await running
        return long.starts

    assert run_apart(keep()) == 2
    assert said == [
        {"process": "short", "status": 3, "again_in": 0.5},
        {"process": "short", "status": 3, "again_in": 1.0},
    ]
