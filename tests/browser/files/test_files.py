"""Pictures as files of their own: opened from a folder, offline, by a browser that asks for nothing else."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Browser, Locator, Page, expect

import attnviz
from attnviz.hosts.registry import PICTURES, picture
from tests.browser.at_rest import wait_in_page
from tests.hosts.html.reading import payloads
from tests.hosts.pictures.every_picture import draw_picture

AXE = "() => axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)"
HOSTILE = "</script><img src=x onerror=alert(1)><b>"


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """`visit(path)` opens a file in a browser of its own; the test fails where it asks for anything else, or raises."""
    heard: list[str] = []
    contexts = []

    def opened(path: Path, fragment: str = "", **options: Any) -> Page:
        context = browser.new_context(offline=True, viewport={"width": 1280, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: heard.append(request.url) if request.url != path.as_uri() else None)
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("dialog", lambda dialog: heard.append(dialog.message))
        page.goto(path.as_uri() + fragment)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [each for each in heard if not each.startswith(("blob:", "data:"))] == []


def painted(page: Page) -> Locator:
    return page.locator("[data-attnviz-painted]:not([data-attnviz-painted=''])")


def view(page: Page) -> dict[str, Any]:
    return json.loads(painted(page).get_attribute("data-attnviz-view") or "{}")


@pytest.mark.parametrize("name", PICTURES)
def test_each_picture_is_drawn_from_its_file(name, model, trace, visit, tmp_path) -> None:
    page = visit(draw_picture(name, model, trace).to_html(tmp_path / "picture.html"))
    expect(painted(page)).to_be_visible()
    expect(page.locator(".failed")).to_have_count(0)
    expect(page.get_by_text("Export").first).to_be_visible()
    for control in PICTURES[name].python_only:
        for node in page.locator(f"[data-control={control}]").all():
            expect(node).to_be_hidden()


def test_what_is_in_view_stands_in_the_address_and_comes_from_it(trace, visit, tmp_path) -> None:
    path = trace.to_html(tmp_path / "heads.html")
    page = visit(path)
    expect(painted(page)).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    page.wait_for_function("() => location.hash === '#head=1&row=0'")
    again = visit(path, "#head=1&row=0")
    expect(painted(again)).to_contain_text("L0 H1")
    assert (view(again)["head"], view(again)["row"]) == (1, 0)
    again.evaluate("() => { location.hash = '#layer=1'; }")
    expect(painted(again)).to_have_attribute("data-attnviz-view", re.compile('"layer":1,"head":0'))


@pytest.mark.parametrize("place", ["blob:", "data:", "srcdoc", "base"])
def test_a_file_inside_a_page_of_others_goes_back_to_its_first_view(place, trace, browser, tmp_path) -> None:
    """None of these places has an address of its own that could be written."""
    text = trace.to_html(tmp_path / "heads.html").read_text(encoding="utf-8")
    page, raised = browser.new_page(), []
    page.on("pageerror", lambda error: raised.append(str(error)))
    page.goto("about:blank")
    if place == "base":
        text = text.replace("base-uri 'none'; ", "").replace("<head>", '<head><base href="https://school.example/">')
    page.evaluate(
        """([text, place]) => {
          const frame = document.createElement("iframe");
          const bytes = new TextEncoder().encode(text);
          const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
          if (place === "blob:") frame.src = URL.createObjectURL(new Blob([bytes], { type: "text/html" }));
          else if (place === "data:") frame.src = `data:text/html;base64,${base64}`;
          else frame.srcdoc = text;
          frame.style.cssText = "width: 1200px; height: 700px";
          document.body.append(frame);
        }""",
        [text, place],
    )
    picture = page.frame_locator("iframe").locator("[data-attnviz-painted]")
    before = page.evaluate("history.length")
    for name, kind in (("Encoder self", "encoder_self"), ("Cross", "cross")):
        picture.get_by_role("tab", name=name).click()
        expect(picture).to_have_attribute("data-attnviz-view", re.compile(f'"kind":"{kind}"'))
        wait_in_page(page, 400)  # a choice is told 250 ms after it was made
    assert (page.evaluate("history.length"), raised) == (before, [])
    page.close()


def test_a_host_that_forbids_scripts_leaves_a_sentence_in_the_pictures_place(trace, browser, tmp_path) -> None:
    file = trace.to_html(tmp_path / "shown.html").read_text(encoding="utf-8")
    with browser.new_context() as context:
        page = context.new_page()
        policy = {"Content-Security-Policy": "script-src 'self'", "Content-Type": "text/html; charset=utf-8"}
        page.route("**/*", lambda route: route.fulfill(body=file, headers=policy))
        page.goto("http://course.example/shown.html")
        expect(page.get_by_text("the host of the page forbids scripts")).to_be_visible()
        page.route("**/*", lambda route: route.fulfill(body=file, content_type="text/html; charset=utf-8"))
        page.reload()
        expect(painted(page)).to_be_visible()
        expect(page.get_by_text("the host of the page forbids scripts")).to_have_count(0)


def test_a_painted_mask_comes_back_with_its_numbers(model, trace, visit, tmp_path) -> None:
    path = picture("mask_lab").of(model, trace).to_html(tmp_path / "masks.html")
    weights = "(node) => JSON.stringify(Array.from(node.attnviz.payload.attn))"
    page = visit(path)
    before = painted(page).evaluate(weights)
    page.locator("canvas").first.focus()
    page.keyboard.press("Space")
    page.wait_for_function("() => location.hash.includes('paint=')")
    after = painted(page).evaluate(weights)
    assert after != before
    again = visit(path, page.evaluate("location.hash"))
    assert painted(again).evaluate(weights) == after


@pytest.mark.parametrize("fragment", ["#layer=99&head=[1]&kind=nonsense", "#row={}&pins=7", "#%%%"])
def test_an_address_that_asks_for_what_is_not_there_shows_the_picture_all_the_same(
    trace, visit, tmp_path, fragment
) -> None:
    page = visit(trace.to_html(tmp_path / "heads.html"), fragment)
    expect(painted(page)).to_contain_text("attention, L0 H0")


def test_a_hostile_sentence_stays_text(model, visit, tmp_path) -> None:
    page = visit(model.trace(HOSTILE, to="fr", tgt_text=HOSTILE).to_html(tmp_path / "heads.html"))
    expect(painted(page)).to_be_visible()
    again = visit(save_html(page, tmp_path / "again.html"))  # which the browser has made
    expect(painted(again)).to_be_visible()
    for file in (page, again):
        expect(file.locator("img, b")).to_have_count(0)
        expect(file.locator("figcaption")).to_contain_text(HOSTILE)


def test_several_pictures_with_text_between_them_are_one_page(trace, visit, tmp_path) -> None:
    parts = ["First **heads**.", trace, "Then lines.", picture("links").of(trace), picture("heads").of(trace, head=1)]
    path = attnviz.page(parts, tmp_path / "page.html", title="A sentence")
    page = visit(path)
    expect(painted(page)).to_have_count(3)
    expect(page).to_have_title("A sentence")
    expect(page.locator("strong")).to_have_text("heads")
    painted(page).nth(0).locator("[role=gridcell]").nth(2).click()
    page.wait_for_function("() => location.hash.startsWith('#1.')")
    heads = [json.loads(node.get_attribute("data-attnviz-view") or "")["head"] for node in painted(page).all()[::2]]
    again = visit(path, page.evaluate("location.hash"))
    expect(painted(again)).to_have_count(3)
    assert heads == [
        json.loads(node.get_attribute("data-attnviz-view") or "")["head"] for node in painted(again).all()[::2]
    ]
    assert heads[1] == 1


def test_colours_follow_the_system_and_paper_is_light(trace, visit, tmp_path) -> None:
    page = visit(trace.to_html(tmp_path / "heads.html"), color_scheme="dark")
    expect(painted(page)).to_have_attribute("data-theme", "dark")
    page.emulate_media(color_scheme="light")
    expect(painted(page)).to_have_attribute("data-theme", "light")
    page.emulate_media(color_scheme="dark")
    expect(painted(page)).to_have_attribute("data-theme", "dark")
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    expect(painted(page)).to_have_attribute("data-theme", "light")
    page.emulate_media(media="print")
    assert painted(page).evaluate("(node) => node.getBoundingClientRect().right") <= 960
    page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    expect(painted(page)).to_have_attribute("data-theme", "dark")


def test_what_was_drawn_for_paper_is_printed_as_new_canvases_and_taken_away(trace, visit, tmp_path) -> None:
    trace.to_html(tmp_path / "heads.html")
    page = visit(tmp_path / "heads.html")
    page.emulate_media(color_scheme="dark")
    seen = """() => [...document.querySelector("figure .place").shadowRoot.querySelectorAll("canvas.map")]
        .filter((one) => !one.hidden).map((one) => [one.toDataURL(), one.getBoundingClientRect().width])"""
    expect(page.locator("figure .avz")).to_have_attribute("data-theme", "dark")
    ((dark, width),) = page.evaluate(seen)
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    ((light, same),) = page.evaluate(seen)
    assert light != dark
    assert same == width
    assert page.locator("figure canvas.map").count() == 2  # the copy lies where the picture did
    page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    expect(page.locator("figure canvas.map")).to_have_count(1)
    assert page.evaluate(seen) == [[dark, width]]


def test_a_file_says_to_a_screen_reader_what_it_is(trace, visit, tmp_path) -> None:
    page = visit(trace.to_html(tmp_path / "heads.html"))
    expect(painted(page)).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text("I love you")
    expect(page.get_by_role("main").get_by_role("figure")).to_have_count(1)
    page.evaluate(AXE_FILE_PATH.read_text(encoding="utf-8"))
    serious = [each["id"] for each in page.evaluate(AXE) if each["impact"] in ("serious", "critical")]
    assert serious == []


def test_a_file_makes_a_file_of_itself_as_it_is_in_view(trace, visit, tmp_path) -> None:
    page = visit(trace.to_html(tmp_path / "heads.html"))
    expect(painted(page)).to_be_visible()
    page.keyboard.press("ArrowDown")
    saved = save_html(page, tmp_path / "again.html")
    again = visit(saved)
    expect(painted(again)).to_contain_text("L0 H1")
    assert view(again) == {**view(page), "seq": 0}
    (payload,) = payloads(saved.read_text(encoding="utf-8"))
    assert payload.blobs == picture("heads").of(trace).without_python().payload().blobs


@pytest.mark.parametrize(
    "place",
    ["heads?src=I+love+you.&to=fr&layer=1&head=3", "learning", "causes?src=I+love+you.&to=fr"],
)
def test_the_export_menu_of_a_page_saves_a_file_that_opens_without_it(
    page: Page, settle: Callable, visit, tmp_path, place
) -> None:
    page.goto(f"/{place}")
    expect(painted(page).first).to_be_visible()
    settle(page)
    here = page.locator("[data-attnviz-painted]").first.get_attribute("data-attnviz-view")
    file = visit(save_html(page, tmp_path / "saved.html"))
    expect(painted(file)).to_be_visible()
    expect(file.locator(".failed")).to_have_count(0)
    there = file.locator("[data-attnviz-painted]").first.get_attribute("data-attnviz-view")
    assert json.loads(there or "{}") | {"seq": 0} == json.loads(here or "{}") | {"seq": 0}


def test_a_drawing_of_the_model_leads_nowhere_in_its_file(page: Page, settle: Callable, visit, tmp_path) -> None:
    page.goto("/heads?src=I+love+you.&to=fr")
    expect(painted(page)).to_be_visible()
    settle(page)
    page.keyboard.press("g")
    drawing = page.get_by_test_id("stDialog").locator(".drawing")
    expect(drawing.locator("a").first).to_be_visible()
    file = visit(save_html(page, tmp_path / "drawing.html", drawing))
    expect(file.locator("[data-part=cross]").first).to_be_visible()
    expect(file.locator("a")).to_have_count(0)
    expect(painted(file)).not_to_contain_text("open the page")


def save_html(page: Page, path: Path, within: Locator | None = None) -> Path:
    place = within or page.locator("body")
    place.locator("summary", has_text="Export").first.click()
    with page.expect_download() as download:
        place.get_by_role("menuitem", name="Interactive HTML").first.click()
    download.value.save_as(path)
    return path
