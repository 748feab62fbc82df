"""Back and Forward on the Decoding page: the picture follows what the address says."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.decoding.stepper import PATH, open_decoding, view


def address_after(page: Page, settle: Callable[[Page], None], choose: Callable[[], None]) -> str:
    """Make a choice, and return the address that says it."""
    before = page.url
    choose()
    page.wait_for_url(lambda address: address != before)
    settle(page)
    return page.url


def test_back_and_forward_walk_through_the_steps_that_were_chosen(page: Page, settle: Callable) -> None:
    open_decoding(page, f"{PATH}&step=0")
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
