"""A lesson of a folder in a browser: opened from the disk, walked, kept, saved, and accessible."""

import csv
import re
from collections.abc import Callable
from html import escape
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER
Visit = Callable[..., Page]
FIRST = "1-what-a-head-looks-at.html"


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def verdict(page: Page) -> Locator:
    return page.locator(".verdict")


def marks(page: Page) -> list[str]:
    """Read the marks on the steps' numbers."""
    return page.locator("nav a").evaluate_all("(links) => links.map(({ dataset }) => dataset.mark)")


def painted(page: Page) -> str:
    """Wait for the step's picture; return the id of what is drawn."""
    root = page.locator(".place [data-attnviz-painted]")
    return root.get_attribute("data-attnviz-painted") or ""


def click_cell(page: Page, row: int, col: int) -> None:
    painted(page)
    at = page.locator(".place .avz").evaluate(
        """async (root, [row, col]) => {
        const place = () => {
            const { x, y, cell } = root.attnviz.tiles[0].geometry;
            const { left, top } = root.querySelector(".map-box").getBoundingClientRect();
            return [left + x + (col + 0.5) * cell.w, top + y + (row + 0.5) * cell.h];
        };
        let [before, now] = [[], place()];
        while (now.some((at, i) => at !== before[i])) { // until the page lies still
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            [before, now] = [now, place()];
        }
        return now; }""",
        [row, col],
    )
    page.mouse.click(*at)


def answer_a_cell_on_the_map(page: Page) -> None:
    covered = painted(page)
    press(page, "Answer")
    expect(page.get_by_role("alert")).to_have_text("Choose a cell first.")
    click_cell(page, 2, 2)  # dog, in the row that is asked for: the list follows
    expect(page.locator(".form select")).to_have_value("2")
    press(page, "Answer")
    expect(verdict(page)).to_contain_text(
        "You said “chien → rouge × dog”. Your choice has weight 0.00; the largest weight is 0.99."
    )
    expect(verdict(page)).to_contain_text("The model: chien → rouge × red (0.99).")
    expect(page.locator(".place [data-attnviz-painted]")).not_to_have_attribute("data-attnviz-painted", covered)


def answer_a_cell_in_the_list(page: Page) -> None:
    press(page, "Next")
    expect(page.locator(".words h2")).to_be_focused()
    press(page, "Hint")
    expect(page.locator(".hinted")).to_have_count(1)
    page.locator(".form select").select_option("2")  # the map follows
    view = page.locator(".place .avz").evaluate("(root) => root.attnviz.view")
    assert view["marks"] == [[2, 2]]
    press(page, "Answer")
    expect(verdict(page)).to_contain_text("Right.")


def answer_the_rest(page: Page) -> None:
    press(page, "Next")
    page.get_by_role("slider", name="1 red").press("PageUp")
    press(page, "Answer")
    expect(verdict(page)).to_contain_text("Your row shares 50% of its weight with the model's row.")
    press(page, "Next")
    page.get_by_text("7.39 / 11.11").click()
    press(page, "Answer")
    expect(verdict(page)).to_contain_text("Right. You said “7.39 / 11.11")
    press(page, "Next")
    page.get_by_label("Your number").fill("1,0")
    page.get_by_label("Your number").press("Enter")
    expect(verdict(page)).to_contain_text("Right. You said “1”.")
    press(page, "Next")
    press(page, "Skip and show")
    expect(verdict(page)).to_contain_text("Skipped. The model: un → livre × book")


def test_a_lesson_is_walked_kept_and_saved(visit: Visit, tmp_path: Path) -> None:
    page = visit(FIRST)
    answer_a_cell_on_the_map(page)
    answer_a_cell_in_the_list(page)
    answer_the_rest(page)
    expect(page.locator(".end")).to_have_text("The end. 5 of 6 answered, 3 right, 1 skipped, 1 hint.")

    page.reload()
    expect(verdict(page)).to_contain_text("Skipped.")
    assert marks(page) == ["wrong", "right", "wrong", "right", "right", "skipped"]

    with page.expect_download() as download:
        press(page, "Answers (CSV)")
    download.value.save_as(saved := tmp_path / "answers.csv")
    lines = list(csv.DictReader(saved.read_text(encoding="utf-8-sig").splitlines()))
    assert [line["right"] for line in lines] == ["no", "yes", "no", "yes", "yes", ""]
    assert lines[0]["answer"] == "chien → rouge × dog"
    assert lines[2]["answer"].startswith("0 The 0.000; 1 red 1.000;")
    assert lines[5]["answer"] == "skipped"

    page.get_by_role("link", name="All lessons").click()
    expect(page.locator("li").first.locator(".note")).to_contain_text("6 of 6 questions done")
    expect(page.locator("li").first.locator(".button")).to_have_text("Again")


def test_a_reader_who_begins_again_has_no_answers(visit: Visit) -> None:
    page = visit(f"{FIRST}#4")
    press(page, "Skip and show")
    page.on("dialog", lambda dialog: dialog.accept())
    press(page, "Begin again")
    expect(page.locator("nav [aria-current]")).to_have_text("1")
    page.goto(page.url.replace("#1", "#4"))
    expect(page.get_by_role("button", name="Answer", exact=True)).to_be_visible()
    assert marks(page) == ["open"] * 6


