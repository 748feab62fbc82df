"""Choices made while the server's answer to Back is still on its way to the browser."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, WebSocketRoute, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg


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
