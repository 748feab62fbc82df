"""The Learning page in a browser: played, scrubbed, compared, guessed, trained to its end, and cut short."""

import json
import os
import re
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as StillHere

from tests.browser.at_rest import wait_until_at_rest

ROOT = ".learning[data-attnviz-painted]"
EDGES = "(nodes) => nodes.map((node) => node.getBoundingClientRect()).map(({ left, right }) => [left, right])"
TRAINED = "/learning?task=reverse&first=steps-40&second=none&train=1"


def open_learning(page: Page, path: str = "/learning") -> Page:
    page.goto(path)
    page.locator(ROOT).wait_for()
    return page


def view(page: Page) -> dict:
    """Read what the component shows: moment, site and guess."""
    return json.loads(page.locator(ROOT).get_attribute("data-attnviz-view") or "{}")


def address_params(page: Page) -> dict[str, str]:
    """Read what the address says."""
    return {name: texts[-1] for name, texts in parse_qs(urlsplit(page.url).query).items()}


def run(page: Page, title: str) -> Locator:
    return page.get_by_role("region", name=f"Run: {title}", exact=True)


def wait_for_param(page: Page, name: str, value: str) -> None:
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query).get(name) == [value])


def test_a_guess_plays_the_recordings_in_step_and_stands_beside_the_outcome(page: Page, settle: Callable) -> None:
    open_learning(page)
    settle(page)
    expect(page.get_by_text("The training loss ends at 0.0000. Will it translate")).to_be_visible()
    expect(run(page, "No causal mask").locator(".meter")).to_contain_text("own prefix 0%")
    page.get_by_role("button", name="Yes, almost all lines").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.get_by_role("button", name="Last moment").click()
    expect(page.get_by_text("update 1,500 of 1,500")).to_be_visible()
    expect(page.get_by_text("You said: it will. It gets almost no line right.")).to_be_visible()
    expect(run(page, "Nothing left out").locator(".meter")).to_contain_text("own prefix 100%gap 0%")
    blind = run(page, "No causal mask")
    expect(blind.locator(".meter")).to_contain_text("teacher’s prefix 100%own prefix 0%gap 100%")
    expect(blind.locator(".lines .wrong")).to_have_count(5)
    expect(blind.locator(".score").filter(has_text="superdiagonal")).to_have_count(2)
    wait_for_param(page, "moment", "59")
    settle(page)
    page.reload()
    page.locator(ROOT).wait_for()
    expect(page.get_by_text("You said: it will. It gets almost no line right.")).to_be_visible()
    assert address_params(page) == {"moment": "59", "guess": "yes"}


def test_moments_are_stepped_scrubbed_and_brought_back(page: Page, settle: Callable) -> None:
    open_learning(page, "/learning?moment=20")
    settle(page)
    at = page.locator(".at")
    before = at.inner_text()
    page.get_by_role("button", name="One moment on").click()
    wait_for_param(page, "moment", "21")
    assert at.inner_text() != before
    settle(page)
    page.get_by_role("slider", name="Moment of the training").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    wait_for_param(page, "moment", "23")
    settle(page)
    page.go_back()
    expect(page.locator(ROOT)).to_have_attribute("data-attnviz-view", re.compile('"moment":21'))
    page.go_back()
    expect(at).to_have_text(before)
    curves = run(page, "Nothing left out").locator(".curves").bounding_box()
    assert curves is not None
    page.mouse.click(curves["x"] + curves["width"] * 0.5, curves["y"] + 40)
    assert abs(_updates(at.inner_text()) - 740) < 80


def _updates(said: str) -> int:
    return int(said.split()[1].replace(",", ""))


def test_a_head_opens_large_in_both_runs_and_closes(page: Page, settle: Callable) -> None:
    open_learning(page, "/learning?moment=59")
    settle(page)
    page.get_by_role("button", name="Cross-attention, L0 H1: open it large").first.click()
    expect(page.locator(".large canvas:visible")).to_have_count(2)
    expect(page.locator(".maps-name").first).to_contain_text("Cross-attention, L0 H1")
    wait_for_param(page, "site", "cross.0.1")
    page.keyboard.press("Escape")
    expect(page.locator(".thumb:visible")).to_have_count(12)


def test_an_experiment_of_the_menu_and_a_switch_change_what_is_compared(page: Page, settle: Callable) -> None:
    open_learning(page, "/learning?guess=no&moment=59")
    settle(page)
    page.get_by_role("button", name="Experiments").click()
    page.get_by_role("menuitem", name="Sorting needs no positions").click()
    expect(run(page, "No positions")).to_be_visible()
    settle(page)
    assert address_params(page) == {"task": "sort", "second": "without-positions"}
    assert view(page)["moment"] == 0
    page.get_by_text("A second run beside it").click()
    expect(page.locator("section.run")).to_have_count(1)
    page.go_back()
    expect(run(page, "No positions")).to_be_visible()


