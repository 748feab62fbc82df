"""The Decoding page in a browser: playing to the end, the verdict, breaking it, and the way to Heads and back."""

import json
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from tests.browser.at_rest import wait_until_settled
from tests.browser.decoding.stepper import PATH, ROOT, last_step, open_decoding, verdict, view


def test_it_plays_to_the_end_and_the_verdict_is_read(page: Page) -> None:
    last = last_step(open_decoding(page))
    page.get_by_role("slider", name="Step").fill(str(last - 2))
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_text(f"step {last} of {last}")).to_be_visible()
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    assert verdict(page) == "equal"
    assert 0 < float(page.locator("[data-verdict]").inner_text()) < 1
    expect(page.locator(".training tr.current")).to_have_count(1)


def address_after(page: Page, settle: Callable[[Page], None], choose: Callable[[], None]) -> str:
    """Make a choice, and return the address that says it."""
    before = page.url
    choose()
    page.wait_for_url(lambda address: address != before)
    settle(page)
    return page.url


def test_back_and_forward_walk_through_the_steps_that_were_chosen_and_so_do_keys(
    page: Page, settle: Callable[[Page], None]
) -> None:
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
    settle(page)
    page.get_by_role("slider", name="Step").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert view(page)["step"] == 2
    page.wait_for_url("**step=2**")
    settle(page)
    page.keyboard.press("End")
    assert view(page)["step"] == last_step(page)


def test_a_step_is_opened_that_is_seen_while_it_plays(page: Page, settle: Callable[[Page], None]) -> None:
    open_decoding(page, f"{PATH}&step=0&layer=1&head=3")
    settle(page)
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Open step 3 in Heads").click()
    page.wait_for_url("**/heads?**")
    row = int(parse_qs(urlsplit(page.url).query)["row"][0])
    assert row >= 3, "it played on until the click"
    settle(page)
    shown = json.loads(page.locator(".avz[data-attnviz-painted]").get_attribute("data-attnviz-view") or "{}")
    assert (shown["kind"], shown["layer"], shown["head"], shown["row"]) == ("cross", 1, 3, row)


def test_a_switch_breaks_it_and_another_visitor_does_not_notice(
    new_tab: Callable[..., Page], settle: Callable[[Page], None]
) -> None:
    first, second = open_decoding(new_tab()), open_decoding(new_tab())
    settle(first)
    first.get_by_text("Break it", exact=True).click()
    toggle = first.get_by_text("Positions restart in the cache")
    for verdict_of_first in ("broken", "equal", "broken"):
        toggle.click()
        first.locator(f"[data-verdict='{verdict_of_first}']").wait_for()
        settle(first)
    expect(first.locator(".verdict-line").filter(has_text="breaks first at")).to_be_visible()
    second.reload()
    second.locator(ROOT).wait_for()
    wait_until_settled(second)
    assert verdict(second) == "equal"


def test_the_verdicts_picture_and_numbers_can_be_taken_along_by_keyboard(page: Page) -> None:
    open_decoding(page, f"{PATH}&more=verdict")
    page.locator(".st-key-verdict .main-svg").first.wait_for()
    tools = page.locator(".st-key-verdict-tools")
    starts = {"PNG": b"\x89PNG", "SVG": b"<svg", "CSV": b"\xef\xbb\xbfline,place"}
    for name, start in starts.items():
        tools.get_by_role("button", name=name).focus()
        with page.expect_download() as saved:
            page.keyboard.press("Enter")
        assert saved.value.suggested_filename == f"attnviz-verdict.{name.lower()}"
        content = saved.value.path().read_bytes()
        assert content.startswith(start)
        assert len(content) > 2_000


def test_a_text_of_a_hundred_tokens_is_stepped_through(page: Page) -> None:
    words = "+".join(["the+old+man+who+lives+in+this+small+house+has+a+big+red+dog"] * 7)
    open_decoding(page, f"/decoding?src={words}&to=fr&tgt={words}&way=teacher&step=0")
    assert last_step(page) >= 90
    page.get_by_role("slider", name="Step").focus()
    page.keyboard.press("ArrowRight")
    assert view(page)["step"] == 1
    assert verdict(page) == "equal"
