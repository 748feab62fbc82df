"""A class that a teacher holds: the teacher's screen, a projector, phones, and every byte that each was sent."""

from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.at_rest import wait_until_settled
from tests.browser.screens.phone import PHONE

PASSWORD = "correct horse battery"
_WALL = {"viewport": {"width": 1920, "height": 1080}}


class Evening:
    """The screens of a class, and every byte that each was sent."""

    def __init__(self, visitor: Callable[..., BrowserContext]) -> None:
        self._visitor = visitor
        self._wall = visitor(**_WALL)
        self._sent: dict[Page, list[bytes]] = {}
        self.phones: dict[str, Page] = {}
        self.teacher = self._page(self._wall)
        self.code, self.projector = "", self._page(self._wall)

    def _page(self, context: BrowserContext) -> Page:
        page, sent = context.new_page(), []
        page.on("websocket", lambda socket: socket.on("framereceived", lambda data: sent.append(_bytes(data))))
        self._sent[page] = sent
        return page

    def begin(self) -> None:
        """Start the class as its teacher, and open it on the projector by the secret link."""
        self.teacher.goto("/lessons")
        login(self.teacher)
        self.teacher.locator(".st-key-class-0").get_by_role("button").click()
        self.code = self.teacher.locator(".class-invitation strong").inner_text()
        press(self.teacher, "Your link")
        self.projector.goto(self.teacher.get_by_test_id("stCode").inner_text().strip())
        self.teacher.keyboard.press("Escape")
        expect(self.projector.locator(".class-invitation strong")).to_have_text(self.code)
        wait_until_settled(self.projector)
        self.projector.keyboard.press("p")
        expect(self.projector.locator("[data-present=page] .st-key-class-stage")).to_be_visible()

    def join(self, name: str) -> None:
        """Join by code, on a phone of one's own."""
        phone = self.phones[name] = self._page(self._visitor(**PHONE))
        phone.goto("/class")
        login(phone)
        wait_until_settled(phone)
        phone.get_by_label("Code").fill(self.code)
        phone.get_by_label("Nickname").fill(name)
        tap(phone, "Join")

    def everybody(self) -> list[Page]:
        return list(self._sent)

    def require_nobody_was_sent(self, page: Page, *private: str) -> None:
        """Fail if a text was sent to a screen, seen or unseen."""
        sent = b"".join(self._sent[page])
        assert len(sent) > 10_000, "the page was listened to"
        assert not [said for said in private if said.encode() in sent]


def _bytes(data: bytes | str) -> bytes:
    return data.encode() if isinstance(data, str) else data


def login(page: Page) -> None:
    page.locator("input[name=password]").fill(PASSWORD)
    page.get_by_role("button").click()


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def tap(phone: Page, name: str) -> None:
    phone.get_by_role("button", name=name, exact=True).tap()
