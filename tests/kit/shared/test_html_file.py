"""“Interactive HTML” in an Export menu, where it cannot be made."""

import re

import pytest
from playwright.sync_api import Page, expect

from attnviz.heads.heads import heads
from attnviz.hosts import registry
from attnviz.kit.bundle import source
from attnviz.models.translator.tiny import tiny_translator
from tests.kit.bare_page import BarePage


@pytest.mark.parametrize(
    ("most", "can"), [(10, False), (1_000_000, True)], ids=["of a long text", "with all numbers there"]
)
def test_a_picture_whose_numbers_are_not_all_in_the_browser_says_who_writes_its_file(
    empty_page: Page, most: int, can: bool
) -> None:
    trace = tiny_translator(seed=0).trace("I love you", to="fr", tgt_text="je t'aime")
    bare = BarePage(empty_page, source(registry.widget("heads")), heads(trace, most=most))
    bare.attach()
    item = empty_page.get_by_role("menuitem", name="Interactive HTML")
    why = empty_page.get_by_text(
        re.compile(r"The browser does not have all the numbers, so it cannot save this file\. ")
    )
    menu = empty_page.locator("summary", has_text="Export")
    menu.click()
    expect(item).to_be_hidden()  # its host does not say what it is made of
    menu.click()
    bare.root.evaluate("(root) => { root.attnviz.source = () => ({}); }")
    menu.click()
    expect(item).to_be_enabled(enabled=can)
    expect(why).to_be_visible(visible=not can)
