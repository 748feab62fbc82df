"""The Decoding page in a browser: playing to the end, the verdict, breaking it, and the way to Heads and back."""

import json
import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

PATH = "/decoding?src=I%20love%20you.&to=fr"
ROOT = ".stepper[data-attnviz-painted]"
FRAME_MS, REDRAW_MS = 16, 150


def opened(page: Page, path: str = PATH) -> Page:
    page.goto(path)
    page.locator(ROOT).wait_for(timeout=60_000)
    return page


def view(page: Page) -> dict:
    """What the component shows: step, layer and head."""
    return json.loads(page.locator(ROOT).get_attribute("data-attnviz-view") or "{}")


def last_step(page: Page) -> int:
    return int(page.get_by_role("slider", name="Step").get_attribute("max") or 0)


def verdict(page: Page) -> str:
    return page.locator("[data-verdict]").get_attribute("data-verdict") or ""


def test_it_plays_to_the_end_and_the_verdict_is_read(page: Page) -> None:
    opened(page, f"{PATH}&step=0")
    last = last_step(page)
    assert view(page)["step"] == 0
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_text(f"step {last} of {last}")).to_be_visible(timeout=2_000 + 1_500 * last)
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    assert verdict(page) == "equal"
    assert 0 < float(page.locator("[data-verdict]").inner_text()) < 1
    expect(page.locator(".training tr.current")).to_have_count(1)


def test_every_step_is_redrawn_in_time(page: Page) -> None:
    opened(page)
    page.get_by_role("button", name="First step").click()
    times = []
    for _ in range(last_step(page)):
        page.get_by_role("button", name="One step on").click()
        times.append(float(page.locator(ROOT).get_attribute("data-attnviz-ms") or "inf"))
    assert sorted(times)[len(times) // 2] < FRAME_MS * 2
    assert max(times) < REDRAW_MS


def test_keys_walk_the_steps_and_the_address_follows(page: Page, settled: Callable[[Page], None]) -> None:
    opened(page, f"{PATH}&step=0")
    page.get_by_role("slider", name="Step").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert view(page)["step"] == 2
    page.wait_for_url("**step=2**")
    settled(page)
    page.keyboard.press("End")
    assert view(page)["step"] == last_step(page)


@pytest.mark.parametrize("switch", ["Dropout 0.1 left on", "Positions restart in the cache"])
def test_a_switch_breaks_it_and_another_visitor_does_not_notice(
    visitor: Callable[..., BrowserContext], switch: str
) -> None:
    first, second = opened(visitor().new_page()), opened(visitor().new_page())
    first.get_by_text(switch).click()
    first.locator("[data-verdict='broken']").wait_for()
    expect(first.locator(".verdict-line").filter(has_text="breaks first at")).to_be_visible()
    second.reload()
    second.locator(ROOT).wait_for()
    assert verdict(second) == "equal"


def test_a_step_opens_in_heads_and_the_sentence_stays(page: Page, settled: Callable[[Page], None]) -> None:
    opened(page, "/decoding?src=A%20big%20red%20dog%20jumped.&to=zh&step=1&layer=1&head=3")
    page.get_by_role("link", name="Open step 1 in Heads").click()
    page.wait_for_url("**/heads?**")
    page.locator(".avz[data-attnviz-painted]").wait_for(timeout=60_000)
    settled(page)
    shown = json.loads(page.locator(".avz[data-attnviz-painted]").get_attribute("data-attnviz-view") or "{}")
    assert (shown["kind"], shown["layer"], shown["head"], shown["row"]) == ("cross", 1, 3, 1)
    expect(page.get_by_label("Source sentence")).to_have_value("A big red dog jumped.")
    page.get_by_role("link", name="Decoding").click()
    page.locator(ROOT).wait_for(timeout=60_000)
    expect(page.get_by_label("Source sentence")).to_have_value("A big red dog jumped.")
    assert parse_qs(urlsplit(page.url).query).get("to") == ["zh"]


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720), (390, 844)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_runs_over_the_edge(visitor: Callable[..., BrowserContext], size: tuple[int, int], scheme: str) -> None:
    width, height = size
    page = opened(visitor(viewport={"width": width, "height": height}, color_scheme=scheme).new_page())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator(ROOT).bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= width + 1
    assert page.locator(ROOT).get_attribute("data-theme") == scheme


def test_a_beams_hypotheses_can_be_read(page: Page) -> None:
    opened(page, f"{PATH}&choose=beam&beam=3&step=1")
    kept = page.get_by_role("list", name="Live and ended hypotheses").get_by_role("listitem")
    expect(kept.first).to_be_visible()
    box = kept.first.bounding_box()
    assert box is not None
    assert box["width"] > 100


