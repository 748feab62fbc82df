"""The tab "Mask shapes" of the page Implementations: which mask shapes `prepare_mask` accepts, and what happens
without it.
"""

import streamlit as st

from attnviz.analysis.outcome import Raised
from attnviz.anatomy.implementations.numbers.mask_shapes import MaskTry, mask_shapes
from attnviz.anatomy.implementations.page.state import ImplementationsState
from attnviz.anatomy.page.experiment import SiteExperiment
from attnviz.app import charts
from attnviz.app.line_list import Lines, line_list
from attnviz.kit.views.panels import Panel, panels_figure, panels_table

HEADS = ("mask", "code", "shape", "prepare_mask", "without it, the scores")


def shapes(bench: SiteExperiment, view: ImplementationsState) -> None:
    """Draw the result for the site's mask in many shapes, and the details of one."""
    tries = mask_shapes(bench.inputs)
    rows = [
        (one.title, one.code, str(one.shape), _prepare_outcome(one), _scores_outcome(one)) for one in tries.values()
    ]
    helps = {"prepare_mask": "prepare_mask", "without it, the scores": "broadcasting"}
    line_list(
        "axes", Lines("Shapes of the mask", HEADS, rows, code=False, helps=helps), values=list(tries), value=view.axes
    )
    q_len, k_len, batch, heads = next(iter(tries.values())).meant.shape
    chosen = tries[view.axes]
    left, right = st.columns([42, 58], gap="small")
    with left:
        _errors(chosen)
        st.caption(
            f"In the sequence-first layout, the scores have the shape (q_len {q_len}, k_len {k_len}, "
            f"batch {batch}, heads {heads}). A mask has only three axes, and unsqueeze(-1) adds a "
            "fourth axis for the heads. Each line below was just tried with the mask of this site."
        )
    with right:
        _cells(bench, chosen)


def _prepare_outcome(one: MaskTry) -> str:
    return "raises ValueError" if isinstance(one.prepared, Raised) else f"accepts it: {one.prepared}"


def _scores_outcome(one: MaskTry) -> str:
    if isinstance(one.reached, Raised):
        error = one.reached.error
        return "raise " + error.split(":")[0] if ":" in error else error
    return f"{one.wrong_cells:,} of {one.meant.numel():,} cells wrong" if one.wrong_cells else "match the expected mask"


def _errors(one: MaskTry) -> None:
    is_refused, raises = isinstance(one.prepared, Raised), isinstance(one.reached, Raised)
    if isinstance(one.prepared, Raised):
        st.markdown("**prepare_mask says**")
        st.code(one.prepared.error, language=None, wrap_lines=True)
        st.markdown("**Without it, torch would say**" if raises else "**Without it, there would be no error**")
    if isinstance(one.reached, Raised):
        st.code(one.reached.error, language=None, wrap_lines=True)
    elif one.wrong_cells:
        st.text(
            f"{one.wrong_cells:,} of {one.meant.numel():,} cells of the scores would be wrong. "
            + ("" if is_refused else "The sizes are allowed, so a check of sizes cannot find this mistake.")
        )
    else:
        st.text("All scores match the expected mask.")


def _cells(bench: SiteExperiment, one: MaskTry) -> None:
    """Draw the visible keys, expected and actual, for the sentence that differs most."""
    raises = isinstance(one.reached, Raised)
    reached = one.meant if isinstance(one.reached, Raised) else one.reached
    item = int((reached != one.meant).sum(dim=(0, 1, 3)).argmax())
    meant, got = (cells[:, :, item, 0].float().numpy() for cells in (one.meant, reached))
    panels = [Panel("expected mask", meant)]
    if not raises:
        panels += [Panel("without prepare_mask", got), Panel("difference", got - meant, "signed")]
    labels = bench.labels(item)
    made = panels_figure(panels, *labels, title=f"{bench.name}, {bench.items[item]}: {one.title}", theme=charts.theme())
    charts.show(made, key="mask-cells", table=lambda: panels_table(panels, *labels))
