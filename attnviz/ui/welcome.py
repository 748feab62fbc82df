"""The parts of the welcome page: a live example in words and one picture, and the ways in."""

import html

import streamlit as st

from attnviz.models.catalogue import Entry
from attnviz.text.display import display
from attnviz.text.languages import language_name
from attnviz.tracing.shown import shown
from attnviz.ui.link import View
from attnviz.views.heatmaps import heatmap_of


def story(trace) -> None:
    """What just happened to the sentence above, with its own numbers."""
    st.markdown("#### See what every attention head does")
    st.html(
        f"<p>The model has just read <b>{_quoted(trace.src_text)}</b> ({len(trace.tokens('src'))} tokens) and "
        f"{'translated it' if trace.info.decoding_seconds > 1e-3 else 'was given a translation'} into "
        f"{language_name(trace.to)}: <b>{_quoted(trace.tgt_text)}</b></p><p>On the way, {trace.n_heads} heads in each "
        f"of {trace.n_layers} layers decided, three times over, which tokens to look at: that is "
        f"{trace.n_heads * trace.n_layers * len(trace.kinds)} attention maps. Each of them can be opened here.</p>"
        "<p>Type another sentence in the bar above and press Enter. Nothing is prepared in advance: every number on "
        "every page comes from the model that has just run.</p>"
    )


def ways_in() -> None:
    """A link to each page with a line about what can be done there."""
    with st.container(border=True):
        st.page_link("pages/heads.py", label="**Heads**: every map at a glance, and one of them large")
        st.caption(
            "Walk the heads with the arrow keys. Pin a row to see what one step looks at, to the last digit. Compare "
            "heads, sort them by what they do, merge pieces into words, and take the numbers with you."
        )
        st.page_link("pages/masks.py", label="**Masks**: hide what you like, and see what happens")
        st.caption(
            "Paint a mask on the scores, choose what stands in its cells and in which precision, and let the model run "
            "again: what it would say, which maps move, what leaks from the future, and where NaN comes from."
        )
        st.page_link("pages/decoding.py", label="**Decoding**: training all at once, inference step by step")
        st.caption(
            "Play a translation token by token beside the one pass that training makes, see that both compute the same "
            "numbers, break that on purpose, and measure what a cache saves."
        )
        st.page_link("pages/anatomy.py", label="**Anatomy**: one attention, line by line")
        st.caption(
            "Walk through every tensor with its axes, strides and bytes, leave a line out and read torch's own error, "
            "and check what is said about heads, scaling and self-attention on the model's numbers."
        )
        st.page_link("pages/implementations.py", label="**Implementations**: ways to write it, and to get it wrong")
        st.caption(
            "Lay two sources side by side, see that all agree to the last digits, measure what each costs, and open "
            "the cabinet of bugs: what each does to a map, to the output and to the translation."
        )


def live_example(trace, entry: Entry) -> None:
    """One head of the sentence above, as the Heads page starts with it."""
    start = View(**entry.start)
    kind = start.kind if start.kind in trace.kinds else trace.kinds[0]
    theme = st.context.theme.type or "light"
    figure = heatmap_of(shown(trace, kind), start.layer, start.head, theme=theme)
    st.plotly_chart(figure, key="live-example", width="stretch", theme=None, config={"displayModeBar": False})
    st.caption(
        "Each row is one step of the decoder: the token that goes in, an arrow, the token that comes out. The darker "
        "a cell, the more of that step's attention goes to the source token above it; a row sums to 1."
    )


def _quoted(text: str) -> str:
    return html.escape(display(text))
