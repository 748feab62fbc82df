"""A server that is killed and started again while the browser stays open: the first choice after it is kept."""

import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import server
from tests.browser.address.walking import SENTENCE, asked, entries, focus, source, to_page, typed

RECONNECTED = "[data-testid='stApp'][data-test-connection-state='CONNECTED']"
LOST = "[data-testid='stApp']:not([data-test-connection-state='CONNECTED'])"


class Restartable:
    """A dashboard that can be killed and started again at its address."""

    def __init__(self, log: Path) -> None:
        self.port, self._log = server.free_port(), log
        self.start()

    def start(self) -> None:
        self.process = server.start(self.port, self._log)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restartable]:
    """The server of these tests: what one of them has started again, the next one kills."""
    restartable = Restartable(tmp_path_factory.mktemp("restarted") / "dashboard.log")
    yield restartable
    restartable.kill()


@contextmanager
def restarting(
    visitor: Callable[..., BrowserContext],
    settled: Callable,
    running: Restartable,
    last: Callable[[Page, subprocess.Popen], None],
    meanwhile: Callable[[Page], None] = lambda _: None,
) -> Iterator[Page]:
    """A Heads page whose server is killed right after `last` and started again, while the browser stays open;
    `meanwhile` is done while there is none.
    """
    page = visitor(base_url=f"http://127.0.0.1:{running.port}").new_page()
    page.goto("/heads?src=I+love+you.&to=fr&kind=cross&layer=1&head=3")
    settled(page)
    try:
        last(page, running.process)
        running.kill()
        page.locator(LOST).wait_for(state="attached")
        meanwhile(page)
    finally:
        running.kill()
        running.start()
    page.locator(RECONNECTED).wait_for(state="attached")
    yield page


@pytest.fixture
def restarted(visitor: Callable[..., BrowserContext], settled: Callable, running: Restartable) -> Iterator[Page]:
    """A Heads page whose server was killed and started again, while nothing was on its way."""
    with restarting(visitor, settled, running, lambda *_: None) as page:
        yield page


def test_a_sentence_that_was_on_its_way_when_the_server_died_is_asked_again(visitor, settled, running) -> None:
    def send(page: Page, process: subprocess.Popen) -> None:
        process.send_signal(signal.SIGSTOP)  # what is sent from here on it never reads
        source(page).fill(SENTENCE)
        source(page).press("Enter")

    with restarting(visitor, settled, running, send) as page:
        expect(source(page)).to_have_value(SENTENCE)
        expect(page.locator(".strip")).to_contain_text("dog")
        assert asked(page)["src"] == SENTENCE


def test_enter_pressed_while_there_is_no_server_counts_when_there_is_one(visitor, settled, running) -> None:
    """Streamlit disables its fields then: what is typed stays, but Enter goes nowhere."""

    def enter(page: Page) -> None:
        expect(source(page)).to_be_disabled()
        page.keyboard.press("Enter")

    with restarting(visitor, settled, running, lambda page, _: source(page).fill(SENTENCE), enter) as page:
        expect(page.locator(".strip")).to_contain_text("dog")
        expect(source(page)).to_have_value(SENTENCE)
        assert asked(page)["src"] == SENTENCE


def test_enter_pressed_once_more_does_not_lose_what_was_on_its_way(visitor, settled, running) -> None:
    """Sent, and never read; then, with no answer, entered again."""

    def send(page: Page, process: subprocess.Popen) -> None:
        process.send_signal(signal.SIGSTOP)
        source(page).fill(SENTENCE)
        source(page).press("Enter")

    def enter(page: Page) -> None:
        expect(source(page)).to_be_disabled()
        page.keyboard.press("Enter")

    with restarting(visitor, settled, running, send, enter) as page:
        expect(page.locator(".strip")).to_contain_text("dog")
        expect(source(page)).to_have_value(SENTENCE)
        assert asked(page)["src"] == SENTENCE


def test_a_field_that_was_typed_into_when_the_server_died_is_typed_into_again(visitor, settled, running) -> None:
    """And nothing is entered that nobody entered."""
    with restarting(visitor, settled, running, lambda page, _: source(page).fill("The big")) as page:
        expect(source(page)).to_be_focused()
        page.keyboard.press("End")
        page.keyboard.type(" red dog.")
        expect(source(page)).to_have_value("The big red dog.")
        assert asked(page)["src"] == "I love you."
        page.keyboard.press("Enter")
        expect(page.locator(".strip")).to_contain_text("dog")


def test_the_first_sentence_after_the_server_was_restarted_is_kept(restarted: Page, settled: Callable) -> None:
    start = entries(restarted)
    typed(restarted, settled, SENTENCE)
    expect(source(restarted)).to_have_value(SENTENCE)
    expect(restarted.locator(".strip")).to_contain_text("dog")
    assert entries(restarted) == start + 1
    assert focus(restarted) == ("cross", "1", "3")
    typed(restarted, settled, "We love you.")
    restarted.go_back()
    expect(source(restarted)).to_have_value(SENTENCE)
    to_page(restarted, settled, "Masks")
    expect(source(restarted)).to_have_value(SENTENCE)
    assert focus(restarted) == ("cross", "1", "3")


def test_a_sentence_typed_over_another_in_the_first_second_is_kept(restarted: Page, settled: Callable) -> None:
    source(restarted).fill("We love you.")
    source(restarted).press("Enter")
    restarted.wait_for_timeout(100)
    source(restarted).fill(SENTENCE)
    source(restarted).press("Enter")
    restarted.wait_for_url(lambda url: parse_qs(urlsplit(url).query).get("src") == [SENTENCE])
    settled(restarted)
    expect(source(restarted)).to_have_value(SENTENCE)
    expect(restarted.locator(".strip")).to_contain_text("dog")


def test_the_first_choice_after_a_restart_is_kept(restarted: Page, settled: Callable) -> None:
    restarted.get_by_role("radio", name="Links").click()
    expect(restarted).to_have_url(re.compile("tab=links"))
    settled(restarted)
    expect(restarted.get_by_role("radio", name="Links")).to_be_checked()
    assert asked(restarted)["src"] == "I love you."


def test_the_first_head_after_a_restart_is_kept(restarted: Page, settled: Callable) -> None:
    restarted.get_by_role("gridcell", name="L2 H5").click()
    expect(restarted).to_have_url(re.compile("layer=2.*head=5"))
    settled(restarted)
    assert focus(restarted) == ("cross", "2", "5")


def test_a_page_change_after_a_restart_takes_everything_along(restarted: Page, settled: Callable) -> None:
    to_page(restarted, settled, "Anatomy")
    expect(source(restarted)).to_have_value("I love you.")
    assert focus(restarted) == ("cross", "1", "3")
