"""The tabs that show why a decoder needs a mask: the leak test, and the derivation row by row."""

import streamlit as st

from attnviz.app import charts, layout
from attnviz.app.address.widgets import select, text_field
from attnviz.app.progress import work_without_bar
from attnviz.kit.glossary import definitions
from attnviz.masks.figures.figures import leak_figure, leak_table
from attnviz.masks.masks import MAX_SECOND
from attnviz.masks.numbers.leakage import first_item, leak_test
from attnviz.masks.page.experiment import MaskExperiment
from attnviz.masks.tabs import leak as picture
from attnviz.masks.tabs import rows as growing
from attnviz.masks.tabs.leak import LeakState
from attnviz.masks.tabs.rows import NOT_IN_CROSS, RowsState, growing_target
from attnviz.text.entries import token_texts
from attnviz.text.tokens import Token


def leak(bench: MaskExperiment) -> LeakState:
    """Draw the leak test: replace one target token, and show which positions change with and without the causal
    mask.
    """
    view = layout.state_in_address(LeakState)
    _leak(bench, view)
    return view


def _leak(bench: MaskExperiment, view: LeakState) -> None:
    trace = first_item(bench.trace)
    if "decoder_self" not in trace.kinds:
        st.html(f"<div class='verdict'>{picture.NO_DECODER}</div>")
        return
    ins = trace.query_tokens("decoder_self")
    names, at = token_texts(ins), picture.replaced_position(ins, view.at)
    left, right = st.columns(2, gap="small")
    with left:
        label = picture.LABEL
        select(
            "at",
            label,
            range(len(ins)),
            at,
            lambda index: f"{index}: {names[index]}",
            means=definitions("Masks")[label],
        )
    with right:
        replacement = _replacement(bench, view.instead, at)
    masked, unmasked = layout.run_or_refuse(
        lambda: leak_test(bench.model, trace, at, replacement, work=work_without_bar())
    )
    cases = picture.named_cases(masked, unmasked)
    changes = [(name, one.change.numpy()) for name, one in cases]
    said = picture.leak_sentence(masked, unmasked, is_same=replacement.id == ins[at].id)
    st.html(f"<div class='verdict' role='status'>{said}</div>")
    made = leak_figure(changes, names, at, theme=charts.theme())
    charts.show(made, key="leak", table=lambda: leak_table(changes, names))
    st.html(f"<div class='vectors'>{picture.encodings(cases, ins, replacement)}</div>")


def _replacement(bench: MaskExperiment, other: str, at: int) -> Token:
    empty = "empty: another token of the target"
    label = "by the first token of"
    text_field("instead", label, other, limit=MAX_SECOND, empty=empty, help_text=definitions("Masks")[label])
    return picture.replacement(bench, other, at)


def rows(bench: MaskExperiment) -> RowsState:
    """Draw the derivation of the causal mask: the target grows, and earlier rows of the context stay or change."""
    view = layout.state_in_address(RowsState)
    if bench.view.kind == "cross":
        st.html(f"<div class='verdict'>{NOT_IN_CROSS}</div>")
    target = growing_target(bench, view.arrived)
    select(
        "arrived",
        growing.LABEL,
        range(1, target.most + 1),
        target.count,
        lambda count: target.arrivals[count - 1],
        means=definitions("Masks")[growing.LABEL],
    )
    for drawn in target.drawn():
        st.html(drawn)
    st.caption(target.caption)
    return view