def test_the_verdicts_picture_and_numbers_can_be_taken_along_by_keyboard(page: Page) -> None:
    opened(page)
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


def test_a_text_of_a_hundred_tokens_is_stepped_through_in_time(page: Page) -> None:
    words = "+".join(["the+old+man+who+lives+in+this+small+house+has+a+big+red+dog"] * 7)
    opened(page, f"/decoding?src={words}&to=fr&tgt={words}&way=teacher&step=0")
    assert last_step(page) >= 90
    page.get_by_role("slider", name="Step").focus()
    times = []
    for _ in range(8):
        page.keyboard.press("ArrowRight")
        times.append(float(page.locator(ROOT).get_attribute("data-attnviz-ms") or "inf"))
    assert sorted(times)[len(times) // 2] < REDRAW_MS
    assert verdict(page) == "equal"


ALL_BROKEN = "&causal=none&dropout=true&dtype=bfloat16&restart=true"


@pytest.mark.parametrize("more", ["", "&choose=sampled&temperature=1.5", "&dropout=true", ALL_BROKEN])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720)])
def test_steps_and_verdict_are_seen_without_scrolling(
    visitor: Callable[..., BrowserContext], width: int, height: int, more: str
) -> None:
    page = opened(visitor(viewport={"width": width, "height": height}).new_page(), PATH + more)
    page.locator(".st-key-verdict .main-svg").first.wait_for()
    bar = page.locator(".status-bar").bounding_box()
    assert bar is not None
    for seen in (ROOT, "[data-verdict]", ".verdict", ".st-key-verdict"):
        box = page.locator(seen).bounding_box()
        assert box is not None
        assert box["y"] >= 0, seen
        assert box["y"] + box["height"] <= bar["y"], seen


def test_what_was_chosen_is_seen_among_the_candidates_however_unlikely(page: Page) -> None:
    opened(page, f"{PATH}&choose=sampled&temperature=3&step=1")
    chosen = page.get_by_role("list", name="Likeliest next tokens").locator("li.chosen")
    box, pane = chosen.bounding_box(), page.get_by_role("complementary", name="Next token").bounding_box()
    assert box is not None
    assert pane is not None
    assert box["y"] + box["height"] <= pane["y"] + pane["height"] + 1


def test_the_sentences_stay_in_force_from_masks_to_decoding_and_back(
    page: Page, settled: Callable[[Page], None]
) -> None:
    page.goto("/masks?src=A%20big%20red%20dog%20jumped.&to=zh&tgt=%E7%8B%97")
    expect(page.get_by_label("Source sentence")).to_have_value("A big red dog jumped.")
    settled(page)
    page.get_by_role("link", name="Decoding").click()
    page.locator(ROOT).wait_for(timeout=60_000)
    expect(page.locator(".training tbody tr").first.locator(".label")).to_have_text("狗")
    page.get_by_role("link", name="Masks").click()
    page.wait_for_url("**/masks**")
    expect(page.get_by_label("Source sentence")).to_have_value("A big red dog jumped.")
    expect(page.get_by_label("Target (empty: the model translates)")).to_have_value("狗")


def test_the_untrained_experiment_prints_other_prefixes_for_other_ids(page: Page) -> None:
    opened(page, f"{PATH}&more=experiment")
    printed = page.locator(".prefix-blocks")
    expect(printed.get_by_role("heading", level=4)).to_have_count(5)
    ids = page.get_by_label("Target ids")
    ids.fill("7 7 1")
    ids.press("Enter")
    expect(printed.get_by_role("heading", level=4)).to_have_count(3)
    page.wait_for_url("**ids_tgt=7+7+1**")
    first = printed.inner_text()
    seed = page.get_by_role("spinbutton", name="Seed of the weights")
    seed.fill("5")
    seed.press("Enter")
    page.wait_for_url("**ids_seed=5**")
    expect(printed).not_to_have_text(first)


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


def test_the_tip_follows_the_head_and_the_sentence_under_a_resting_pointer(page: Page) -> None:
    opened(page, f"{PATH}&step=5&layer=0&head=0")
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


def test_every_term_says_what_it_means_by_pointer_key_and_finger(visitor: Callable[..., BrowserContext]) -> None:
    page = opened(visitor(viewport={"width": 390, "height": 844}, has_touch=True).new_page())
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


def test_a_picture_of_the_maps_bears_no_controls_words(page: Page) -> None:
    opened(page, f"{PATH}&step=2")
    page.locator(".stepper .menu > summary").click()
    with page.expect_download() as saved:
        page.get_by_role("menuitem", name="SVG picture").click()
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", saved.value.path().read_text(encoding="utf-8"))
    assert {"one pass", "steps", "computed once"} <= set(texts)
    assert not [text for text in texts if re.search(r"asking|Export|Play|drag|click", text)]
