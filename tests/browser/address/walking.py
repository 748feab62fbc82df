"""A visitor's way through the pages: what the address says, what is typed, and the head that is shown."""

import json
import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page

from attnviz.kit.views.labels import KINDS

SENTENCE = "The dog sleeps."


def address_params(page: Page) -> dict[str, str]:
    """Read what the address says."""
    return {name: texts[-1] for name, texts in parse_qs(urlsplit(page.url).query, keep_blank_values=True).items()}


def entries(page: Page) -> int:
    return page.evaluate("history.length")


def source(page: Page):
    return page.get_by_label(re.compile("^Source sentence"))


def follow_menu(page: Page, settle: Callable, name: str) -> None:
    """Follow the menu, and wait for the page it leads to."""
    page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True).click()
    page.wait_for_url(f"**/{name.lower()}*")
    settle(page)


def type_sentence(page: Page, settle: Callable, sentence: str) -> None:
    """Type a sentence, and wait until the address says it."""
    source(page).fill(sentence)
    source(page).press("Enter")
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query).get("src") == [sentence])
    settle(page)


def chosen_view(page: Page) -> dict:
    """Read what the page's picture says is chosen."""
    return json.loads(page.locator("[data-attnviz-painted]").first.get_attribute("data-attnviz-view") or "{}")


def focus(page: Page) -> tuple[str, ...]:
    """Read kind, layer and head from the page's own controls or picture."""
    here = ".st-key-mask-controls" if "/masks" in page.url else "[data-attnviz-view], .st-key-site"
    page.locator(here).first.wait_for()
    picture = page.locator("[data-attnviz-view]")
    if picture.count():
        view = chosen_view(page)
        return tuple(str(view[name]) for name in ("kind", "layer", "head") if name in view)
    boxes = (page.get_by_role("combobox", name=name, exact=True).input_value() for name in ("Site", "Layer", "Head"))
    kinds = {title.name: kind for kind, title in KINDS.items()}
    return tuple(kinds.get(box, re.sub(r"^[LH](?=\d)", "", box)) for box in boxes)
