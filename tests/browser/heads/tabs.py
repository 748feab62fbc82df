"""What tests of the Heads page's other tabs share: a link, how it is opened, and what is in view then."""

import json

from playwright.sync_api import Page, expect

LINK = "/heads?src=I+love+you.&to=fr&tgt=Je+t%27aime.&kind=cross&layer=1&head=3"


def open_tab(page: Page, settle, link: str):
    """Open a link, and return the picture of its tab."""
    page.goto(link)
    settle(page)
    picture = page.locator("[data-attnviz-painted]")
    expect(picture).to_be_visible()
    return picture


def chosen_view(picture) -> dict:
    """Read what the component says is chosen."""
    return json.loads(picture.get_attribute("data-attnviz-view"))
