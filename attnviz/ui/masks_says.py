"""The room where the model has run again with the mask in force: its words, its next tokens, every later map."""

import html

import pandas as pd
import streamlit as st

from attnviz.analysis import mask_effect
from attnviz.analysis.rerun import Writing
from attnviz.text.display import display, display_token
from attnviz.ui import figure
from attnviz.ui.choices import pick
from attnviz.ui.masks_lab import Bench, texts
from attnviz.ui.masks_writing import drawn_while_written
from attnviz.views.mask_figures import moved_figure


def says(bench: Bench) -> None:
    """Translation and top-5 next tokens, before and after; how far every map moved; how far NaN spread."""
    effect, item = bench.effect(), bench.view.item
    st.html(f"<h4 class='room'>The model, run again with this mask at {html.escape(bench.where)}</h4>")
    if effect.error:
        st.html(f"<div class='verdict'>torch refuses: “{html.escape(effect.error)}”. Nothing ran.</div>")
        return
    left, right = st.columns([6, 6], gap="medium")
    with left:
        words = st.container()
        if bench.model.writes:
            _next_tokens(bench, effect)
        else:
            st.caption("This model writes nothing: what the mask changes is seen in its maps.")
    with right:
        _maps(bench, effect)
        _nan(effect, item)
    if bench.model.writes:
        with words:
            drawn_while_written(bench, lambda: _words(bench))


def _words(bench: Bench) -> None:
    """What the model writes, before and after, as far as it has come. All of it is shown: texts that part late look
    the same where they begin.
    """
    what = "translation" if bench.model.languages else "what it writes"
    rows = _row("before", bench.unchanged(), bench.view.item) + _row("after", bench.writing(), bench.view.item)
    st.html(f"<table class='words'><tr><th></th><th>{what}</th></tr>{rows}</table>")


def _row(name: str, writing: Writing, item: int) -> str:
    one = writing.written(item)
    so_far = "" if writing.done else f"tokens so far: {writing.count}"
    note = writing.error or one.note or so_far
    said = html.escape(display(one.text)) + (f" <small>({html.escape(note)})</small>" if note else "")
    return f"<tr><th>{name}</th><td>{said}</td></tr>"


def _next_tokens(bench: Bench, effect: mask_effect.Effect) -> None:
    ins = texts(bench.trace.query_tokens("decoder_self", bench.view.item))
    asked = bench.view.step if bench.view.step is not None else bench.view.row
    step = mask_effect.step_that_changed_most(effect, bench.view.item) if not _fits(bench, asked, len(ins)) else asked
    assert step is not None  # one of both is a number
    pick("step", "Next tokens after", range(len(ins)), step, lambda at: f"{at}: {ins[at]}")
    before, after = mask_effect.next_before_and_after(bench.model, effect, step=step, item=bench.view.item)
    table = pd.DataFrame(
        {
            "before": [display_token(token) for token, _ in before],
            "p before": [chance for _, chance in before],
            "after": [display_token(token) for token, _ in after] or ["NaN"] * len(before),
            "p after": [chance for _, chance in after] or [None] * len(before),
        }
    )
    share = st.column_config.ProgressColumn(min_value=0, max_value=1, format="%.4f")
    st.dataframe(table, hide_index=True, key="says-next", column_config={"p before": share, "p after": share})


def _fits(bench: Bench, step: int | None, count: int) -> bool:
    """Whether a step is asked for: by the list, or by a pinned row where rows are decoder steps."""
    own = bench.view.step is not None or bench.view.kind != "encoder_self"
    return step is not None and own and step < count


def _maps(bench: Bench, effect: mask_effect.Effect) -> None:
    assert effect.after is not None  # an error was handled before
    table = mask_effect.moved(bench.trace, effect.after, bench.view.item)
    figure.show(moved_figure(table, theme=figure.theme()), key="moved", table=lambda: table)


def _nan(effect: mask_effect.Effect, item: int) -> None:
    assert effect.after is not None  # an error was handled before
    spread = mask_effect.nan_positions(effect.after, item)
    if not spread["NaN positions"].to_numpy().any():
        return
    st.caption(
        "NaN spreads: a NaN row of one layer is a NaN key of the next, and every weight that touches it becomes NaN."
    )
    st.dataframe(spread, hide_index=True, key="says-nan")
