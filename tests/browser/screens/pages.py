"""Every page and each of its tabs, as addresses; and what a test asks of the picture there."""

from collections.abc import Iterator

from playwright.sync_api import Page

from attnviz.ui.causes import state as causes
from attnviz.ui.heads import tabs as heads
from attnviz.ui.masks import state as masks
from attnviz.ui.site import terms

SRC = "src=I+love+you.&to=fr"
TABS = {
    "heads": tuple(heads.TABS),
    "masks": tuple(masks.TABS),
    "decoding": ("",),
    "learning": ("",),
    "causes": tuple(causes.TABS),
    "anatomy": tuple(terms.ANATOMY),
    "implementations": tuple(terms.IMPLEMENTATIONS),
}


def addresses() -> Iterator[str]:
    """The welcome, then each page's tabs."""
    yield f"/?{SRC}"
    for page, tabs in TABS.items():
        for tab in tabs:
            yield f"/{page}?{SRC}" + (f"&tab={tab}" if tab else "")


def overhang(page: Page) -> int:
    """How many pixels of the page lie beyond its right edge."""
    return page.evaluate(
        """() => Math.max(...[document.documentElement, document.querySelector("[data-testid=stMain]")]
          .map((node) => node.scrollWidth - node.clientWidth))"""
    )
