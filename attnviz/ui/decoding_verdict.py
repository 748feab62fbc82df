"""The lower half of the Decoding page: one number, the first place that breaks, and the map of all differences."""

import html

import streamlit as st

from attnviz.analysis.verdict import Tolerance
from attnviz.text.display import display
from attnviz.ui import figure
from attnviz.ui.decoding_link import DROPOUT, DecodingView
from attnviz.ui.decoding_run import Decoded
from attnviz.views.verdict_map import verdict_map

_WHY_NOT_ZERO = (
    "It is never exactly zero: a step multiplies one row, the pass multiplies all rows at once, and sums of "
    "floating-point numbers taken in another order are rounded differently."
)


def number(run: Decoded, view: DecodingView) -> None:
    """The largest difference, whether that is equal, and why."""
    verdict = run.verdict
    largest, first = verdict.largest, verdict.first_break
    head = "Equal, as it must be" if verdict.holds else "Not the same any more"
    lines = [f"largest |Δ|: {_place(largest, run)}"]
    if first is not None:
        lines.append(f"breaks first at <b>{_place(first, run)}</b>, by {first.delta:.2g}")
    lines.append(
        f"tolerance in {verdict.dtype}: {verdict.tolerance.attn:.0e} for weights, "
        f"{verdict.tolerance.hidden:.0e} · (1 + max|x|) for the rest"
    )
    sentences = [*_reasons(run, view), *([] if view.broken else [_WHY_NOT_ZERO])]
    st.html(
        f"<div class='verdict {'holds' if verdict.holds else 'broken'}' role='status'>"
        f"<p class='verdict-top'><span class='verdict-number' data-verdict='{'equal' if verdict.holds else 'broken'}'>"
        f"{largest.delta:.1e}</span> <span class='verdict-head'>{head}</span></p>"
        + "".join(f"<p class='verdict-line'>{line}</p>" for line in lines)
        + "".join(f"<p class='verdict-why'>{html.escape(sentence)}</p>" for sentence in sentences)
        + "</div>"
    )


def picture(run: Decoded) -> None:
    """The map of all differences."""
    made = run.made
    labels = {
        "encoder": [display(token.text) for token in made.src],
        "decoder": [
            f"{display(given.text)} → {display(taken.text)}" for given, taken in zip(made.fed, made.chosen, strict=True)
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
    token = html.escape(display(tokens[place.position].text))
    return f"{place.line.stack} {place.line.name}, position {place.position} ({token})"


def _reasons(run: Decoded, view: DecodingView) -> list[str]:
    """A sentence for each switch that is on, true for the way of stepping that was chosen."""
    reasons = []
    if view.causal == "none":
        reasons.append(
            "Without the causal mask every row of the pass also looks at the tokens after it, which no step has seen: "
            "training would learn from the answer."
        )
    if view.causal == "ahead":
        reasons.append(
            "The mask lets each row see one token too many, the very one that it should predict. Trained so, a model "
            "would look wonderful and fall apart when it decodes, where there is no such token to peek at."
        )
    if view.dropout:
        reasons.append(
            f"Dropout {DROPOUT:g} zeroes other numbers in every run (seed {view.seed}): two runs of the same sentence "
            "differ already in the embedding. That is what a forgotten eval() does."
        )
    if view.dtype != "float32":
        bits, own = {"float16": 10, "bfloat16": 7}[view.dtype], Tolerance.of(view.dtype)
        reasons.append(
            f"The pass stays in float32, with 23 bits after the leading one; the steps run in {view.dtype}, with "
            f"{bits}. Every product is rounded to that, and the error grows from layer to layer. Two runs that are "
            f"both in {view.dtype} may part by {own.attn:.0e} in weights, {own.hidden:.0e} · (1 + max|x|) in the rest."
        )
    if view.restart and view.way != "recomputed":
        reasons.append(
            "Every cached step is embedded as if it stood at position 0. Only the first one does: all that comes from "
            "position 1 on is computed for another place in the sentence."
        )
    if view.restart and view.way == "recomputed":
        reasons.append("Recomputing has no cache whose positions could restart: this switch changes nothing here.")
    return reasons
