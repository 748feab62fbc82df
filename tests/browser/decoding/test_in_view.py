"""What is seen on the Decoding page in a browser: within the window, under the pointer, and in a picture of it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.at_rest import wait_until_at_rest
from tests.browser.decoding.stepper import PATH, ROOT, open_decoding


def test_a_beams_hypotheses_can_be_read(page: Page) -> None:
    open_decoding(page, f"{PATH}&choose=beam&beam=3&step=1")
    kept = page.get_by_role("list", name="Live and ended hypotheses").get_by_role("listitem")
    expect(kept.first).to_be_visible()
    box = kept.first.bounding_box()
    assert box is not None
    assert box["width"] > 100


ALL_BROKEN = "&causal=none&dropout=true&dtype=bfloat16&restart=true"


def test_steps_and_verdict_are_seen_without_scrolling_and_stay_inside_every_window(page: Page) -> None:
    for more in ("", "&causal=none", ALL_BROKEN):
        open_decoding(page, PATH + more)
        page.locator("[data-verdict]").wait_for()
        if not more:
            the_stepper_stays_inside_every_window(page)
        if more != ALL_BROKEN:
            what_is_broken_on_purpose_is_seen_and_the_rest_is_folded(page, more)
        for width, height in ((1440, 900), (1280, 720)):
            page.set_viewport_size({"width": width, "height": height})
            wait_until_at_rest(page.locator(ROOT))
            stands_above_the_status_bar(page)


def the_stepper_stays_inside_every_window(page: Page) -> None:
    root = page.locator(ROOT)
    for width, height, scheme in ((1440, 900, "light"), (1280, 720, "dark"), (390, 844, "light")):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": height})
        expect(root).to_have_attribute("data-theme", scheme)
        wait_until_at_rest(root)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        box = root.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= width + 1


def stands_above_the_status_bar(page: Page) -> None:
    bar = page.locator(".status-bar").bounding_box()
    assert bar is not None
    for seen in (ROOT, "[data-verdict]", ".verdict"):
        box = page.locator(seen).bounding_box()
        assert box is not None
        assert box["y"] >= 0, seen
        assert box["y"] + box["height"] <= bar["y"], seen


def the_verdict_the_step_and_its_maps_are_in_the_first_screen(page: Page) -> None:
    for seen in (".verdict-head", ".player", ".prefix"):
        box = page.locator(seen).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 800, seen


def what_is_broken_on_purpose_is_seen_and_the_rest_is_folded(page: Page, broken: str) -> None:
    for label, is_open in {"Break it": bool(broken), "How it steps": False}.items():
        expect(page.locator("details").filter(has_text=label)).not_to_have_count(0)
        expect(page.locator("details[open]").filter(has_text=label)).to_have_count(int(is_open))


def test_what_was_chosen_is_seen_among_the_candidates_however_unlikely(page: Page) -> None:
    open_decoding(page, f"{PATH}&choose=sampled&temperature=3&step=1")
    chosen = page.get_by_role("list", name="Most likely next tokens").locator("li.chosen")
    box, pane = chosen.bounding_box(), page.get_by_role("complementary", name="Next token").bounding_box()
    assert box is not None
    assert pane is not None
    assert box["y"] + box["height"] <= pane["y"] + pane["height"] + 1


def point_at_a_cell(page: Page) -> None:
    """Point at a cell of the first map that names a token."""
    box = page.locator(".map").bounding_box()
    assert box is not None
    for across in (0.16, 0.2, 0.24, 0.28):
        for y in range(int(box["height"]) - 6, 60, -4):
            page.mouse.move(box["x"] + box["width"] * across, box["y"] + y)
            if page.locator(".map-box .tip").inner_text().startswith("one pass"):
                return
    pytest.fail("no cell was found")


def test_the_tip_follows_head_and_sentence_and_a_saved_picture_bears_no_controls_words(page: Page) -> None:
    open_decoding(page, f"{PATH}&step=5&layer=0&head=0")
    a_picture_of_the_maps_bears_no_controls_words(page)
    point_at_a_cell(page)
    tip = page.locator(".map-box .tip")
    first = tip.inner_text()
    page.get_by_role("combobox", name="Head").select_option("3")
    expect(tip).not_to_have_text(first)
    source, root = page.get_by_label("Source sentence"), page.locator(ROOT)
    shown = root.get_attribute("data-attnviz-painted") or ""
    source.fill("A big red dog.")
    source.press("Enter")
    expect(root).not_to_have_attribute("data-attnviz-painted", shown, timeout=60_000)
    assert tip.is_hidden() or "aime" not in tip.inner_text()


def a_picture_of_the_maps_bears_no_controls_words(page: Page) -> None:
    page.locator(".stepper .menu > summary").click()
    with page.expect_download() as saved:
        page.get_by_role("menuitem", name="SVG picture").click()
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", saved.value.path().read_text(encoding="utf-8"))
    assert {"one pass", "steps", "computed once"} <= set(texts)
    assert not [text for text in texts if re.search(r"asking|Export|Play|drag|click", text)]


def test_on_a_phone_every_term_says_what_it_means_by_pointer_key_and_finger(
    new_tab: Callable[..., Page],
) -> None:
    page = open_decoding(new_tab(viewport={"width": 390, "height": 844}, has_touch=True))
    the_verdict_the_step_and_its_maps_are_in_the_first_screen(page)
    terms, bubble = page.locator(".stepper .term"), page.locator(".stepper .definition")
    assert terms.count() >= 10
    for node in terms.all():
        assert len(node.get_attribute("aria-description") or "") > 20, node.inner_text()
    loss = page.locator(".term[data-term='loss']")
    for reach in (loss.hover, loss.focus, loss.tap):
        reach()
        expect(bubble).to_contain_text("nats")
        box = bubble.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        loss.blur()
        page.locator(".stepper h2").first.hover()
        expect(bubble).to_be_hidden()


def test_beside_a_lesson_no_name_of_a_column_is_cut(page: Page, settle: Callable[[Page], None]) -> None:
    page.goto("/decoding?src=I+love+you.&to=fr&lesson=6-all-at-once-and-step-by-step&lesson_step=1")
    settle(page)
    expect(page.locator(".st-key-lesson-panel")).to_be_visible()
    names = page.locator(".table-box th:visible")
    cut = "(nodes) => nodes.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)"
    assert names.evaluate_all(cut) == []
