"""`attnviz serve` as a process: its limits for a browser, its health checks, and how it stops."""

import json
import os
import signal
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.served.process import start_server, status
from tests.browser.server import free_port
from tests.websocket.visitor import Visitor

# Streamlit's protobuf asks whether it may use WebAssembly for long integers, and does without: known, and harmless.
KNOWN = ("script-src", "wasm-eval")
COUNT = """window.violations = [];
document.addEventListener("securitypolicyviolation", ({violatedDirective, blockedURI, sourceFile}) =>
    window.violations.push([violatedDirective, blockedURI, sourceFile || ""]));"""
SENTENCE = "Nobody shall read this sentence in a log."


class Serving(NamedTuple):
    """A running server."""

    address: str
    metrics: int
    log: Path


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    log, metrics = tmp_path_factory.mktemp("served") / "log", free_port()
    with start_server(log, {"ATTNVIZ_METRICS_PORT": str(metrics), "ATTNVIZ_MODELS": ""}) as (address, _):
        yield Serving(address, metrics, log)


@pytest.fixture
def address(serving: Serving) -> str:
    """Return the address that the browser's visitors open."""
    return serving.address


def violations(page: Page) -> list[list[str]]:
    """Return what the page's policy has blocked, without the known cases."""
    found = page.evaluate("window.violations")
    return [one for one in found if not (tuple(one[:2]) == KNOWN and "protobuf" in one[2])]


def open_page(page: Page, settle: Callable[[Page], None], place: str) -> Page:
    page.goto(place)
    settle(page)
    return page


@pytest.fixture
def watched_page(visitor: Callable[..., BrowserContext]) -> Page:
    page = visitor().new_page()
    page.add_init_script(COUNT)
    return page


def test_no_page_does_what_the_policy_forbids(watched_page, settle) -> None:
    """A page with a picture, without one, with code, and of lessons. tests/hosts/test_contract.py has every picture."""
    for place in ("/heads?src=I+love+you.&to=fr", "/anatomy", "/implementations?tab=bugs", "/lessons"):
        page = open_page(watched_page, settle, place)
        page.wait_for_load_state("networkidle")
        assert violations(page) == [], place


def test_plotly_downloads_and_uploads_work_under_the_policy(watched_page, settle, tmp_path) -> None:
    page = open_page(watched_page, settle, "/heads?src=I+love+you.&to=fr&plotly=1")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    with page.expect_download() as taken:
        page.locator(".st-key-npz button").dispatch_event("click")  # it stands in a menu of the picture
    taken.value.save_as(tmp_path / "trace.npz")
    assert "encoder_self" in str(np.load(tmp_path / "trace.npz").files)
    np.savez(tmp_path / "own.npz", attn=np.full((2, 3, 2, 2), 0.5, np.float32), tokens=np.array(["x", "y"]))
    page.get_by_role("button", name="Your own tensors").click()
    page.locator("input[type=file]").set_input_files(tmp_path / "own.npz")
    expect(page.get_by_text("The picture shows your own tensors from own.npz").first).to_be_visible()
    assert violations(page) == []


def test_a_frame_of_another_site_and_another_host_are_refused(serving) -> None:
    with urllib.request.urlopen(f"{serving.address}/heads", timeout=60) as answer:
        said = dict(answer.headers)
    assert "frame-ancestors 'none'" in said["content-security-policy"]
    assert "unsafe-eval" not in said["content-security-policy"]
    assert (said["x-content-type-options"], said["x-frame-options"]) == ("nosniff", "DENY")
    assert "server" not in said
    assert status(f"{serving.address}/heads", {"Host": "evil.example"}) == 400


def test_it_says_how_it_is_and_nobody_s_sentence(serving) -> None:
    with Visitor(serving.address) as visitor:
        assert not visitor.open("heads", {"src": SENTENCE, "to": "fr"}).exceptions
        visitor.send(visitor.state("src-shown", string_value=f"{SENTENCE} Nor this one."))
        with urllib.request.urlopen(f"http://127.0.0.1:{serving.metrics}/metrics", timeout=60) as answer:
            told = answer.read().decode()
    assert "attnviz_visitors 1.0" in told
    assert 'attnviz_answer_seconds_count{page="heads"}' in told
    assert "process_resident_memory_bytes" in told
    lines = [line for line in serving.log.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
    events = [json.loads(line) for line in lines]
    assert {"starting", "ready", "answer"} <= {event["event"] for event in events}
    assert any(event.get("page") == "heads" and event["ms"] > 0 for event in events)
    assert "Nobody" not in serving.log.read_text(encoding="utf-8")
    with urllib.request.urlopen(f"{serving.address}/metrics", timeout=60) as answer:
        assert "attnviz_visitors" not in answer.read().decode(), "numbers are on a port of their own"


def test_a_model_by_a_link_is_refused_in_the_same_words_whether_it_is_there_or_not(serving) -> None:
    said = []
    for name in ("/etc", "/no/such/folder", "gpt2"):
        with Visitor(serving.address) as visitor:
            shown = visitor.open("heads", {"src": "Hello.", "model": name})
            said.append(" ".join(shown.alerts).replace(name, "…"))
            assert not shown.exceptions
    assert len(set(said)) == 1
    assert "which this server does not offer" in said[0]


def test_asked_to_stop_it_finishes_what_has_begun_and_lets_nobody_in(tmp_path) -> None:
    with start_server(tmp_path / "log") as (address, process), Visitor(address) as visitor:
        visitor.open("decoding", {"src": "I love you.", "to": "fr"})
        long = " ".join(["The old man who lives in this small house has a big red dog and two cats."] * 5)
        told: list[object] = []
        asking = threading.Thread(target=lambda: told.append(visitor.send(type_sentence(visitor, long))))
        before = cpu_seconds(process.pid)
        asking.start()
        while cpu_seconds(process.pid) < before + 0.2:  # until the run has begun, however busy the machine is
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        while status(f"{address}/readyz") == 200:  # until the signal has been heard
            time.sleep(0.02)
        ready, page = status(f"{address}/readyz"), status(f"{address}/heads", {"Accept": "text/html"})
        asking.join(60)
        process.wait(timeout=30)
    (shown,) = told
    assert not shown.exceptions
    assert "stepper" in shown.widgets
    assert (ready, page) == (503, 429)


def cpu_seconds(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def type_sentence(visitor: Visitor, sentence: str):
    return visitor.state("src-shown", string_value=sentence)
