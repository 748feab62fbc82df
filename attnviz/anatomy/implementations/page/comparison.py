"""The tabs of the page Implementations about correct code: agreement, cost, source, parameters, relative positions."""

import numpy as np
import pandas as pd
import streamlit as st

from attnviz.analysis.peak_memory import METHOD, warm_up
from attnviz.analysis.tables import tensor_table
from attnviz.anatomy.implementations.numbers.comparison import (
    LENGTHS,
    TIME_METHOD,
    equivalence,
    implementation_cost,
    relative_positions,
)
from attnviz.anatomy.implementations.page.state import REACHES, STRENGTHS, ImplementationsState
from attnviz.anatomy.page.experiment import SiteExperiment, explain_terms, extra_steps_text
from attnviz.app import captions, charts, hosting
from attnviz.app.address import widgets
from attnviz.implementations.ways import WAYS
from attnviz.kit.views.charts import agreement_figure, cost_figure
from attnviz.kit.views.code_tables import source_diff, text_rows
from attnviz.kit.views.panels import Panel, panels_figure, panels_table
from attnviz.kit.views.tensor_picture import tensor_picture, tiles_of

READY = (
    " nn.MultiheadAttention cannot do that between its projections and its product. It gets finished queries and keys "
    "and projects them with the identity; a bias goes into its mask."
)
OWN_POSITIONS = " It is added on both sides to the positions that the model already has at this site."
TITLES = {name: way.title for name, way in WAYS.items()}


def agreement(bench: SiteExperiment, view: ImplementationsState) -> None:
    """Draw max |Δ| between every two implementations on both items of the batch."""
    found = equivalence(bench.inputs)
    grids = {"outputs": found.grid("output"), "weights": found.grid("attn")}
    made = agreement_figure(grids, TITLES, theme=charts.theme())
    charts.show(made, key="agreement", table=lambda: found.table.replace({"one": TITLES, "other": TITLES}))
    st.caption(
        f"max |Δ| on {bench.name}, {len(found.results)} implementations on the same weights and the same batch of "
        f"two. The largest difference is {found.largest_difference:.1e}, which is float32 rounding. The fused "
        "function returns no weights to compare.",
        help=explain_terms("max |Δ|", "allclose"),
    )
    if done := extra_steps_text(bench.inputs.weights.scoring):
        st.caption(f"In this model {done}, in every implementation.{READY if 'torch_module' in found.results else ''}")
    for name, reason in found.refused.items():
        st.info(f"{TITLES[name]}: {reason}")
    st.html(text_rows({way.title: way.about for way in WAYS.values()}))


def cost(bench: SiteExperiment, view: ImplementationsState) -> None:
    """Draw time and peak memory: for short sentences at once, for long ones when asked for."""
    key = f"cost {bench.trace.model_id} {view.kind} {view.layer}"
    button, note = st.columns([24, 76], gap="small", vertical_alignment="center")
    with button:
        asked = st.button(f"Measure at {LENGTHS[0]} to {LENGTHS[-1]:,} tokens", key="measure-cost")
    about = note.empty()
    place = st.empty()
    if asked:
        rows, bar, queue = [], place.progress(0.0, "Starting …"), st.empty()
        warm_up()
        for result in implementation_cost(bench.inputs.weights):
            rows.append(vars(result))
            share = len(rows) / (len(LENGTHS) * len(WAYS))
            bar.progress(min(1.0, share), f"{TITLES[result.way]}, {result.length} tokens")
            hosting.give_way(queue)
        place.empty()
        st.session_state["measured-cost"] = (key, pd.DataFrame(rows))
    kept = st.session_state.get("measured-cost")
    measured = kept[1] if kept is not None and kept[0] == key else _short_costs(key, bench)
    longest = max(measured["length"])
    more = (
        ""
        if longest == LENGTHS[-1]
        else f" Measured up to {longest} tokens so far. All lengths take about half a minute."
    )
    about.caption(f"Time: {TIME_METHOD}. Memory: {METHOD}.{more}", help=explain_terms("peak", "median", "fused kernel"))
    made = cost_figure(measured, TITLES, theme=charts.theme())
    charts.show(made, key="cost", table=lambda: measured.replace({"way": TITLES}), caption=captions.of_model())
    st.html(text_rows({way.title: way.about for way in WAYS.values()}))


