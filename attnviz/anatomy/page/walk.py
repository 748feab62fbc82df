"""The tabs "Shape walk" and "Memory order" of the page Anatomy."""

import html
from dataclasses import dataclass

import streamlit as st
import torch
from torch import Tensor

from attnviz.analysis.tables import tensor_table
from attnviz.anatomy.numbers.shape_walk import Axes, WalkStep, shape_walk
from attnviz.anatomy.page.experiment import AnatomyState, SiteExperiment, explain_terms
from attnviz.anatomy.page.outcome import fact_line
from attnviz.app import charts
from attnviz.app.address import widgets
from attnviz.app.line_list import Lines, line_list
from attnviz.kit.views.code_tables import memory_card, memory_cells
from attnviz.kit.views.tensor_picture import tensor_picture, tiles_of
from attnviz.kit.views.terms import term

HEADS = ("line", "shape", "strides", "contig.", "bytes")
LAYOUT_NAMES = {"batch_first": "batch first", "sequence_first": "sequence first"}


def walk(bench: SiteExperiment, view: AnatomyState) -> None:
    """Draw every line of the site as a table, and the details of one."""
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
    tiles = tiles_of(numbers, axes, head=head, item=bench.item)
    made = tensor_picture(
        tiles,
        title=f"{step.name}, {bench.name}",
        weights=step.name in ("attn", "mask"),
        theme=charts.theme(),
        tokens=bench.tokens,
    )
    charts.show(made, key="tensor", table=lambda: tensor_table(numbers, axes, head=head, tokens=bench.tokens))


def memory(bench: SiteExperiment, view: AnatomyState) -> None:
    """Draw the elements of a small tensor and their positions in memory, before and after view and transpose."""
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


@dataclass(frozen=True, eq=False)
class Ordering:
    """A small tensor whose elements are drawn with their positions in memory.

    The value of each element in `numbers` is its position in memory before view and transpose; `places` has the same
    shape and holds its position now.
    """

    code: str
    axes: tuple[str, ...]
    numbers: Tensor
    places: Tensor
    why: str

    @property
    def strides(self) -> tuple[int, ...]:
        """Number of elements to skip in memory for one step along each dimension."""
        return self.numbers.stride()

    @property
    def is_contiguous(self) -> bool:
        """Whether the memory order is the order of the dimensions."""
        return self.numbers.is_contiguous()


def memory_order(length: int = 3, heads: int = 2, d_k: int = 2) -> tuple[Ordering, ...]:
    """Return one sentence's projection `(length, heads * d_k)`, and the results of view, transpose and
    contiguous on it.

    Raise ValueError for sizes below 1.
    """
    if min(length, heads, d_k) < 1:
        raise ValueError(f"All sizes must be at least 1, but they are {length}, {heads} and {d_k}.")
    flat = torch.arange(length * heads * d_k).view(length, heads * d_k)
    viewed = flat.view(length, heads, d_k)
    turned = viewed.transpose(0, 1)
    return (
        _ordering("x", "length heads·d_k", flat, "Row after row: the last axis runs fastest."),
        _ordering("x.view(length, heads, d_k)", "length heads d_k", viewed, "The same memory, with one more axis."),
        _ordering(
            "x.view(length, heads, d_k).transpose(0, 1)",
            "heads length d_k",
            turned,
            "Still the same memory, read in another order: two strides are swapped.",
        ),
        _ordering(
            "….transpose(0, 1).contiguous()",
            "heads length d_k",
            turned.contiguous(),
            "Copied, so the numbers are in order in memory again.",
        ),
        _ordering(
            "x.view(heads, length, d_k)",
            "heads length d_k",
            flat.view(heads, length, d_k),
            "This line is wrong. This tensor has the shape of the transpose, but its cells have other numbers, so that "
            "each head gets whole tokens.",
        ),
    )


def _ordering(code: str, axes: str, numbers: Tensor, why: str) -> Ordering:
    places = torch.zeros(numbers.shape, dtype=torch.long)
    for axis, (size, stride) in enumerate(zip(numbers.shape, numbers.stride(), strict=True)):
        places += (torch.arange(size) * stride).view(-1, *(1,) * (numbers.dim() - axis - 1))
    return Ordering(code, tuple(axes.split()), numbers, places, why)
