"""Back and Forward on the Decoding page: the picture follows what the address says."""

import json
from collections.abc import Callable

from playwright.sync_api import Page, expect

PATH = "/decoding?src=I%20love%20you.&to=fr&step=0"
ROOT = ".stepper[data-attnviz-painted]"


def open_decoding(page: Page, settle: Callable[[Page], None], path: str = PATH) -> Page:
    page.goto(path)
    page.locator(ROOT).wait_for(timeout=120_000)
    settle(page)
    return page


def view(page: Page) -> dict:
    """Read what the component shows: step, layer and head."""
    return json.loads(page.locator(ROOT).get_attribute("data-attnviz-view") or "{}")


def address_after(page: Page, settle: Callable[[Page], None], choose: Callable[[], None]) -> str:
    """Make a choice, and return the address that says it."""
    before = page.url
    choose()
    page.wait_for_url(lambda address: address != before)
    settle(page)
    return page.url


def test_back_and_forward_walk_through_the_steps_that_were_chosen(page: Page, settle: Callable) -> None:
    open_decoding(page, settle)
    on = page.get_by_role("button", name="One step on")
    addresses = [page.url, *(address_after(page, settle, on.click) for _ in range(2))]
    assert view(page)["step"] == 2
    for step in (1, 0):
        page.go_back()
        expect(page).to_have_url(addresses[step])
        expect(page.get_by_text(f"step {step} of")).to_be_visible()
        assert view(page)["step"] == step
    page.go_forward()
    expect(page.get_by_text("step 1 of")).to_be_visible()
    # What is chosen after Back is taken up as any other choice.
    address_after(page, settle, on.click)
    assert view(page)["step"] == 2
    page.go_back()
    expect(page.get_by_text("step 1 of")).to_be_visible()
