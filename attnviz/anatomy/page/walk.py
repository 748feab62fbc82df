"""The Anatomy page's shape walk, and the order of numbers in memory."""

import html

import streamlit as st

from attnviz.analysis.tables import tensor_table
from attnviz.anatomy.numbers.row_major import memory_order
from attnviz.anatomy.numbers.shape_walk import shape_walk
from attnviz.anatomy.numbers.walk_lines import Axes, WalkStep
from attnviz.anatomy.page.experiment import SiteExperiment, explain_terms
from attnviz.anatomy.page.outcome import fact_line
from attnviz.anatomy.page.state import AnatomyState
from attnviz.app import charts
from attnviz.app.address import widgets
from attnviz.app.line_list import Lines, line_list
from attnviz.kit.views.code_tables import memory_card, memory_cells
from attnviz.kit.views.tensor_picture import tensor_picture, tiles_of
from attnviz.kit.views.terms import term

HEADS = ("line", "shape", "strides", "contig.", "bytes")
LAYOUT_NAMES = {"batch_first": "batch first", "sequence_first": "sequence first"}


def walk(bench: SiteExperiment, view: AnatomyState) -> None:
    """Draw every line of the site as a table, one of them large."""
    steps = shape_walk(bench.inputs, view.layout)
    at = min(view.line, len(steps) - 1)
    left, right = st.columns([60, 40], gap="small")
    with left:
        with st.container(key="walk-layout"):
            switch, note = st.columns([36, 64], gap="small", vertical_alignment="center")
        with switch:
            widgets.segments("layout", "Layout", LAYOUT_NAMES, view.layout, hide_label=True)
        note.caption(
            "This is the explicit matmul path, in which every tensor exists. The other pages run PyTorch's fused "
            "kernel, which never stores scores or weights and whose output needs no contiguous().",
            help=explain_terms("fused kernel", "batch first", "sequence first"),
        )
        helps = {head: head for head in HEADS[1:]}
        lines = Lines("Lines of the walk", HEADS, [_row(step) for step in steps], helps=helps)
        line_list("line", lines, values=range(len(steps)), value=at)
    with right, st.container(gap="xsmall"):
        _draw_large(bench, steps[at], view.head)


def _draw_large(bench: SiteExperiment, step: WalkStep, head: int) -> None:
    st.code(step.code, language="python", wrap_lines=True)
    before = f"{_sizes(step.before)} → " if step.before else ""
    memory = "the same memory, viewed differently" if step.shares else "new memory"
    fact_line(
        f"{before}<b>{_sizes(step.after)}</b>",
        f"{term('strides')} <b>{step.strides}</b>",
        f"<b>{'' if step.is_contiguous else 'not '}{term('contiguous')}</b>, {memory}",
        f"<b>{step.nbytes:,}</b> {term('bytes')}"
        + (f", {step.memory_bytes:,} {term('held')}" if step.memory_bytes != step.nbytes else ""),
    )
    st.html(f"<p class='why'>{html.escape(step.why)}</p>")
    axes, numbers = tuple(name for name, _ in step.after), step.tensor.float().numpy()
    tiles = tiles_of(numbers, axes, head=head)
    made = tensor_picture(
        tiles,
        title=f"{step.name}, {bench.name}",
        weights=step.name in ("attn", "mask"),
        theme=charts.theme(),
        tokens=bench.tokens,
    )
    charts.show(made, key="tensor", table=lambda: tensor_table(numbers, axes, head=head, tokens=bench.tokens))


def memory(bench: SiteExperiment, view: AnatomyState) -> None:
    """Draw a small tensor's numbers and their places, before and after view and transpose."""
    st.caption(
        "Three tokens, two heads, d_k 2. Each cell shows a number (its original position in memory) and its current "
        "position; the shade follows the position. Below each tensor is its memory, a single row. In a contiguous "
        "tensor the last axis runs fastest (row-major)."
    )
    cards = [
        memory_card(
            ordering.code,
            f"{', '.join(ordering.axes)} · strides {ordering.strides} · "
            f"{'contiguous' if ordering.is_contiguous else 'not contiguous'}. {ordering.why}",
            memory_cells(ordering.numbers.numpy(), ordering.places.numpy(), ordering.axes, theme=charts.theme()),
        )
        for ordering in memory_order()
    ]
    st.html(f"<div class='memory-cards'>{''.join(cards)}</div>")


def _row(step: WalkStep) -> tuple[str, ...]:
    sizes = "×".join(str(size) for _, size in step.after)
    return step.code, sizes, str(step.strides), "yes" if step.is_contiguous else "no", f"{step.nbytes:,}"


def _sizes(axes: Axes) -> str:
    return "(" + ", ".join(f"{html.escape(name)} {size}" for name, size in axes) + ")"
