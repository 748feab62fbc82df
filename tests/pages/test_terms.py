"""Every word that stops a student has its definition on the very part of the page where it stands."""

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.text.glossary import FRAME, SITE, definition
from attnviz.ui.anatomy_link import PARTS
from attnviz.ui.implementations_link import TABS
from attnviz.ui.site_terms import ANATOMY, IMPLEMENTATIONS

LINK = {"src": "a big red dog jumped", "to": "fr", "layer": "1", "head": "2"}
TOOLTIP = re.compile(r"<span role='tooltip'>.*?</span>")
WORDS = re.compile(r"<dl class='words'>.*?</dl>", re.DOTALL)
HELPED = ("selectbox", "text_input", "button", "select_slider", "caption", "markdown")


def plain(markdown: str) -> str:
    """A text without the backslashes and joiners that keep Markdown from reading it."""
    return markdown.replace("\\", "").replace("\u2060", "")


def seen(app: AppTest) -> str:
    """Every text that stands on the page, without what opens over it."""
    texts = [part.value for part in (*app.markdown, *app.caption, *app.code, *app.text, *app.info)]
    texts += [widget.label for kind in ("selectbox", "button", "select_slider") for widget in app.get(kind)]
    texts += [
        WORDS.sub("", TOOLTIP.sub("", part.proto.body)) for part in app.get("html") if "<style" not in part.proto.body
    ]
    lists = (json.loads(part.proto.json) for part in app.get("bidi_component") if part.proto.json)
    texts += [text for drawn in lists if "rows" in drawn for row in (drawn["heads"], *drawn["rows"]) for text in row]
    charts = (json.loads(chart.proto.spec) for chart in app.get("plotly_chart"))
    texts += [chart["layout"]["title"]["text"] for chart in charts]
    return plain("\n".join(texts))


def explained(app: AppTest) -> str:
    """Every definition that the page can open, by pointer, finger or key."""
    helps = [widget.help for kind in HELPED for widget in app.get(kind) if getattr(widget, "help", None)]
    helps += [part.proto.body for part in app.get("html")]
    helps += [part.proto.json for part in app.get("bidi_component")]
    return plain("\n".join(helps))


def missing(app: AppTest) -> set[str]:
    """Terms that stand on the page without a definition."""
    text, helps = seen(app), explained(app)
    found = {term for term in SITE | FRAME if re.search(rf"(?<!\w){re.escape(term)}(?!\w)", text)}
    return {term for term in found if definition(term)[:40] not in helps.replace("&#x27;", "'")}


@pytest.mark.parametrize("part", PARTS)
def test_every_term_of_anatomy_is_defined_where_it_stands(open_page, part: str) -> None:
    assert missing(open_page("anatomy", **LINK, part=part)) == set()


@pytest.mark.parametrize("tab", TABS)
def test_every_term_of_implementations_is_defined_where_it_stands(open_page, tab: str) -> None:
    assert missing(open_page("implementations", **LINK, tab=tab)) == set()


def test_the_welcome_and_the_status_bar_define_their_terms(open_page) -> None:
    app = open_page(src="I love you")
    text = "".join(part.proto.body for part in app.get("html"))
    for term in ("three times over", "attention map", "d_k", "forward", "decoding", "parameters", "weights"):
        assert definition(term)[:40] in text.replace("&#x27;", "'"), term


@pytest.mark.parametrize("terms", [*ANATOMY.values(), *IMPLEMENTATIONS.values()])
def test_a_parts_words_are_in_the_glossary(terms) -> None:
    assert terms
    assert all(definition(term).endswith(".") or definition(term).endswith(")") for term in terms)


def test_a_term_that_nobody_defined_is_an_error() -> None:
    with pytest.raises(KeyError):
        definition("flux")