@st.cache_data(max_entries=32, show_spinner="Measuring short sentences …")
def _short_costs(key: str, _bench: SiteExperiment) -> pd.DataFrame:
    """Measure the cost of short sentences, once per site, in about a second."""
    warm_up()
    return pd.DataFrame(
        [vars(result) for result in implementation_cost(_bench.inputs.weights, LENGTHS[:4], enough=0.1)]
    )


def source(bench: SiteExperiment, view: ImplementationsState) -> None:
    """Draw the source code of two implementations side by side, with differing lines marked."""
    left, right = st.columns(2, gap="small")
    with left:
        widgets.select("one", "Left", list(WAYS), view.one, TITLES.__getitem__)
        st.caption(WAYS[view.one].about)
    with right:
        widgets.select("other", "Right", list(WAYS), view.other, TITLES.__getitem__)
        st.caption(WAYS[view.other].about)
    one, other = WAYS[view.one], WAYS[view.other]
    st.html(source_diff(one.source(), other.source(), (one.title, other.title)))


def parameters(bench: SiteExperiment, view: ImplementationsState) -> None:
    """Draw where each implementation stores one head's matrices, and the slice of the weights as a picture."""
    weights, head = bench.inputs.weights, view.head
    rows = [
        {"way": way.title}
        | {f"W_{role}[{head}]": way.slice_of(role, head, weights) if way.slices[role] else "in W_V" for role in "QKVO"}
        for way in WAYS.values()
    ]
    own = weights.rows(head, weights.d_k)
    st.caption(
        f"Head {head} owns rows {own.start} to {own.stop - 1} of W_q.weight {tuple(weights.W_q.shape)}, stored by "
        f"nn.Linear as (out, in). Transposed, they are W_Q[{head}], {weights.d_model} × {weights.d_k}. In the single "
        "attentions, W_V holds the product of the head's value matrix and its part of W_o."
    )
    left, right = st.columns([62, 38], gap="small")
    whole = weights.W_q.numpy()
    with left:
        _matrix(whole, ("heads·d_k", "d_model"), f"W_q.weight, the rows of head {head} outlined", own)
    with right:
        _matrix(whole[own].T, ("d_model", "d_k"), f"W_Q[{head}] = W_q.weight[{own.start}:{own.stop}].T")
    st.dataframe(pd.DataFrame(rows), hide_index=True, key="slices")


def _matrix(numbers: np.ndarray, axes: tuple[str, str], title: str, band: slice | None = None) -> None:
    names = (f"{numbers.shape[0]} × {numbers.shape[1]}",)
    tiles = tiles_of(numbers[None], ("batch", *axes))
    made = tensor_picture(tiles, title=title, theme=charts.theme(), names=names, band=band)
    key = "weights" if band is not None else "head-weights"
    charts.show(made, key=key, table=lambda: tensor_table(numbers, axes))


def draw_relative_positions(bench: SiteExperiment, view: ImplementationsState) -> None:
    """Draw how relative positions, an overridden `get_scores`, change the weights of the chosen head."""
    left, right = st.columns(2, gap="small")
    with left:
        widgets.slider("reach", "Reach (offsets beyond it count as this far)", REACHES, view.reach)
    with right:
        widgets.slider("strength", "Strength (below 0 favours what is far away)", STRENGTHS, view.strength)
    found = relative_positions(bench.inputs, reach=view.reach, strength=view.strength)
    plain, changed = (tensor[0, view.head].numpy() for tensor in (found.plain, found.relative))
    labels = bench.labels()
    panels = [
        Panel("get_scores as it is", plain),
        Panel("get_scores overridden", changed),
        Panel("difference", changed - plain, "signed"),
    ]
    title = f"{bench.name} H{view.head}: the effect of a term for the distance between two tokens"
    made = panels_figure(panels, *labels, title=title, theme=charts.theme())
    charts.show(made, key="relative", table=lambda: panels_table(panels, *labels))
    st.caption(
        f"The output changes by up to {found.output_change:.3g}. Only one method is replaced (Shaw et al. 2018, "
        "equation 5); projections, mask, softmax and output stay. The model was trained without such a table. This one "
        "is made up from each head's mean query, so that its effect can be seen."
        + (OWN_POSITIONS if bench.inputs.weights.scoring.rotation or bench.inputs.weights.scoring.bias else "")
    )
