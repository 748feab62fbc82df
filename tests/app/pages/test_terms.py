"""Every word that stops a student has its definition on the very part of the page where it stands."""

import html
import json
import re
from itertools import cycle

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.anatomy.implementations.page import state as implementations
from attnviz.anatomy.page import experiment as anatomy
from attnviz.kit.glossary import definition, words_of, words_on
from tests.app.pages.page_terms import read_terms

LINK = {"src": "a big red dog jumped", "to": "fr", "layer": "1", "head": "2"}
KINDS = ("encoder_self", "decoder_self", "cross")
MARKED = re.compile(r"data-term='([^']*)'")
WORDS = re.compile(r"<dl class='words' tabindex='0'>.*?</dl>", re.DOTALL)
HELPED = ("selectbox", "text_input", "button", "select_slider", "caption", "markdown")


def plain(markdown: str) -> str:
    """Drop the backslashes and joiners that keep Markdown from reading a text."""
    return markdown.replace("\\", "").replace("\u2060", "")


def visible_text(app: AppTest) -> str:
    """Every text that stands on the page, without what opens over it."""
    texts = [part.value for part in (*app.markdown, *app.caption, *app.code, *app.text, *app.info)]
    texts += [widget.label for kind in ("selectbox", "button", "select_slider") for widget in app.get(kind)]
    texts += [
        WORDS.sub("", part.proto.body)
        for part in app.get("html")
        if not part.proto.body.startswith(("<style", "<script"))
    ]
    texts += [text for drawn in lists(app) for row in (drawn["heads"], *drawn["rows"]) for text in row]
    charts = (json.loads(chart.proto.spec) for chart in app.get("plotly_chart"))
    texts += [chart["layout"]["title"]["text"] for chart in charts]
    return plain("\n".join(texts))


def open_definitions(app: AppTest) -> str:
    """Every definition that the page can open, by pointer, finger or key."""
    helps = [widget.help for kind in HELPED for widget in app.get(kind) if getattr(widget, "help", None)]
    bodies = [part.proto.body for part in app.get("html")]
    words = read_terms(app)
    marked = [words[html.unescape(term)] for body in bodies for term in MARKED.findall(body)]
    marked += [words[term] for drawn in lists(app) for term in drawn["helps"].values()]
    marked += [words[widget.label] for kind in (*NAMED, "button") for widget in app.get(kind) if widget.label in words]
    listed = [text for body in bodies for text in WORDS.findall(body)]
    return plain("\n".join([*helps, *marked, *listed]))


def lists(app: AppTest) -> list[dict]:
    """Read what the lists of lines are told."""
    drawn = (json.loads(part.proto.json) for part in app.get("bidi_component") if part.proto.json)
    return [data for data in drawn if "rows" in data]


def missing(app: AppTest) -> set[str]:
    """List the terms on the page, which has opened, that have no definition."""
    assert not app.exception
    assert not app.error
    text, helps = visible_text(app), open_definitions(app)
    found = {term for term in words_of("Anatomy") if re.search(rf"(?<!\w){re.escape(term)}(?!\w)", text)}
    return {term for term in found if definition(term)[:40] not in helps.replace("&#x27;", "'")}


@pytest.mark.parametrize(("tab", "kind"), list(zip(anatomy.TABS, cycle(KINDS), strict=False)))
def test_every_tab_of_anatomy_opens_and_defines_its_terms(open_page, tab: str, kind: str) -> None:
    assert missing(open_page("anatomy", **LINK, tab=tab, kind=kind)) == set()


@pytest.mark.parametrize(("tab", "kind"), list(zip(implementations.TABS, cycle(KINDS), strict=False)))
def test_every_tab_of_implementations_opens_and_defines_its_terms(open_page, tab: str, kind: str) -> None:
    assert missing(open_page("implementations", **LINK, tab=tab, kind=kind)) == set()


def test_the_welcome_and_the_status_bar_define_their_terms(open_page) -> None:
    text = open_definitions(open_page(src="I love you"))
    for term in ("three kinds of attention", "attention map", "d_k", "forward", "decoding", "parameters", "weights"):
        assert definition(term)[:40] in text.replace("&#x27;", "'"), term


# Tabs, and fields of the top bar and of the site, by the text that stands on them up to a bracket.
NAMED = ("segmented_control", "button_group", "selectbox", "text_input", "number_input", "select_slider")


@pytest.mark.parametrize("page", ["heads", "anatomy", "implementations"])
def test_every_tab_and_field_has_a_definition(open_page, page: str) -> None:
    app = open_page(page, **LINK, tab="relative" if page == "implementations" else "heads")
    words = read_terms(app)
    fields = {widget.label.split(" (")[0] for kind in NAMED for widget in app.get(kind) if widget.label != widget.key}
    tabs = {
        option for group in app.button_group for option in group.options if group.label in ("View", "Part of the page")
    }
    assert {"Model", "To", "Target", "Source sentence"} <= fields
    assert len(tabs) >= 4
    assert {name for name in fields | tabs if name not in words} <= {"View", "Part of the page", "Layout"}


@pytest.mark.parametrize("page", ["heads", "masks", "anatomy", "implementations", "decoding", "welcome"])
def test_every_term_that_a_page_marks_is_one_that_it_tells(open_page, page: str) -> None:
    app = open_page(*([] if page == "welcome" else [page]), **LINK)
    marked = {html.unescape(term) for part in app.get("html") for term in MARKED.findall(part.proto.body)}
    assert {"d_k", "forward"} <= marked
    assert marked <= set(read_terms(app))


@pytest.mark.parametrize(("page", "tabs"), [("Anatomy", anatomy.TABS), ("Implementations", implementations.TABS)])
def test_each_part_of_a_page_has_words(page: str, tabs: dict[str, str]) -> None:
    assert all(words_on(page, tab) for tab in tabs)


def test_a_term_that_nobody_defined_is_an_error() -> None:
    with pytest.raises(KeyError):
        definition("flux")
