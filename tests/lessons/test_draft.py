"""A draft is a text: what is inserted and offered fits it, and drafts of version 1.0 become one."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.lessons.draft import (
    HEAD,
    NEW,
    TEMPLATES,
    draft_of_kept,
    field_on,
    file_name,
    insert_question,
    offers,
    replace_value,
    step_at,
    without_signatures,
)
from attnviz.lessons.lesson import Link
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.reading import read, read_text
from tests.each_case import each_case
from tests.lessons.front_matter import FRONT_MATTER
from tests.lessons.told import DOG

LINK = "/heads?src=The+red+dog+sleeps.&to=fr&kind=cross&layer=2&head=4"
TEXT = f"{FRONT_MATTER}## One\n\n{LINK}\n\n## Two\n\nText.\n"
NAMES = ["title", "minutes", "steps", "link", "question", "kind", "ask", "options", "when", "more", "heads", "nudge"]


@pytest.fixture(scope="module")
def picture(model, dog) -> LinkedPicture:
    return LinkedPicture(Link("Heads", {"src": DOG, "to": "fr", "kind": "cross"}), model, dog)


@each_case("name", TEMPLATES)
def test_a_template_is_read_once_what_is_open_in_it_is_filled_in(name: str) -> None:
    block = TEMPLATES[name].replace("row: ", 'row: "0"').replace("measure: ", "measure: heads")
    lesson = read(insert_question(TEXT, read_text(TEXT), 8, block))
    assert lesson.steps[0].question is not None
    assert [step.title for step in lesson.steps] == ["One", "Two"]


def test_the_nine_templates_have_every_kind_of_question() -> None:
    assert len(TEMPLATES) == 9
    assert len({block.split("\n")[0] for block in TEMPLATES.values()}) == 8, "a choice comes in two forms"


def test_a_question_goes_into_the_carets_step_or_after_it_as_a_step_of_its_own() -> None:
    block = "kind: text\nask: b"
    once = insert_question(TEXT, read_text(TEXT), 8, block)
    twice = insert_question(once, read_text(once), 8, block)
    assert [step.title for step in read(twice).steps] == ["One", "A question", "Two"]
    assert [step.question is not None for step in read(twice).steps] == [True, True, False]
    last = insert_question(TEXT, read_text(TEXT), 99, block)
    assert read(last).steps[1].question is not None
    before = insert_question(NEW.split("## ")[0], read_text(NEW.split("## ")[0]), 1, block)
    assert read_text(before).steps[0].step is not None


def test_the_step_of_a_line() -> None:
    assert [step_at(read_text(TEXT), line) for line in (1, 6, 7, 9, 10, 11, 12, 99)] == [0, 0, 1, 1, 1, 2, 2, 2]


def test_a_row_is_offered_by_its_token_where_that_is_the_only_one(picture: LinkedPicture) -> None:
    draft = "kind: cell\nrow: \n"
    assert (field_on(draft, 2), field_on(draft, 3), field_on("ask: row: b", 1)) == ("row", "", "")
    found = offers("row", picture)
    assert len(found) == len(picture.maps.rows)
    for at, value in enumerate(found.values()):
        assert picture.row(value.strip('"')) == at
    assert "chien" in found.values()
    assert replace_value(draft, 2, "chien") == "kind: cell\nrow: chien\n"
    assert {"weight", "row_sum"} <= set(offers("measure", picture).values())
    assert list(offers("cover", None)) == ["nothing", "row", "map", "maps", "page"]
    assert offers("row", None) == {}


def test_a_copy_has_no_signatures() -> None:
    signed = TEXT.replace("language: en\n", "language: en\nsigned: {1: abc,\n  2: def}\n")
    assert without_signatures(signed) == TEXT


@pytest.mark.parametrize(
    ("title", "name"), [("Where?", "where.md"), ("", "lesson.md"), ("Ein Ü-Satz", "ein-ü-satz.md")]
)
def test_a_file_is_named_by_its_title(title: str, name: str) -> None:
    assert file_name(title) == name


def test_what_a_browser_keeps_is_a_text_or_the_fields_of_a_form() -> None:
    assert draft_of_kept(json.dumps(TEXT)) == TEXT
    assert draft_of_kept(json.dumps("## One\n")).startswith(HEAD), "a step that was added before there was a draft"
    asked = {
        "kind": "choice", "ask": "Yes: or no?", "measure": "skip_raises", "more": "line: contiguous",
        "options": "No\nYes", "when": "0\n1", "nudge": "`a` ```b```", "why": "One.\n\nTwo.",
    }  # fmt: skip
    steps = [{"title": "One", "text": "Look.", "link": LINK, "question": asked, "name": "x"}, {"title": "Two"}]
    form = {
        "title": "Love: a lesson",
        "minutes": "12",
        "audience": "all",
        "language": "fr",
        "about": "b",
        "steps": steps,
    }
    lesson = read(draft_of_kept(json.dumps(form | {"unlisted": "true"})))
    assert (lesson.title, lesson.minutes, lesson.audience, lesson.is_listed) == ("Love: a lesson", 12, "all", False)
    question = lesson.steps[0].question
    assert question is not None
    assert (question.ask, question.why, question.more) == ("Yes: or no?", "One.\n\nTwo.", {"line": "contiguous"})
    assert [(one.text, one.when and one.when.low) for one in question.options] == [("No", 0), ("Yes", 1)]
    assert question.hints == ("`a` ```b```",)


def parts(part):
    return st.lists(part) | st.dictionaries(st.sampled_from(NAMES), part)


@settings(max_examples=60, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), parts))
def test_a_browser_may_say_anything(said) -> None:
    try:
        draft = draft_of_kept(json.dumps(said))
    except ValueError:
        return
    read_text(draft)
    assert draft_of_kept(json.dumps(draft)) == draft
