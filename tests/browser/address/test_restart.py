"""A server that is killed and started again while the browser stays open: the first choice after it is kept."""

import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import server
from tests.browser.address.walking import SENTENCE, address_params, entries, focus, follow_menu, source, type_sentence

RECONNECTED = "[data-testid='stApp'][data-test-connection-state='CONNECTED']"
PAINTED = ".avz[data-attnviz-painted]"
LOST = "[data-testid='stApp']:not([data-test-connection-state='CONNECTED'])"


class Restartable:
    """A dashboard that can be killed and started again at its address."""

    def __init__(self, log: Path) -> None:
        self.port, self._log = server.free_port(), log
        self.start()

    def start(self) -> None:
        self.process = server.start(self.port, self._log)

    def stop_reading(self) -> None:
        """Suspend the process, so that it reads no further message."""
        self.process.send_signal(signal.SIGSTOP)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Restartable]:
    restartable = Restartable(tmp_path / "dashboard.log")
    yield restartable
    restartable.kill()


@pytest.fixture
def come(visitor: Callable[..., BrowserContext], settle: Callable, running: Restartable) -> Callable[[int], list[Page]]:
    """Make sessions, each in a tab of its own, with a drawn Heads page and all its scripts loaded."""

    def make(count: int) -> list[Page]:
        context = visitor(base_url=f"http://127.0.0.1:{running.port}")
        pages = [context.new_page() for _ in range(count)]
        for page in pages:
            page.goto("/heads?src=I+love+you.&to=fr&kind=cross&layer=1&head=3")
            settle(page)
            expect(page.locator(PAINTED)).to_be_visible()
        for page in pages:
            page.wait_for_load_state("networkidle")
        return pages

    return make


def lose(running: Restartable, *pages: Page) -> None:
    """Kill the server, and wait until the pages know."""
    running.kill()
    for page in pages:
        page.locator(LOST).wait_for(state="attached")


def find_again(running: Restartable, *pages: Page) -> None:
    """Start the server again, and wait until the pages have found it."""
    running.start()
    for page in pages:
        page.locator(RECONNECTED).wait_for(state="attached")


def enter(page: Page, sentence: str = SENTENCE) -> None:
    source(page).fill(sentence)
    source(page).press("Enter")


def enter_without_server(page: Page) -> None:
    """Press Enter where the sentence was typed: Streamlit disables its fields then, and Enter goes nowhere."""
    expect(source(page)).to_be_disabled()
    page.keyboard.press("Enter")


def shows_the_sentence(page: Page) -> None:
    expect(page.locator(".strip")).to_contain_text("dog")
    expect(source(page)).to_have_value(SENTENCE)
    assert address_params(page)["src"] == SENTENCE


def test_what_was_on_its_way_typed_or_chosen_when_the_server_died_is_not_lost(come, running, settle) -> None:
    """Six sessions of one server. What three of them entered is asked again, what the fourth typed is not entered, and
    the first choice of the others is kept: a head, another page.
    """
    acts = (chooses_a_head, goes_to_another_page)
    sent, sent_twice, entered_late, typing, *choosing = come(4 + len(acts))
    source(entered_late).fill(SENTENCE)
    source(typing).fill("The big")
    running.stop_reading()
    enter(sent)
    enter(sent_twice)
    lose(running, sent, sent_twice, entered_late, typing, *choosing)
    enter_without_server(sent_twice)
    enter_without_server(entered_late)
    entered_late.get_by_role("dialog").wait_for()  # about the connection: it takes the focus
    find_again(running, sent, sent_twice, entered_late, typing, *choosing)
    for act, page in zip(acts, choosing, strict=True):
        act(page, settle)
    shows_the_sentence(sent)
    shows_the_sentence(sent_twice)
    shows_the_sentence(entered_late)
    goes_on_typing(typing)
    goes_back(sent, settle)


def goes_on_typing(page: Page) -> None:
    expect(source(page)).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type(" red dog.")
    expect(source(page)).to_have_value("The big red dog.")
    assert address_params(page)["src"] == "I love you."
    page.keyboard.press("Enter")
    expect(page.locator(".strip")).to_contain_text("dog")


def goes_back(page: Page, settle: Callable) -> None:
    """Require that a sentence typed after the restart is one step of the history."""
    start = entries(page)
    type_sentence(page, settle, "We love you.")
    assert entries(page) == start + 1
    page.go_back()
    expect(source(page)).to_have_value(SENTENCE)
    assert focus(page) == ("cross", "1", "3")


def chooses_a_head(page: Page, settle: Callable) -> None:
    page.get_by_role("gridcell", name="L2 H5").click()
    expect(page).to_have_url(re.compile("layer=2.*head=5"))
    settle(page)
    assert focus(page) == ("cross", "2", "5")


def goes_to_another_page(page: Page, settle: Callable) -> None:
    follow_menu(page, settle, "Anatomy")
    expect(source(page)).to_have_value("I love you.")
    assert focus(page) == ("cross", "1", "3")
