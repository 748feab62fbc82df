"""What the Masks page explains: both ways of running, rows without keys, causes of NaN, and every word on it."""

from itertools import cycle

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz.analysis.fills import DTYPES
from attnviz.analysis.mask_spec import RULES, rules_to_text
from attnviz.kit.glossary import definitions
from attnviz.masks.mask_lab import FILL_NAMES
from attnviz.masks.masks import painting_to_text
from attnviz.masks.page.controls import TABS
from tests.app.pages.page_terms import read_terms
from tests.masks.page.masks_page import laboratory, page_html, paint_rows, weights

LINK = {"src": "I love you", "to": "fr", "tgt": "je t'aime"}
KINDS = ("encoder_self", "decoder_self", "cross")


def test_all_fills_open_at_the_row_that_was_painted_shut_unless_another_is_pinned(open_page) -> None:
    paint = paint_rows(open_page("masks", **LINK), 3)
    app = open_page("masks", **LINK, tab="fills", paint=paint)
    assert app.selectbox(key="pick-row").value == 3
    assert "Row 3 has no key left" in page_html(app)
    pinned = open_page("masks", **LINK, tab="fills", paint=paint, row="1")
    assert pinned.selectbox(key="pick-row").value == 1
    assert "no key left" not in page_html(pinned)


def test_all_fills_open_at_a_row_with_paint_before_one_without(open_page) -> None:
    painted = np.ones_like(weights(open_page("masks", **LINK)), dtype=bool)
    painted[4, 1] = False
    app = open_page("masks", **LINK, tab="fills", paint=painting_to_text(painted))
    assert app.selectbox(key="pick-row").value == 4


def test_all_fills_speak_of_the_one_row(open_page) -> None:
    text = page_html(open_page("masks", **LINK, tab="fills", row="2"))
    assert "The row sums to 1" in text
    assert "very row" not in text


def test_one_click_makes_a_row_without_keys_and_shows_its_three_answers(open_page) -> None:
    app = open_page("masks", **LINK)
    app.button(key="row-without-keys").click().run()
    assert not app.exception
    row = app.selectbox(key="pick-row").value
    text = page_html(app)
    cards = text[text.index("class='answers'") : text.index("<table class='fills'>")]
    count = weights(open_page("masks", **LINK)).shape[1]
    for answer, reason in (
        ("NaN", "−∞ − (−∞) is NaN"),
        (f"uniform, {1 / count:.4g} each", "all scores are the same"),
        ("zeros", "no visible key"),
    ):
        assert answer in cards
        assert reason in cards
    app.button(key="row-with-keys").click().run()
    assert app.selectbox(key="pick-row").value == row
    assert "class='answers'" not in page_html(app)
    assert app.query_params.get("paint", "") == ""


def test_the_row_without_keys_is_the_pinned_one_and_other_paint_stays(open_page) -> None:
    app = open_page("masks", **LINK, paint=paint_rows(open_page("masks", **LINK), 1), row="4")
    app.button(key="row-without-keys").click().run()
    assert app.query_params["paint"] == paint_rows(open_page("masks", **LINK), 1, 4)
    assert app.selectbox(key="pick-row").value == 4


def test_without_the_causal_mask_both_ways_of_running_say_what_they_are(open_page) -> None:
    app = open_page("masks", **LINK, tab="says", masks="none", scope="kind", step="1")
    text = page_html(app)
    assert text.count("no future tokens exist yet") == 2, "over the words, and over the next tokens"
    assert "as in training: position 1 can read what comes after it" in text
    assert "Only the later tokens differ" in text
    text = page_html(open_page("masks", **LINK, masks="none", scope="kind"))
    assert "where positions now read later tokens" in text
    assert "<b>With no mask in any decoder self-attention head</b>" in text


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_with_a_mask_that_hides_the_future_both_ways_agree(open_page, kind: str) -> None:
    text = page_html(open_page("masks", **LINK, tab="says", masks="prefix_1", scope="kind", kind=kind))
    assert "Both ways agree" in text
    assert "reads nothing that comes after it" in text
    assert "no future tokens exist yet" in text


def test_a_checkpoint_is_told_the_same_lesson(open_page, folder) -> None:
    link = {"model": folder("gpt2"), "src": "the cat sat on", "tab": "says", "scope": "kind", "step": "1"}
    assert "Only the later tokens differ" in page_html(open_page("masks", **link, masks="none"))
    assert "Both ways agree" in page_html(open_page("masks", **link, masks="causal"))
    encoder = open_page("masks", model=folder("bert"), src="the cat sat on", tab="says", masks="window_1")
    assert not encoder.exception
    assert "no future tokens exist yet" not in page_html(encoder), "it writes nothing"


def test_a_row_that_is_nan_has_one_cause_in_the_sentences_and_below_the_numbers(open_page) -> None:
    app = open_page("masks", **LINK, paint=paint_rows(open_page("masks", **LINK), 3), row="3")
    header, _ = laboratory(app)
    ((row, cause),) = header["causes"].items()
    assert row == "3"
    assert header["findings"] == [f"Row 3 is NaN: {cause}."]


BAR = ("Model", "Source sentence", "To", "Target (empty: the model translates)")


def labels(app: AppTest) -> set[str]:
    """Every word that a control of the page shows outside the top bar: its label, and what it offers by name."""
    widgets = [*app.selectbox, *app.number_input, *app.slider, *app.text_input, *app.button]
    groups = [*app.button_group]
    own = {each.label for each in widgets if each.label != each.key and each.label not in BAR}
    return own | {each.label for each in groups} | {str(option) for each in groups for option in each.options}


@pytest.mark.parametrize(("tab", "kind"), list(zip(TABS, cycle(KINDS), strict=False)))
def test_every_tab_opens_and_its_controls_rules_and_fills_have_definitions(open_page, tab: str, kind: str) -> None:
    rules = "~".join(rules_to_text(((name, rule.defaults),)) for name, rule in RULES.items())
    app = open_page(
        "masks",
        **LINK,
        tab=tab,
        kind=kind,
        masks=rules,
        fill="number",
        second="I love you.",
        paint=paint_rows(open_page("masks", **LINK, kind=kind), 1),
    )
    assert not app.exception
    assert not app.error
    there = labels(app) | set(FILL_NAMES.values()) | set(RULES) | set(TABS.values()) | set(DTYPES)
    said = {
        "Part of the laboratory",
        "Run",
        "About this model",
        "Ask the room",
        "Show the row's keys again",
        "first",
        "second",
    }  # no word of their own
    dynamic = {name for name in there if name.startswith(("L0", "all of L", "all layers"))}
    missing = [name for name in there - said - dynamic if name not in definitions("Masks")]
    assert not missing
    fields = (*app.selectbox, *app.number_input, *app.slider)
    helped = {each.label: each.help for each in fields if each.label in definitions("Masks")}
    assert helped.items() <= definitions("Masks").items()
    assert {"Site", "Fill", "window: reach", "Number"} <= set(helped)


def test_what_the_page_explains_comes_from_the_glossary(open_page) -> None:
    told = read_terms(open_page("masks", **LINK))
    assert definitions("Masks").items() <= told.items()
