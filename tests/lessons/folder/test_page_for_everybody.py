"""Pages of a lesson's folder are accessible, fit a phone, print on white, and work below any address."""

from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Browser, expect

from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.lessons.folder.test_page import FIRST, Visit, painted, press, verdict

pytestmark = NEEDS_A_BROWSER
PHONE = {"viewport": {"width": 390, "height": 800}, "is_mobile": True, "has_touch": True}
SERIOUS = """() => axe.run(document, { preload: false }).then(({ violations }) => violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))"""


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark", **PHONE}], ids=["light", "dark, on a phone"])
def test_pages_are_for_everybody_and_fit(visit: Visit, options: dict) -> None:
    page = visit(f"{FIRST}#3", **options)
    painted(page)

    def check() -> None:
        page.evaluate(Path(AXE_FILE_PATH).read_text(encoding="utf-8"))
        assert page.evaluate(SERIOUS) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    check()
    press(page, "Skip and show")
    expect(verdict(page)).to_be_visible()
    verdict(page).evaluate("(node) => Promise.all(node.getAnimations().map(({ finished }) => finished))")
    check()
    page.get_by_role("link", name="All lessons").click()
    expect(page.get_by_role("link", name="Go on: What a head looks at")).to_be_visible()
    check()


def test_a_lesson_is_printed_on_white(visit: Visit) -> None:
    page = visit("eigene.html#4", color_scheme="dark")
    painted(page)
    ink = "getComputedStyle(document.documentElement).getPropertyValue('--avz-ink')"
    told = [
        page.evaluate(f"() => {{ dispatchEvent(new Event('{event}')); return {ink}; }}")
        for event in ("nothing", "beforeprint", "afterprint")
    ]
    assert told == ["#e7e9f0", "#1a1c25", "#e7e9f0"]


def test_a_folder_works_below_any_address(browser: Browser, folder: Path) -> None:
    page = browser.new_page()
    home = "http://course.example/2026/deep learning/"
    asked: list[str] = []

    def serve(route) -> None:
        asked.append(route.request.url)
        path = folder / route.request.url.removeprefix(home.replace(" ", "%20"))
        route.fulfill(path=path) if path.is_file() else route.fulfill(status=404)

    page.route("**/*", serve)
    page.goto(f"{home}index.html")
    page.get_by_role("link", name="What a head looks at", exact=True).click()
    assert painted(page)
    assert all(url.startswith(home.replace(" ", "%20")) for url in asked if not url.endswith("/favicon.ico"))
    page.close()