def test_what_stands_in_the_browser_is_checked(visit: Visit) -> None:
    page = visit(FIRST)
    page.evaluate(
        """() => localStorage.setItem(attnviz.lesson.key, JSON.stringify(
        [{ given: [[99, 0]], rungs: 1e9 }, { given: "x" }, null, { given: 7 }, { given: 3, rungs: "two" }, 5]))"""
    )
    page.reload()
    assert marks(page) == ["open", "open", "open", "open", "wrong", "open"]


def test_two_tabs_keep_each_others_answers(visit: Visit) -> None:
    page = visit(f"{FIRST}#4")
    painted(page)
    other = page.context.new_page()
    other.goto(page.url.replace("#4", "#5"))
    press(other, "Skip and show")
    press(page, "Skip and show")
    expect(verdict(page)).to_be_visible()
    page.reload()
    expect(verdict(page)).to_be_visible()
    assert marks(page) == ["open", "open", "open", "skipped", "skipped", "open"]


def test_the_way_to_the_instance_is_shown_once_the_question_is_over(visit: Visit) -> None:
    page = visit(FIRST)
    painted(page)
    link = page.get_by_role("link", name="Open this picture in attnviz")
    expect(link).to_have_count(0)
    press(page, "Skip and show")
    expect(link).to_have_attribute("href", re.compile(r"^https://attnviz\.example\.org/heads\?src=The\+red\+dog"))


def test_a_lesson_in_german_with_every_other_kind_of_question(visit: Visit) -> None:
    page = visit("eigene.html")
    press(page, "Antworten")
    expect(page.get_by_role("alert")).to_have_text("Schreib zuerst eine Antwort.")
    page.get_by_label("In deinen eigenen Worten").fill("Weil.")
    press(page, "Antworten")
    expect(verdict(page)).to_have_text("Danke. Diese Antwort wird nicht bewertet.")
    expect(page.locator(".why")).to_have_text("<b>Darum</b>, eben.")
    expect(page.locator(".picture")).to_have_count(0)

    press(page, "Weiter")
    expect(page.locator(".no-picture")).to_be_visible()  # all of it tells what is written
    page.get_by_role("textbox").fill("le chien ROUGE dort")
    press(page, "Antworten")
    expect(verdict(page)).to_contain_text("Richtig.")

    press(page, "Weiter")
    click_cell(page, 2, 1)
    expect(page.locator(".form select").nth(0)).to_have_value("1")
    click_cell(page, 2, 2)
    expect(page.locator(".form select").nth(1)).to_have_value("2")
    click_cell(page, 2, 1)  # takes its mark back
    expect(page.locator(".form select").nth(1)).to_have_value("")
    press(page, "Antworten")
    expect(page.get_by_role("alert")).to_have_text("Wähle zuerst 2 Zellen.")


LIVE = {
    4: "masks", 5: "learning", 6: "decoding", 7: "causes", 8: "decoding of a changed run", 9: "patching",
    10: "compared with a mask", 11: "a recording beside the lesson",
}  # fmt: skip


@pytest.mark.parametrize("step", LIVE, ids=LIVE.values())
def test_every_widget_is_drawn_on_the_page(visit: Visit, step: int) -> None:
    page = visit(f"eigene.html#{step}")
    assert painted(page)
    expect(page.locator(".picture .note:not(.way-out)")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_page_without_its_folder_says_what_is_missing(browser: Browser, folder: Path, tmp_path: Path) -> None:
    page = browser.new_page()
    (tmp_path / FIRST).write_bytes((folder / FIRST).read_bytes())
    page.goto((tmp_path / FIRST).as_uri())
    expect(page.get_by_role("status")).to_contain_text("the other files of its folder")
    page.close()


@pytest.mark.parametrize("frame", ["srcdoc", "a file of another folder"])
def test_a_lesson_in_a_page_of_others_keeps_its_steps_to_itself(
    frame: str, browser: Browser, folder: Path, tmp_path: Path
) -> None:
    """The page around has a <base> that leads to the folder, and one history with its frames."""
    page, raised = browser.new_page(), []
    page.on("pageerror", lambda error: raised.append(str(error)))
    lesson = (folder / FIRST).read_text(encoding="utf-8")
    lesson = lesson.replace("<head>", f'<head><base href="{folder.as_uri()}/">')
    (tmp_path / "inner.html").write_text(lesson, encoding="utf-8")
    inner = f'srcdoc="{escape(lesson)}"' if frame == "srcdoc" else 'src="inner.html"'
    around = tmp_path / "around.html"
    around.write_text(f"<!doctype html><h1>Course</h1><iframe {inner} width=1200 height=700></iframe>", "utf-8")
    page.goto(around.as_uri())
    inside = page.frame_locator("iframe")
    expect(inside.locator("nav [aria-current=step]")).to_have_attribute("href", "#1")
    before = page.evaluate("history.length")
    inside.locator("nav a").nth(2).click()
    expect(inside.locator("nav [aria-current=step]")).to_have_attribute("href", "#3")
    inside.get_by_role("button", name="Back", exact=True).click()
    expect(inside.locator("nav [aria-current=step]")).to_have_attribute("href", "#2")
    expect(page.get_by_role("heading", name="Course")).to_be_visible()
    assert (page.evaluate("history.length"), raised) == (before, [])
    page.close()


def test_back_leads_to_the_step_before(visit: Visit) -> None:
    page = visit(FIRST)
    page.locator("nav a").nth(2).click()
    page.wait_for_url("**#3")
    page.go_back()
    expect(page.locator("nav [aria-current=step]")).to_have_attribute("href", "#1")
