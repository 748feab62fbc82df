"""Two fronts behind HAProxy: a visitor of each, one that is killed, both renewed one after the other."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from benchmarks import visitors
from benchmarks.timing import processor_seconds
from tests.browser.served.process import status
from tests.cluster.running import RunningCluster

CONNECTED = "[data-testid='stApp'][data-test-connection-state='CONNECTED']"
SETTLED = f"{CONNECTED}[data-test-script-state='notRunning']"
OPENED = "/heads?src=I+love+you.&to=fr&kind=cross&layer=1&head=3"


@pytest.fixture(autouse=True)
def _both_are_up(cluster: RunningCluster) -> None:
    until = time.monotonic() + 90
    while any(status(f"http://127.0.0.1:{cluster.port + n}/readyz") != 200 for n in (1, 2)):
        assert time.monotonic() < until, cluster.log.read_text(encoding="utf-8")
        time.sleep(0.1)
    time.sleep(1.5)  # HAProxy's own check


def open_heads(context: BrowserContext) -> tuple[Page, list[str]]:
    """Open a page of Heads, and record the sockets that it opens from now on."""
    page, sockets = context.new_page(), list[str]()
    page.goto(OPENED)
    page.locator(SETTLED).wait_for()
    page.on("websocket", lambda socket: sockets.append(socket.url))
    return page, sockets


def type_(page: Page, sentence: str) -> None:
    field = page.get_by_label("Source sentence")
    field.fill(sentence)
    field.press("Enter")


def is_answered(page: Page, sentence: str, word: str) -> None:
    expect(page.locator(".strip")).to_contain_text(word, timeout=30_000)
    expect(page.get_by_label("Source sentence")).to_have_value(sentence)
    assert sentence.replace(" ", "+") in page.url


def front_of(context: BrowserContext) -> str:
    return {cookie.get("name"): cookie.get("value", "") for cookie in context.cookies()}["attnviz_front"]


def test_the_address_that_visitors_open_is_told_once_and_not_by_each_front(cluster: RunningCluster) -> None:
    assert [line["addresses"] for line in cluster.log_lines("reachable")] == [[cluster.address]]


def test_each_visitor_gets_its_own_on_two_fronts_at_once(cluster: RunningCluster) -> None:
    cookies = [{"Cookie": f"attnviz_front={name}"} for name in ("f1", "f2")]
    tally = visitors.run(cluster.address, visitors.Load(8, 8.0, (0.2, 0.6)), cookies)
    assert (tally.errors, tally.foreign) == ([], [])
    assert tally.visits >= 8
    answered = {line["front"] for line in cluster.log_lines("answer")}
    assert answered == {"f1", "f2"}


@pytest.mark.parametrize("moment", ["on its way", "while nobody answers", "after"])
def test_a_front_that_is_killed_costs_one_reconnect_and_no_sentence(
    cluster: RunningCluster, visitor: Callable[[str], BrowserContext], moment: str
) -> None:
    context, other = visitor("f1"), visitor("f2")
    (page, sockets), (others, others_sockets) = open_heads(context), open_heads(other)
    sentence = "The big red dog."
    if moment == "on its way":
        os.kill(cluster.front("f1"), signal.SIGSTOP)  # what is sent from here on it never reads
        type_(page, sentence)
    os.kill(cluster.front("f1"), signal.SIGKILL)
    if moment == "while nobody answers":
        type_(page, sentence)
    if moment == "after":
        page.wait_for_function("() => !document.querySelector(`[data-test-connection-state='CONNECTED']`)")
        page.locator(CONNECTED).wait_for()
        type_(page, sentence)
    is_answered(page, sentence, "dog")
    assert "kind=cross&layer=1&head=3" in page.url
    assert (len(sockets), front_of(context)) == (1, "f2")
    type_(others, "We love you.")
    is_answered(others, "We love you.", "We")
    assert others_sockets == []
    cluster.wait("ended")


def test_rolling_costs_no_request_and_no_sentence(
    cluster: RunningCluster, visitor: Callable[[str], BrowserContext]
) -> None:
    pages = [open_heads(visitor(name)) for name in ("f1", "f2")]
    before, rolled = [cluster.front(name) for name in ("f1", "f2")], len(cluster.log_lines("rolled"))
    statuses: list[int] = []
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            statuses.append(status(f"{cluster.address}/heads", {"Accept": "text/html"}))
            time.sleep(0.1)

    asking = threading.Thread(target=ask)
    asking.start()
    cluster.process.send_signal(signal.SIGHUP)
    number = 0
    while len(cluster.log_lines("rolled")) == rolled and number < 60:
        number += 1
        for at, (page, _) in enumerate(pages):
            sentence = f"Visitor {at} has {number} dogs."
            type_(page, sentence)
            is_answered(page, sentence, str(number))
    over.set()
    asking.join()
    assert len(cluster.log_lines("rolled")) == rolled + 1, cluster.log.read_text(encoding="utf-8")
    assert set(statuses) == {200}
    assert all(1 <= len(sockets) <= 2 for _, sockets in pages)
    assert not set(before) & {cluster.front(name) for name in ("f1", "f2")}


def test_two_fronts_answer_more_than_one(cluster: RunningCluster, record_property: Callable) -> None:
    """Through HAProxy both times: all visitors with the cookie of one front, then half with that of the other."""
    pids = [cluster.front(name) for name in ("f1", "f2")]
    free, found = (os.cpu_count() or 1) - os.getloadavg()[0], []
    for names in (("f1",), ("f1", "f2")):
        before, began = sum(map(processor_seconds, pids)), time.monotonic()
        tally = visitors.run(
            cluster.address,
            visitors.Load(8, 10.0),
            [{"Cookie": f"attnviz_front={name}"} for name in names],
        )
        seconds, answers = time.monotonic() - began, len(tally.seconds)
        assert (tally.errors, tally.foreign) == ([], [])
        found.append((answers / seconds, (sum(map(processor_seconds, pids)) - before) * 1e3 / answers))
    (one, cost), (two, cost_of_two) = found
    record_property("answers_a_second", (one, two))
    told = f"{one:.1f} and {two:.1f} answers/s ({two / one:.2f} x), {cost:.0f} and {cost_of_two:.0f} ms of CPU each"
    Path("out").mkdir(exist_ok=True)
    (Path("out") / "fronts.txt").write_text(f"{told}\n", encoding="utf-8")
    assert cost_of_two < 1.5 * cost, told
    if free >= 4:  # else the client and others take what a second front would
        assert two >= 1.7 * one, told


def test_a_signal_empties_the_caches_of_every_front(cluster: RunningCluster) -> None:
    told = len(cluster.log_lines("emptied"))
    cluster.process.send_signal(signal.SIGUSR1)
    cluster.wait("emptied", told + 2)
    assert {line["front"] for line in cluster.log_lines("emptied")} == {"f1", "f2"}
    assert status(f"{cluster.address}/readyz") == 200
