"""The lower half of the Decoding page: one number, the first place that breaks, and the map of all differences."""

import html

import streamlit as st

from attnviz.analysis.tolerance import USUAL_SCORE
from attnviz.text.display import display_token
from attnviz.ui import figure
from attnviz.ui.decoding_link import DecodingView
from attnviz.ui.decoding_reasons import Reason, reasons
from attnviz.ui.decoding_run import Decoded
from attnviz.views.verdict_map import verdict_map

_WHY_NOT_ZERO = (
    "It is never exactly zero: a step multiplies one row, the pass multiplies all rows at once, and sums of "
    "floating-point numbers taken in another order are rounded differently."
)

_WHY_ZERO = (
    "Here nothing differs at all: step and pass have multiplied matrices of the same shape, so that every sum was "
    "taken in the same order. With more rows it is never exactly zero."
)


def number(run: Decoded, view: DecodingView) -> None:
    """The largest difference, whether that is equal, and why."""
    verdict = run.verdict
    largest, first = verdict.largest, verdict.first_break
    head = "Not the same any more"
    if verdict.holds:
        head = "Equal all the same" if view.broken else "Equal, as it must be"
    lines = [f"largest |Δ|: {_place(largest, run)}"] if largest.delta else []
    if first is not None:
        lines.append(f"breaks first at <b>{_place(first, run)}</b>, by {_amount(first.delta)}")
    weights = f"{verdict.tolerance.attn:.0e} · (1 + max|score| / {USUAL_SCORE})"
    rest = f"{verdict.tolerance.hidden:.0e} · (1 + max|x|)"
    lines.append(
        f"tolerance in {verdict.dtype}: <span class='formula'>{weights}</span> for weights, "
        f"<span class='formula'>{rest}</span> for the rest"
    )
    why = reasons(view) if view.broken else (Reason(_WHY_NOT_ZERO if largest.delta else _WHY_ZERO),)
    st.html(
        f"<div class='verdict {'holds' if verdict.holds else 'broken'}' role='status'>"
        f"<p class='verdict-top'><span class='verdict-number' data-verdict='{'equal' if verdict.holds else 'broken'}'>"
        f"{_amount(largest.delta)}</span> <span class='verdict-head'>{head}</span></p>"
        + "".join(f"<p class='verdict-line'>{line}</p>" for line in lines)
        + "".join(_said(reason, is_open=len(why) == 1) for reason in why)
        + "</div>"
    )


def _said(reason: Reason, *, is_open: bool) -> str:
    """The sentence, and what follows from it: folded where several switches are on, so that all are seen."""
    why, more = html.escape(reason.why), html.escape(reason.more)
    if not more or is_open:
        return f"<p class='verdict-why'>{why} {more}</p>"
    return f"<details class='verdict-why'><summary>{why}</summary>{more}</details>"


def _amount(delta: float) -> str:
    """Small numbers by their power of ten, others as they are."""
    return f"{delta:.1e}" if 0 < delta < 0.01 else f"{delta:,.0f}" if 100 <= delta < 1e6 else f"{delta:.2g}"


def picture(run: Decoded) -> None:
    """The map of all differences."""
    made = run.made
    labels = {
        "encoder": [display_token(token) for token in made.src],
        "decoder": [
            f"{display_token(given)} → {display_token(taken)}"
            for given, taken in zip(made.fed, made.chosen, strict=True)
        ],
    }
    table = run.verdict.table()
    is_same = run.verdict.largest_in("encoder") == 0
    note = " · encoder: all 0" if is_same and made.src else ""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="verdict-head"):
        st.html(
            "<p class='verdict-title'><b>Verdict: pass against steps</b> <span>max |Δ| · × over its "
            f"tolerance · blank: 0{note}</span></p>"
        )
        figure.take_along("verdict", run.verdict.table)
    shown = table.query("stack == 'decoder'") if is_same else table
    figure.chart(verdict_map(shown, labels, theme=figure.theme()), key="verdict")


def _place(place, run: Decoded) -> str:
    tokens = run.made.src if place.line.stack == "encoder" else run.made.fed
    token = html.escape(display_token(tokens[place.position]))
    return f"{place.line.stack} {place.line.name}, position {place.position} ({token})"