def test_it_is_trained_before_ones_eyes_and_what_was_trained_reads_a_line_and_opens(
    page: Page, settle: Callable
) -> None:
    open_learning(page, TRAINED)
    expect(page.get_by_text("starts after your guess")).to_be_visible()
    page.get_by_role("button", name="No, almost none").click()
    expect(page.get_by_text("You said: No, almost none.")).to_be_visible()
    expect(page.get_by_text("You said: it won’t. Right.")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("update 40 of 40")).to_be_visible()
    assert address_params(page)["guess"] == "no"
    line = page.get_by_role("textbox", name="A line of your own")
    line.fill("c a f e")
    line.press("Enter")
    expect(page.locator(".own-line")).to_contain_text("cafe")
    expect(page.locator(".maps-name").first).to_contain_text("your line")
    settle(page)
    while "/heads?" not in page.url:  # the end of a training draws the page again, also under a click
        page.locator(".st-key-open-0").get_by_role("link", name="Heads").click()
        with suppress(StillHere):
            page.wait_for_url("**/heads?**", timeout=10_000)
    page.locator(".avz[data-attnviz-painted]").wait_for()
    settle(page)
    assert address_params(page)["model"] == "toy:reverse-steps-40"
    expect(page.get_by_label("Source text")).to_have_value("c a f e")
    page.go_back()
    page.locator(ROOT).wait_for()
    expect(page.locator(".own-line")).to_contain_text("cafe")
    # Who asks for the same again watches the same run: it plays once the guess is made.
    open_learning(page, TRAINED)
    page.get_by_role("button", name="Yes, almost all lines").click()
    page.get_by_role("button", name="Last moment").click()
    expect(page.get_by_text("You said: it will. It gets almost no line right.")).to_be_visible()


@pytest.fixture
def worker(address: str) -> Callable[[], int]:
    """Provide the process that trains for the dashboard of these tests, once there is one."""
    port = address.rpartition(":")[2]

    def find() -> int:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for path in Path("/proc").glob("[0-9]*"):
                try:
                    parent = path.joinpath("stat").read_text().rsplit(")", 1)[1].split()[1]
                    if b"attnviz.learning.live.worker" in path.joinpath(
                        "cmdline"
                    ).read_bytes() and port.encode() in Path(f"/proc/{parent}/cmdline").read_bytes().split(b"\0"):
                        return int(path.name)
                except OSError:
                    continue
            time.sleep(0.1)
        raise AssertionError("nothing trains")

    return find


def test_a_worker_that_is_killed_is_said_and_the_recording_plays_on(
    page: Page, worker: Callable[[], int], settle
) -> None:
    open_learning(page, "/learning?task=twice&second=none&train=1&guess=open")
    expect(page.get_by_text("is training")).to_be_visible(timeout=60_000)
    os.kill(worker(), signal.SIGKILL)
    error = page.get_by_text(
        re.compile(r"The process that trains has ended after [0-9,]+ updates\. Start the run again\.")
    )
    expect(error).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Last moment").click()
    expect(page.get_by_text("update 2,200 of 2,200")).to_be_visible()
    page.get_by_role("button", name="Back to the recordings").click()
    expect(error).to_have_count(0)


def test_the_learning_page_stays_inside_every_window(page: Page) -> None:
    open_learning(page, "/learning?task=add&second=leak-one-head&moment=59&site=")
    for width, height, scheme in ((1440, 900, "light"), (1280, 720, "dark"), (390, 844, "light")):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": height})
        wait_until_at_rest(page.locator(ROOT))
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for selector in (".run", ".bar", ".thumb", ".lines"):
            for place in page.locator(f"{selector}:visible").evaluate_all(EDGES):
                assert place[0] >= -1
                assert place[1] <= width + 1
    stage, form = (page.locator(f".st-key-learning-{name}").bounding_box() for name in ("stage", "experiment"))
    assert stage is not None
    assert form is not None
    assert stage["y"] + stage["height"] <= form["y"] + 1, "on a phone the picture comes first"


def test_files_hold_what_is_drawn(page: Page, settle: Callable) -> None:
    open_learning(page, "/learning?moment=59")
    settle(page)
    saved = {}
    for name in ("PNG picture", "SVG picture", "CSV of the curves", "CSV of the maps now"):
        page.locator("summary", has_text="Export").click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name=name).click()
        saved[name] = Path(download.value.path()).read_bytes()
    assert saved["PNG picture"][:8] == b"\x89PNG\r\n\x1a\n"
    svg = saved["SVG picture"].decode()
    assert "toys of attnviz, seed 1: Nothing left out · No causal mask" in svg
    assert svg.count("<image") == 12
    curves = saved["CSV of the curves"].decode("utf-8-sig").splitlines()
    assert len(curves) == 1 + 2 * 60
    assert curves[0].startswith('"run","updates","loss_since_last","held_out_loss","teacher_prefix","own_prefix"')
    assert curves[-1].split(",")[:2] == ['"french-without-causal-mask"', "1500"]
    maps = saved["CSV of the maps now"].decode("utf-8-sig").splitlines()
    assert len(maps) == 1 + 2 * 3 * 2 * 8 * 8
