"""A cluster from its start to its end: what is answered before a front is ready, when all are full, and afterwards."""

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.browser.served.process import status
from tests.browser.server import ROOT
from tests.cluster.running import free_ports, running_cluster
from tests.websocket.visitor import Visitor

PAGE = {"Accept": "text/html"}
PASSWORD = "correct horse"


def page(address: str, headers: dict[str, str] | None = None) -> tuple[int, str, str | None]:
    """Status, text and Retry-After of what a browser is answered."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers or PAGE), timeout=5) as answer:
            return answer.status, answer.read().decode(), None
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode(), refused.headers.get("Retry-After")


def test_a_front_that_is_not_ready_in_time_ends_it_with_one_sentence(haproxy: str) -> None:
    port = str(free_ports(2))
    command = (sys.executable, "-m", "attnviz", "cluster", "--fronts", "1", "--port", port, "--ready-seconds", "0.1")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "attnviz: No front process was ready within 0.1 s: f1 does not answer."
    assert "Traceback" not in done.stderr


def test_it_says_that_it_starts_and_that_it_is_full_and_stops_with_all_its_processes(haproxy: str, tmp_path) -> None:
    given = {
        "ATTNVIZ_VISITORS": "1", "ATTNVIZ_LOGIN": "password", "ATTNVIZ_CLASS_PASSWORD": PASSWORD,
    }  # fmt: skip
    port, log = free_ports(3), tmp_path / "early"
    command = (sys.executable, "-m", "attnviz", "cluster", "--fronts", "2", "--port", str(port))
    with log.open("w") as out:
        early = subprocess.Popen(command, cwd=ROOT, env=os.environ | given, stdout=out, stderr=out)
    while (answer := status(f"http://127.0.0.1:{port}/")) == 0:
        time.sleep(0.02)
    code, text, retry = page(f"http://127.0.0.1:{port}/heads")
    early.terminate()
    assert answer == 503
    assert (code, retry) == (503, "5")
    assert "The servers are just starting." in text
    assert early.wait(timeout=40) == 0

    with running_cluster(tmp_path / "log", 2, given) as running:
        pids = running.pids
        cookie = log_in(running.address)
        for front in ("f1", "f2"):  # one secret: a visitor logged in at one front is known at the other
            headers = PAGE | {"Cookie": f"{cookie}; attnviz_front={front}"}
            assert page(f"{running.address}/heads", headers)[0] == 200
        with ExitStack() as stack:
            for front in ("f1", "f2"):
                headers = {"Cookie": f"{cookie}; attnviz_front={front}"}
                visitor = stack.enter_context(Visitor(running.address, headers=headers))
                assert not visitor.open("heads", {"src": "I love you.", "to": "fr"}).exceptions
            code, text, retry = page(f"{running.address}/heads", PAGE | {"Cookie": cookie})
        assert (code, retry) == (429, "20")
        assert "All places are taken at the moment." in text
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def log_in(address: str) -> str:
    """Log in by the password, and return the cookie."""
    answer = httpx.post(f"{address}/login", data={"password": PASSWORD})
    return f"attnviz_role={answer.cookies['attnviz_role']}"


def test_fronts_end_with_a_supervisor_that_is_killed(haproxy: str, tmp_path) -> None:
    with running_cluster(tmp_path / "log", 1) as running:
        pids = running.pids
        running.process.send_signal(signal.SIGKILL)
        running.process.wait()
        until = time.monotonic() + 40
        while left := [pid for pid in pids if is_alive(pid)]:
            assert time.monotonic() < until, left
            time.sleep(0.1)


def is_alive(pid: int) -> bool:
    """Check whether a process runs; a process that has ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("file", sorted((ROOT / "deploy").rglob("haproxy.cfg")), ids=lambda file: file.parent.name)
def test_haproxy_takes_every_configuration_that_is_offered(haproxy: str, file: Path) -> None:
    done = subprocess.run((haproxy, "-c", "-q", "-f", file), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_systemd_takes_the_unit_that_is_offered(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    text = (ROOT / "deploy" / "attnviz.service").read_text(encoding="utf-8")
    unit = tmp_path / "attnviz.service"  # with a Python that is there; the offered one is the reader's
    unit.write_text(text.replace("/srv/attnviz/.venv/bin/python", sys.executable), encoding="utf-8")
    done = subprocess.run(("systemd-analyze", "verify", unit), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
