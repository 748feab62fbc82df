"""The Masks page below its top bar: controls and the tab that is open; the tab Broadcast."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from attnviz.analysis.masks.broadcast import attempts, axes
from attnviz.pictures.fields import PageState
from attnviz.tracing.trace import Trace
from attnviz.ui import captions, layout
from attnviz.ui.address.share import Linkable, Together
from attnviz.ui.masks import controls, experiment, fills, leak, output, pipeline
from attnviz.ui.masks.experiment import MaskExperiment
from attnviz.ui.masks.state import MasksTab
from attnviz.ui.request import Request
from attnviz.views.masks.matrices import cells

Draw = Callable[[MaskExperiment], PageState | None]


def laboratory(request: Request, trace: Trace) -> Linkable:
    """Draw the tab that is open, and the controls; the tab first, for an edit waits for it.

    Returns what a link carries.
    """
    page, view = layout.state_in_address(MasksTab), controls.current(trace)
    # On a phone the picture comes first: see masks.css.
    with st.container(key="mask-stage"):
        left, right = st.columns([20, 80], gap="small")
    with right:
        controls.tabs(page.tab)
        bench = layout.run_or_refuse(lambda: experiment.mask_experiment(request, trace, view))
        captions.about(bench.trace, request.entry, item=min(view.item, len(bench.trace.sentences) - 1))
        if page.tab == "pipeline":
            pipeline.picture(bench)
    with left, st.container(key="mask-controls"):
        controls.site(trace, view)
        controls.masks(view)
        fills.preset(bench)
        controls.fill(view)
        controls.batch(view)
    with right:
        own = TABS[page.tab](bench)
    return Together(page, view, own)


def _broadcast(bench: MaskExperiment) -> None:
    """Draw the tab Broadcast: where a mask gets its head axis, on this sentence, and torch's answers without it."""
    batch, heads = bench.trace.call(bench.view.kind, bench.view.layer).query.shape[:2]
    q_len, k_len = bench.shape
    combined = bench.recipe.build(q_len, k_len, real=bench.real)
    st.html("<div class='broadcast'>" + _broadcast_picture(bench, combined, (batch, heads, q_len, k_len)) + "</div>")
    table = [
        {"code": one.code, "result": "raises" if one.shape is None else axes(one.shape), "what happens": one.said}
        for one in attempts(combined.expand(batch, q_len, k_len), (batch, heads, q_len, k_len))
    ]
    st.table(pd.DataFrame(table).set_index("code"))  # wraps: torch's sentence is read to its end
    chance = (
        "With a batch of one, unsqueeze(0) happens to fit as well: let a second sentence join the batch and see."
        if batch == 1
        else "With a batch of one, unsqueeze(0) would happen to fit as well."
    )
    st.caption(
        f"unsqueeze(1) puts an axis of size 1 before axis 1: {axes((batch, q_len, k_len))} becomes "
        f"{axes((batch, 1, q_len, k_len))}, and broadcasting repeats it for all {heads} heads without copying. "
        f"A negative number counts from the end: unsqueeze(-1) puts it last. {chance}"
    )


def _broadcast_picture(bench: MaskExperiment, combined, shape: tuple[int, int, int, int]) -> str:
    batch, heads, q_len, k_len = shape
    keys = cells(bench.real.tolist(), note=f"padding {axes((batch, 1, k_len))}: which keys are real, for every query")
    rules = {name: numbers for name, numbers in bench.recipe.rules.items() if name != "padding"}
    plain = type(bench.recipe)(rules, bench.recipe.painted).build(q_len, k_len)
    pattern = cells(plain[0].tolist(), note=f"rules and paint {axes((1, q_len, k_len))}: the same for every sentence")
    items = "".join(
        cells(one.tolist(), note=f"sentence {index}, heads 0 to {heads - 1}") for index, one in enumerate(combined)
    )
    joined = f"<figure class='group'>{items}<figcaption>& and unsqueeze(1): {axes((len(combined), 1, q_len, k_len))}, "
    joined += f"broadcast to {axes(shape)}</figcaption></figure>"
    first = [keys, "<span class='sign'>&amp;</span>"] if "padding" in bench.recipe.rules else []
    return "".join([*first, pattern, "<span class='sign'>→</span>", joined])


TABS: dict[str, Draw] = {
    "pipeline": pipeline.draw_below,
    "says": output.says,
    "fills": fills.fills,
    "leak": leak.leak,
    "rows": leak.rows,
    "broadcast": _broadcast,
}
