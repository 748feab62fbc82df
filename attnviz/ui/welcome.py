"""The parts of the welcome page: a live example in words and one picture, and the ways in."""

import html

import streamlit as st

from attnviz.maps.selection import select
from attnviz.models.catalogue import Entry
from attnviz.text.display import display
from attnviz.text.languages import language_name
from attnviz.ui import layout
from attnviz.ui.drawing import sheet
from attnviz.ui.drawing.drawn import Pictured
from attnviz.ui.heads.state import HeadsState
from attnviz.ui.request import Request
from attnviz.views.heads.heatmap import heatmap_of
from attnviz.views.terms import term

QUOTED = 220  # characters of a sentence; the field above holds all of them

_WAYS = (
    (
        "pages/heads.py",
        "**Heads**: every map at a glance, and one of them large",
        "Walk the heads with the arrow keys. Pin a row to see what one step looks at, to the last digit. Compare "
        "heads, sort them by what they do, merge pieces into words, and take the numbers with you.",
    ),
    (
        "pages/masks.py",
        "**Masks**: hide what you like, and see what happens",
        "Paint a mask on the scores, choose what stands in its cells and in which precision, and let the model run "
        "again: what it would say, which maps move, what leaks from the future, and where NaN comes from.",
    ),
    (
        "pages/decoding.py",
        "**Decoding**: training all at once, inference step by step",
        "Play a translation token by token beside the one pass that training makes, see that both compute the same "
        "numbers, break that on purpose, and measure what a cache saves.",
    ),
    (
        "pages/causes.py",
        "**Causes**: switch a head off, and see what it was for",
        "Take heads out and read what the model then writes, put one run's numbers into another, open a logit into "
        "the parts that it is a sum of, and lay two runs side by side.",
    ),
    (
        "pages/learning.py",
        "**Learning**: train a small Transformer, with its mask and without",
        "Watch every head form, and guess before the outcome: a model that sees what it is to write learns to a loss "
        "of 0, and writes nothing. Train it yourself in seconds, and open what was trained on the other pages.",
    ),
    (
        "pages/anatomy.py",
        "**Anatomy**: one attention, line by line",
        "Walk through every tensor with its axes, strides and bytes, leave a line out and read torch's own error, "
        "and check what is said about heads, scaling and self-attention on the model's numbers.",
    ),
    (
        "pages/implementations.py",
        "**Implementations**: ways to write it, and to get it wrong",
        "Lay two sources side by side, see that all agree to the last digits, measure what each costs, and open "
        "the cabinet of bugs: what each does to a map, to the output and to the translation.",
    ),
)


def story(trace) -> None:
    """What just happened to the sentence above, with its own numbers."""
    often = {3: "three times over", 2: "twice over"}.get(len(trace.kinds))
    times = f", {term(often)}," if often else ""
    st.markdown("#### See what every attention head does")
    st.html(
        f"<p>The model has just read {_what_happened(trace)}</p><p>On the way, {trace.n_heads} heads in each "
        f"of {trace.n_layers} layers decided{times} which tokens to look at: that is "
        f"{_count(trace)} {term('attention map', 'attention maps')}. "
        "Each of them can be opened "
        "here.</p>"
        "<p>Type another sentence in the bar above and press Enter. Every number comes from the model that has just "
        "run; on Learning alone trainings were recorded in advance, and can be made anew.</p>"
    )


def _count(trace) -> int:
    """Maps of all kinds."""
    return sum(layers * heads for layers, heads in map(trace.shape, trace.kinds))


def _what_happened(trace) -> str:
    """What the model read, and what it wrote, if it writes."""
    read, written = trace.tokens("src"), trace.tokens("tgt")
    if not written:
        return f"<b>{_quoted(trace.src_text)}</b> ({len(read)} tokens), all of it at once."
    if not read:
        new = sum(token.segment for token in written)
        more = f", and written the last {new} of its tokens itself" if new else ", token after token"
        return f"<b>{_quoted(trace.tgt_text)}</b> ({len(written)} tokens){more}."
    did = "translated it" if trace.info.decoding_seconds > 1e-3 else "was given a translation"
    into = f" into {language_name(trace.to)}" if trace.to else ""
    if not trace.to:
        did = "answered" if trace.info.decoding_seconds > 1e-3 else "was given the answer"
    return f"<b>{_quoted(trace.src_text)}</b> ({len(read)} tokens) and {did}{into}: <b>{_quoted(trace.tgt_text)}</b>"


def ways_in() -> None:
    """A link to each page with a line about what can be done there."""
    with st.container(border=True, key="ways"):
        for page, label, says in _WAYS:
            layout.page_link(page, label)
            st.caption(says)


def model_drawing(request: Request) -> None:
    """The model that has just run, as the paper draws it."""
    with st.container(key="welcome-drawing"):
        sheet.draw(Pictured("", request, view=HeadsState(**request.entry.start)), key="model-drawing")


def live_example(trace, entry: Entry) -> None:
    """One head of the sentence above, as the Heads page starts with it."""
    start = HeadsState(**entry.start)
    kind = start.kind if start.kind in trace.kinds else trace.kinds[0]
    theme = st.context.theme.type or "light"
    figure = heatmap_of(select(trace, kind), start.layer, start.head, theme=theme)
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


def _quoted(text: str) -> str:
    """A sentence in running text: the page must stay in sight, whatever was typed."""
    shown = display(text)
    return html.escape(shown if len(shown) <= QUOTED else shown[:QUOTED].rstrip() + " …")
