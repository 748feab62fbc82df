"""The Anatomy page's first three parts: the shape walk, a line that is skipped, and the order of memory."""

import html

import streamlit as st
import torch

from attnviz.analysis.memory_order import memory_order
from attnviz.analysis.outcome import Outcome
from attnviz.analysis.shape_walk import shape_walk
from attnviz.analysis.skipped_lines import SKIPS, skipped
from attnviz.analysis.walk_lines import Axes, WalkStep
from attnviz.ui import choices
from attnviz.ui.anatomy_link import AnatomyView
from attnviz.ui.site_bench import SiteBench, numbers, theme
from attnviz.views.code_tables import line_table, memory_cells

HEADS = ("line", "shape", "strides", "contig.", "bytes")
LAYOUT_NAMES = {"batch_first": "batch first", "sequence_first": "sequence first"}


def walk(bench: SiteBench, view: AnatomyView) -> None:
    """Every line of the site as a table, one of them large."""
    steps = shape_walk(bench.case, view.layout)
    at = min(view.line, len(steps) - 1)
    left, right = st.columns([57, 43], gap="small")
    with left:
        choices.segments("layout", "Layout", LAYOUT_NAMES, view.layout, hide_label=True)
        st.html(line_table(HEADS, [_row(step) for step in steps], at))
        st.caption(
            "The explicit matmul path, where every tensor exists. PyTorch's fused kernel, which the other pages run "
            "on, makes neither scores nor weights, and what it puts out needs no contiguous."
        )
    with right:
        choices.walk("line", "Line (arrow keys walk)", range(len(steps)), at)
        _large(bench, steps[at], view.head)


def _large(bench: SiteBench, step: WalkStep, head: int) -> None:
    from attnviz.views.tensor_picture import tensor_picture, tiles_of

    st.code(step.code, language="python")
    before = f"{_sizes(step.before)} → " if step.before else ""
    memory = "the same memory, another view" if step.shares else "memory of its own"
    facts = (
        f"{before}<b>{_sizes(step.after)}</b>",
        f"strides <b>{step.strides}</b>",
        f"<b>{'contiguous' if step.contiguous else 'not contiguous'}</b>, {memory}",
        f"<b>{step.nbytes:,}</b> bytes" + (f", {step.held:,} held" if step.held != step.nbytes else ""),
    )
    st.html(f"<div class='facts'>{''.join(f'<span>{fact}</span>' for fact in facts)}</div>")
    axes = tuple(name for name, _ in step.after)
    if step.tensor.numel():
        tiles = tiles_of(step.tensor.float().numpy(), axes, head=head)
        weights = step.name in ("attn", "mask")
        st.plotly_chart(
            tensor_picture(tiles, title=f"{step.name}, {bench.name}", weights=weights, theme=theme()),
            key="tensor",
            width="stretch",
            theme=None,
        )
        drawn = tiles.numbers[0, min(head, tiles.numbers.shape[1] - 1)]
        place = f"{step.name}, first sentence" + (
            f", H{tiles.heads[min(head, len(tiles.heads) - 1)]}" if tiles.heads else ""
        )
        numbers(place, torch.from_numpy(drawn), [tiles.row] * len(drawn), [tiles.col] * drawn.shape[1])
    st.markdown(step.why)


def skip(bench: SiteBench, view: AnatomyView) -> None:
    """All changed lines with what comes of them; one of them in full."""
    outcomes = {name: skipped(name, bench.case) for name in SKIPS}
    left, right = st.columns([42, 58], gap="small")
    with left:
        choices.pick("skip", "Changed line", list(SKIPS), view.skip, lambda name: SKIPS[name].title)
        rows = [(SKIPS[name].title, verdict(outcome)) for name, outcome in outcomes.items()]
        st.html(line_table(("changed line", "what comes of it"), rows, list(SKIPS).index(view.skip)))
    with right:
        chosen, outcome = SKIPS[view.skip], outcomes[view.skip]
        st.code(f"{chosen.right}    # right\n{chosen.instead}    # tried instead", language="python")
        st.markdown(chosen.why.replace("_", "\\_").replace("*", "\\*"))
        damage(bench, outcome, view.head)


def verdict(outcome: Outcome) -> str:
    """An outcome in a few words."""
    if outcome.error:
        return "raises " + outcome.error.split(":")[0]
    if outcome.output_change != outcome.output_change:
        return "silent: NaN"
    if outcome.output_change < 1e-5 and outcome.attn_change < 1e-5:
        return "right here, by luck"
    return f"silent: output off by {outcome.output_change:.2g}"


def damage(bench: SiteBench, outcome: Outcome, head: int, *, rows: list[str] | None = None) -> None:
    """The exception as torch words it, or numbers and the map beside the right one."""
    if outcome.error:
        st.code(outcome.error, language=None, wrap_lines=True)
        return
    from attnviz.views.panels import Panel, panels_figure

    low, high = outcome.row_sums
    facts = (
        f"output <b>{'has the right shape' if outcome.same_shape else 'has another shape'}</b>",
        f"max |Δ| of the output <b>{outcome.output_change:.4g}</b>, of the weights <b>{outcome.attn_change:.4g}</b>",
        f"row sums <b>{low:.4g}</b> to <b>{high:.4g}</b>",
    )
    st.html(f"<div class='facts'>{''.join(f'<span>{fact}</span>' for fact in facts)}</div>")
    if outcome.attn is None or outcome.attn.shape != outcome.right_attn.shape:
        st.caption("The weights have another shape, so that there is no map to lay beside the right one.")
        return
    wrong, fine = outcome.attn[0, head].numpy(), outcome.right_attn[0, head].numpy()
    panels = [Panel("right", fine), Panel("as written", wrong), Panel("difference", wrong - fine, "signed")]
    labels = (bench.rows, bench.cols) if rows is None else (rows, rows)
    place = f"{bench.name} H{head}" if rows is None else f"sizes of its own, H{head}"
    st.plotly_chart(
        panels_figure(panels, *labels, title=f"{place}: the right map, this one, and the difference", theme=theme()),
        key="damage",
        width="stretch",
        theme=None,
    )
    numbers("as written", outcome.attn[0, head], *labels)


def memory(bench: SiteBench, view: AnatomyView) -> None:
    """A small tensor's numbers and their places, before and after view and transpose."""
    st.markdown(
        "Three tokens, two heads, d_k 2. Each cell shows the number that stands there (its first place in memory) and "
        "its place now; the shade follows the place. Memory is one row: the last axis runs fastest (row-major)."
    )
    halves = st.columns(2, gap="small")
    for at, ordering in enumerate(memory_order()):
        left, right = halves[at % 2].columns([56, 44], gap="small", vertical_alignment="center")
        with left:
            st.code(ordering.code, language="python")
            word = "contiguous" if ordering.contiguous else "not contiguous"
            st.caption(f"{', '.join(ordering.axes)} · strides {ordering.strides} · {word}. {ordering.why}")
        with right:
            cells = memory_cells(ordering.numbers.numpy(), ordering.places.numpy(), ordering.axes, theme=theme())
            st.html(cells)


def _row(step: WalkStep) -> tuple[str, ...]:
    sizes = " × ".join(str(size) for _, size in step.after)
    return step.code, sizes, str(step.strides), "yes" if step.contiguous else "no", f"{step.nbytes:,}"


def _sizes(axes: Axes) -> str:
    return "(" + ", ".join(f"{html.escape(name)} {size}" for name, size in axes) + ")"
