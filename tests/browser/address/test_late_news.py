"""Choices made while the server's answer to Back, or to the choice before, is still on its way to the browser."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, WebSocketRoute, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.address.walking import address_params, chosen_view

# Each message of the server is heard so many milliseconds late.
SLOW_LINE = """{
  const add = WebSocket.prototype.addEventListener;
  const late = (socket, hear) => (event) => setTimeout(() => hear.call(socket, event), %d);
  WebSocket.prototype.addEventListener = function (kind, hear, ...more) {
    add.call(this, kind, kind === "message" ? late(this, hear) : hear, ...more);
  };
  Object.defineProperty(WebSocket.prototype, "onmessage", {
    set(hear) { add.call(this, "message", late(this, hear)); },
  });
}"""


class _Held:
    """Messages from the server to a page, held back from `begin` until `release`."""

    def __init__(self, page: Page) -> None:
        self.messages: list[tuple[WebSocketRoute, str | bytes]] = []
        self.is_held = False
        page.route_web_socket("**/_stcore/stream", self._route)

    def _route(self, browser: WebSocketRoute) -> None:
        server = browser.connect_to_server()
        browser.on_message(server.send)
        server.on_message(lambda said: self.messages.append((browser, said)) if self.is_held else browser.send(said))

    def count_finished_runs(self) -> int:
        """Count the finished runs among the held messages."""
        said = (ForwardMsg.FromString(said) for _, said in self.messages if isinstance(said, bytes))
        return sum(
            one.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY and one.HasField("script_finished") for one in said
        )

    def release(self) -> None:
        """Deliver all held messages to the browser."""
        self.is_held = False
        for browser, said in self.messages:
            browser.send(said)


def _wait(page: Page, held: _Held, runs: int) -> None:
    while held.count_finished_runs() < runs:
        page.wait_for_timeout(20)


def test_a_choice_before_the_news_of_back_does_not_undo_back(page: Page, settle: Callable[[Page], None]) -> None:
    held = _Held(page)
    page.goto("/masks?src=I+love+you.")
    settle(page)
    page.get_by_text("prefix", exact=True).click()
    expect(page.get_by_label("prefix: length", exact=True)).to_be_visible()
    settle(page)

    held.is_held = True
    page.go_back()
    _wait(page, held, 1)
    page.get_by_text("float16", exact=True).click()
    _wait(page, held, 2)
    held.release()

    expect(page).to_have_url(re.compile("dtype=float16"))
    assert "prefix" not in page.url


def test_the_news_of_a_choice_before_back_does_not_undo_back(page: Page, settle: Callable[[Page], None]) -> None:
    held = _Held(page)
    page.goto("/masks?src=I+love+you.")
    settle(page)
    page.get_by_text("prefix", exact=True).click()
    expect(page).to_have_url(re.compile("prefix"))
    settle(page)

    held.is_held = True
    page.get_by_text("float16", exact=True).click()
    _wait(page, held, 1)
    page.go_back()
    _wait(page, held, 2)
    held.release()

    settle(page)
    expect(page.get_by_label("prefix: length", exact=True)).to_have_count(0)
    assert address_params(page) == {"src": "I love you."}
    page.go_forward()
    expect(page).to_have_url(re.compile("prefix"))


def test_a_run_that_reaches_no_server_says_so_and_goes_on_by_itself(
    fresh_page: Page, settle: Callable[[Page], None]
) -> None:
    held = _Held(fresh_page)
    fresh_page.goto("/masks?src=I+love+you.")
    settle(fresh_page)
    offline = fresh_page.locator(".attnviz-offline")
    expect(offline).to_be_hidden()
    held.is_held = True
    fresh_page.context.set_offline(True)
    fresh_page.get_by_text("float16", exact=True).click()
    expect(offline).to_contain_text("No connection; what you typed is kept.")
    fresh_page.context.set_offline(False)
    expect(offline).to_be_hidden()  # a server that is slow is reached
    held.release()
    expect(fresh_page).to_have_url(re.compile("dtype=float16"))
    expect(offline).to_be_hidden()


def test_the_last_of_quick_choices_is_shown_and_stands_in_the_address(
    fresh_page: Page, settle: Callable[[Page], None]
) -> None:
    late = 500
    fresh_page.add_init_script(SLOW_LINE % late)
    fresh_page.goto("/heads?src=I+love+you.&kind=cross&layer=0&head=5")
    settle(fresh_page)
    for head in (1, 2, 1, 2, 1):
        fresh_page.get_by_role("gridcell", name=f"L0 H{head}").click()
        fresh_page.wait_for_timeout(100)
    fresh_page.wait_for_timeout(late)
    settle(fresh_page)
    fresh_page.wait_for_timeout(2 * late)
    assert (chosen_view(fresh_page)["head"], address_params(fresh_page)["head"]) == (1, "1")
    fresh_page.reload()
    settle(fresh_page)
    assert chosen_view(fresh_page)["head"] == 1
