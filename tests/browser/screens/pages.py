"""Every page and each of its tabs, as addresses; and what a test asks of the picture there."""

from collections.abc import Iterator

from playwright.sync_api import Page, expect

from attnviz.anatomy.implementations.page import state as implementations
from attnviz.anatomy.page import experiment as anatomy
from attnviz.causes.page import state as causes
from attnviz.heads.page import tabs as heads
from attnviz.masks.page import controls as masks

SRC = "src=I+love+you.&to=fr"
TABS = {
    "heads": tuple(heads.titles()),
    "masks": tuple(masks.TABS),
    "decoding": ("",),
    "learning": ("",),
    "causes": tuple(causes.TABS),
    "anatomy": tuple(anatomy.TABS),
    "implementations": tuple(implementations.TABS),
    "lessons": ("",),
}
_PAIR = "src=The+red+dog+sleeps.&to=fr&tab=patch&changed=The+black+dog+sleeps."
_LESSON = "lesson=1-what-a-head-looks-at"
# A pair to patch, a question on a covered map, one that is drawn, and the draft editor's forms.
MORE = (
    f"/causes?{_PAIR}",
    f"/heads?src=The+red+dog+sleeps.&to=fr&kind=cross&layer=2&head=4&{_LESSON}&lesson_step=1",
    f"/heads?src=The+red+dog+sleeps.&to=fr&kind=cross&layer=0&head=3&{_LESSON}&lesson_step=3",
    "/lessons?edit=0",
    "/lessons?edit=1",
)
STEP = {
    "title": "Red",
    "text": "Guess.",
    "link": "/heads?src=The+red+dog+sleeps.&to=fr&kind=cross&layer=2&head=4",
    "question": {"kind": "head", "ask": "Which?", "heads": "L0 H0, L1 H1", "by": "weight", "row": "rouge"},
}
DRAFT = {"revision": 1, "draft": {"title": "Where?", "steps": [STEP, {"title": "", "question": {}}]}}


def pages() -> Iterator[str]:
    """Return the welcome and each page, as its link opens it."""
    yield from (f"/{page}?{SRC}" for page in ("", *TABS))


def addresses() -> Iterator[str]:
    """Return the welcome, each page's tabs, and what else there is to be opened."""
    yield f"/?{SRC}"
    for page, tabs in TABS.items():
        for tab in tabs:
            yield f"/{page}?{SRC}" + (f"&tab={tab}" if tab else "")
    yield from MORE


def press_p(page: Page) -> None:
    """Press the key once the frame's script is there to hear it: it fills the line of narrow screens on every one."""
    expect(page.locator(".line .fold span")).not_to_be_empty()
    page.keyboard.press("p")


def overhang(page: Page) -> int:
    """Count the pixels of the page beyond its right edge."""
    return page.evaluate(
        """() => Math.max(...[document.documentElement, document.querySelector("[data-testid=stMain]")]
          .map((node) => node.scrollWidth - node.clientWidth))"""
    )
