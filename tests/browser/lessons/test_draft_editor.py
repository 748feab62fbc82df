"""From nothing to a lesson: pictures are collected, questions written, the draft is tried and downloaded."""

import re
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from attnviz.lessons.check import check_lesson
from attnviz.lessons.draft import Draft, DraftStep
from attnviz.lessons.picture import pictures
from attnviz.lessons.reading import read_file

HEADS = "/heads?src=The+red+dog+sleeps.&to=fr&kind=cross&layer=2&head=4"
TEXT = "Guess **first**.\n\nThen look."
REST = 1_200  # milliseconds: what is typed is told when the keys rest


def add_to_lesson(page: Page, settle, address: str, said: str) -> None:
    """Add the picture of an address to the draft."""
    page.goto(address)
    settle(page)
    page.get_by_role("button", name="Add to lesson").click()
    expect(page.get_by_text(said)).to_be_visible()


def fill_fields(page: Page, settle, **texts: str) -> None:
    """Type into fields, named by the beginning of their label, without leaving them."""
    for label, text in texts.items():
        field = page.get_by_label(re.compile("^" + label.replace("_", " "))).first
        field.click()
        field.fill(text)
    page.wait_for_timeout(REST)
    settle(page)


def choose_option(page: Page, settle, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option).first.click()
    page.wait_for_timeout(300)
    settle(page)


def write_cells_question(page: Page, settle) -> None:
    """Write the open step: its title, its text, and a question about a cell of its picture."""
    fill_fields(page, settle, Title_of_the_step="Red", Text=TEXT)
    choose_option(page, settle, "Question", "Cells")
    expect(page.get_by_text("“What is asked” is missing.")).to_be_visible()
    fill_fields(page, settle, What_is_asked="Where is most weight when “rouge” is written?")
    choose_option(page, settle, "Only in this row", "chien → rouge")
    expect(page.get_by_text("Right is chien → rouge × red (0.99).")).to_be_visible()


def download_draft(page: Page, folder: Path) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    download.value.save_as(folder / download.value.suggested_filename)
    return folder / download.value.suggested_filename


def test_a_draft_is_written_from_a_picture_and_nothing_of_it_is_lost(visitor, settle, tmp_path: Path) -> None:
    context: BrowserContext = visitor()
    page = context.new_page()
    add_to_lesson(page, settle, HEADS, "Step 1 of your draft")
    page.get_by_role("link", name="Lessons").click()
    page.get_by_role("button", name=re.compile("Go on with your draft")).click()
    settle(page)
    expect(page.get_by_text("Give the lesson a title.")).to_be_visible()
    fill_fields(page, settle, Title="Where does it look?", For_whom="anybody")
    page.get_by_role("button", name="1 Heads L2 H4: The red dog sleeps.").click()
    expect(page).to_have_url(re.compile("edit=1"))
    settle(page)
    write_cells_question(page, settle)

    other = context.new_page()  # another tab, meanwhile
    add_to_lesson(other, settle, "/decoding?src=I+love+you.&to=fr", "Step 2 of your draft")
    expect(page.get_by_role("button", name="2 Decoding")).to_be_visible()
    other.close()
    page.get_by_role("link", name="Masks").click()
    page.wait_for_url("**/masks*")
    settle(page)
    page.go_back()
    expect(page.get_by_label("What is asked")).to_have_value(re.compile("rouge"))
    page.reload()
    expect(page.get_by_label("Text (Markdown)")).to_have_value(TEXT)
    settle(page)
    file = download_draft(page, tmp_path)
    assert file.name == "where-does-it-look.md"
    lesson = read_file(file)
    assert [(step.title[:8], step.text) for step in lesson.steps] == [("Red", TEXT), ("Decoding", "")]
    assert [remark.is_problem for remark in check_lesson(lesson, pictures())] == [False]


def test_a_draft_is_tried_where_its_picture_is(page: Page, settle) -> None:
    question = {"kind": "cell", "ask": "Where?", "row": "rouge"}
    steps = (DraftStep("Red", TEXT, HEADS, question), DraftStep("Again", "", "", question))
    draft = Draft("Where does it look?", "10", "anybody", "en", "", steps)
    page.goto("/lessons?edit=2")
    page.evaluate(f"localStorage['attnviz-draft'] = JSON.stringify({{ revision: 1, draft: {draft.to_json()} }})")
    page.reload()
    expect(page.get_by_label("Title of the step")).to_have_value("Again")
    settle(page)
    page.get_by_role("button", name="Try it").click()
    page.wait_for_url("**/heads*lesson=*")
    panel = page.locator(".st-key-lesson-panel")
    expect(panel.get_by_text("Where does it look? · 2 of 2")).to_be_visible()
    page.reload()
    expect(panel.get_by_text("Where does it look? · 2 of 2")).to_be_visible()
    settle(page)
    choose_option(page, settle, "Key", "red")
    panel.get_by_role("button", name="Answer").click()
    expect(panel.get_by_text("chien → rouge × red (0.99)")).to_be_visible()
    panel.get_by_role("button", name="Edit").click()
    expect(page).to_have_url(re.compile("/lessons.*edit=2"))


def test_steps_are_ordered_and_what_is_deleted_comes_back(page: Page, settle) -> None:
    page.goto("/lessons")
    settle(page)
    page.get_by_role("button", name="Edit a copy").first.click()
    settle(page)
    page.get_by_role("button", name="2 Not every head does so").click()
    settle(page)
    first = page.locator("[class*='st-key-draft-open-1'] button")
    expect(page.locator("[class*='st-key-draft-open-2'] button")).to_have_attribute("aria-current", "step")
    page.get_by_role("button", name="Up", exact=True).press("Enter")
    expect(first).to_have_text("1 Not every head does so")
    expect(first).to_be_focused()  # no step is above it: the button that had the keyboard has nothing left to do
    page.get_by_role("button", name="Delete").click()
    expect(first).to_have_text("1 Guess before you look")
    page.get_by_role("button", name="Bring back the previous draft").click()
    expect(first).to_have_text("1 Not every head does so")
