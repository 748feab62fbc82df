"""The parts of the welcome page: an introduction, the first lesson, an example in words and as a picture, and
the pages.
"""

import html

import streamlit as st

from attnviz.app import layout
from attnviz.app.drawing import sheet
from attnviz.app.drawing.drawing_data import Pictured
from attnviz.app.request import Request
from attnviz.heads.figures.heatmap import heatmap_of_any_width
from attnviz.heads.heads_state import HeadsState
from attnviz.kit.views.terms import term
from attnviz.lessons.library import listed_lessons, shelf
from attnviz.lessons.page import step_navigation
from attnviz.maps.selection import select
from attnviz.models.catalogue import Entry
from attnviz.text.display import display
from attnviz.text.languages import language_name

QUOTED = 220  # maximum characters of a quoted sentence

_PAGES = (
    ("pages/heads.py", "**Heads**: every attention map, with exact numbers"),
    ("pages/masks.py", "**Masks**: hide cells and see what changes"),
    ("pages/decoding.py", "**Decoding**: one pass in training, step by step when it writes"),
    ("pages/causes.py", "**Causes**: switch a head off and see what it did"),
    ("pages/learning.py", "**Learning**: watch a small Transformer learn"),
    ("pages/anatomy.py", "**Anatomy**: one attention layer, line by line"),
    ("pages/implementations.py", "**Implementations**: several ways to code it, and the bugs"),
    ("pages/lessons.py", "**Lessons**: guess first, then look"),
)


def intro() -> None:
    """Say in one sentence what attnviz is, and offer the first lesson."""
    with st.container(key="welcome-intro"):
        st.markdown("#### See what every attention head does")
        st.markdown("attnviz runs a Transformer on your sentence and shows what each attention head looks at.")
        lesson = next(iter(listed_lessons(shelf())), None)
        if lesson is not None:
            label = f"New here? Lesson 1, {lesson.minutes} minutes"
            st.button(label, key="first-lesson", type="primary", on_click=step_navigation.go, args=(lesson, 0))


def story(trace) -> None:
    """Describe in words what the model did with the sentence in the top bar, with the numbers of maps, layers and
    heads.
    """
    kinds = {3: "three kinds of attention", 2: "two kinds of attention"}.get(len(trace.kinds))
    of_kinds = f" for each of {term(kinds)}" if kinds else ""
    maps = "attention maps" if _count(trace) > 1 else "attention map"
    st.html(
        f"<p>The model has just read {_what_happened(trace)}</p><p>This made {_count(trace)} "
        f"{term('attention map', maps)}: {trace.n_layers} layers with {trace.n_heads} heads each{of_kinds}. The "
        "Heads page opens all of them.</p>"
        "<p>Type another sentence above and press Enter: every number comes from the model that has just run. Only on "
        "the Learning page were runs recorded beforehand; you can train them again.</p>"
    )


def _count(trace) -> int:
    """Return the number of maps of all kinds."""
    return sum(layers * heads for layers, heads in map(trace.shape, trace.kinds))


def _what_happened(trace) -> str:
    """Return a sentence about what the model read and, if it writes, what it wrote."""
    read, written = trace.sentences[0].src, trace.sentences[0].tgt
    if not written:
        return f"<b>{_quote(trace.src_text)}</b> ({len(read)} tokens), all of it at once."
    if not read:
        new = sum(token.segment for token in written)
        more = f", and written the last {new} of its tokens itself" if new else ", token after token"
        return f"<b>{_quote(trace.tgt_text)}</b> ({len(written)} tokens){more}."
    did = "translated it" if trace.info.decoding_seconds > 1e-3 else "was given a translation"
    into = f" into {language_name(trace.to)}" if trace.to else ""
    if not trace.to:
        did = "answered" if trace.info.decoding_seconds > 1e-3 else "was given the answer"
    return f"<b>{_quote(trace.src_text)}</b> ({len(read)} tokens) and {did}{into}: <b>{_quote(trace.tgt_text)}</b>"


def pages() -> None:
    """Draw a link to each page, with a description."""
    with st.container(border=True, key="ways"):
        for page, label in _PAGES:
            layout.page_link(page, label)


def model_drawing(request: Request) -> None:
    """Draw the model that ran, in the style of the Transformer paper."""
    with st.container(key="welcome-drawing"):
        sheet.draw(Pictured("", request, view=HeadsState(**request.entry.start)), key="model-drawing")


def live_example(trace, entry: Entry) -> None:
    """Draw the attention map of one head for the sentence in the top bar; it is the head with which the page Heads
    starts.
    """
    start = HeadsState(**entry.start)
    kind = start.kind if start.kind in trace.kinds else trace.kinds[0]
    theme = st.context.theme.type or "light"
    figure = heatmap_of_any_width(select(trace, kind), start.layer, start.head, theme=theme)
    st.plotly_chart(figure, key="live-example", width="stretch", theme=None, config={"displayModeBar": False})
    row = (
        "Each row is one token of the sentence. "
        if kind == "encoder_self"
        else "Each row is one step of the decoder: the token that goes in, an arrow, the token that comes out. "
    )
    stronger = "darker" if theme == "light" else "lighter"
    st.caption(
        f"{row}The {stronger} a cell, the more of that row's attention goes to the token above it; a row sums to 1."
    )


def _quote(text: str) -> str:
    """Return a sentence to quote in running text, truncated to `QUOTED` characters so that the page stays short."""
    shown = display(text)
    return html.escape(shown if len(shown) <= QUOTED else shown[:QUOTED].rstrip() + " …")
