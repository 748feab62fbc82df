"""The Anatomy page's claims, each with its numbers, and the question whether self-attention is what its name says."""

import pandas as pd
import streamlit as st

from attnviz.analysis.anatomy import claims as claim
from attnviz.analysis.anatomy.additive import score_costs
from attnviz.analysis.anatomy.deletion import HOLDERS, deletion
from attnviz.analysis.anatomy.modulation import modulation as modulation_of
from attnviz.analysis.site.peak_memory import METHOD, warm_up
from attnviz.implementations.scoring import Scoring
from attnviz.ui import charts
from attnviz.ui.anatomy.state import AnatomyState
from attnviz.ui.site.experiment import SiteExperiment, texts
from attnviz.ui.site.said import of_this_site, scale_name
from attnviz.ui.site.terms import explained
from attnviz.views.site.charts import histogram_figure, histogram_table, spectrum_figure
from attnviz.views.site.code_tables import number_rows, small_table
from attnviz.views.site.panels import Panel, panels_figure, panels_table

MEASURES = {"peak": "peak", "alive when W_o begins": "alive", "peak from there on": "late"}
SHORTER = 128  # tokens at which scores are compared: additive ones need d_k times the memory
NO_POSITIONS = (
    " The model's own norms, positions and scale are left out of both sides, because they belong to its smaller heads."
)
UNSCALED = " This model (T5) does not scale: its training started from a smaller W_q instead."
LENGTH = 256  # tokens at which memory is measured: long enough for the scores to matter


def claims(bench: SiteExperiment, view: AnatomyState) -> None:
    """Claims about this site. Those that are measured on demand stand first: what a button opens is then in sight."""
    left, right = st.columns(2, gap="small")
    with left:
        _deletion(bench)
        _parameters(bench)
        _one_head(bench)
        _loops(bench)
    with right:
        _additive(bench)
        _scaling(bench)
        _moved(bench)


def _parameters(bench: SiteExperiment) -> None:
    table = claim.parameter_counts(bench.case.weights.d_model)
    counts = sorted(set(table["parameters"]))
    with st.container(border=True):
        st.markdown("**More heads, no more parameters**")
        st.caption(
            f"d_model {bench.case.weights.d_model}: from {table['heads'].min()} to {table['heads'].max()} heads, "
            f"always {', '.join(f'{count:,}' for count in counts)} learned numbers, with d_k = d_model / heads and "
            f"biases. More heads only cut the same matrices into smaller pieces. {of_this_site(bench.case.weights)}"
        )
        st.html(number_rows({name: table[name].tolist() for name in table}))


def _one_head(bench: SiteExperiment) -> None:
    with st.container(border=True):
        st.markdown("**One head is not plain self-attention: there is still W_o**")
        try:
            found = claim.one_head(bench.case)
        except ValueError as error:
            st.caption(str(error))
            return
        st.caption(
            "One head of this site's size beside plain attention with the same W_q, W_k and W_v: weights agree to "
            f"{_rounding(found.attn_change)}, outputs differ by up to {found.output_change:.3g} (typical size "
            f"{found.output_size:.3g}). With the identity for W_o they agree to {_rounding(found.change_without_w_o)}. "
            f"{found.parameters[0]:,} learned numbers against {found.parameters[1]:,}."
            + ("" if bench.case.weights.scoring.is_plain else NO_POSITIONS)
        )


def _loops(bench: SiteExperiment) -> None:
    found, joined = claim.loops(bench.case), claim.concatenation_change(bench.case)
    with st.container(border=True):
        st.markdown("**A batched product equals the double loop, and a view joins the heads**")
        st.caption(
            f"{found.products} products, one for each sentence and head, computed at once and in a loop: largest "
            f"difference {_rounding(found.change)}; {found.batched_seconds * 1e3:.2f} ms against "
            f"{found.loop_seconds * 1e3:.2f} ms, {found.loop_seconds / found.batched_seconds:.1f} times as long "
            "(medians of seven runs, measured just now). transpose, contiguous and view give what torch.cat of the "
            f"heads' contexts gives: largest difference {_rounding(joined)}."
        )


def _scaling(bench: SiteExperiment) -> None:
    found = claim.scaling(bench.alone, bench.second_alone)
    normal = claim.scaling_of_normal(bench.case.weights.d_k)
    scaled = scale_name(bench.case.weights)
    with st.container(border=True):
        st.markdown("**Scaling keeps the variance of the scores near 1**")
        st.caption(
            f"For independent normal numbers at d_k {bench.case.weights.d_k}: variance "
            f"{float(normal.scaled.var()):.2f} with 1/√d_k, {float(normal.unscaled.var()):.1f} without. This trained "
            f"site: {float(found.scaled.var()):.2f} {scaled}, {float(found.unscaled.var()):.1f} without; training need "
            f"not keep it at 1.{UNSCALED if bench.case.weights.is_unscaled else ''} The largest weight of a row is "
            f"{float(found.largest_scaled.mean()):.2f} on average with the scale, "
            f"{float(found.largest_unscaled.mean()):.2f} without: without it softmax picks almost a single key, and "
            f"its gradient shrinks to {float(found.passed_unscaled.mean() / found.passed_scaled.mean()):.0%} of that "
            "with the scale (the norm of its Jacobian, on average)."
        )
        counted = {
            "score": {scaled: found.scaled.numpy(), "without": found.unscaled.numpy()},
            "largest weight of a row": {
                scaled: found.largest_scaled.numpy(),
                "without": found.largest_unscaled.numpy(),
            },
        }
        made = histogram_figure(
            counted, title=f"{bench.name}, all heads: before softmax and after", theme=charts.theme()
        )
        charts.show(made, key="scores", table=lambda: histogram_table(counted))


def _moved(bench: SiteExperiment) -> None:
    if bench.case.weights.scoring.rotation is None:
        return
    found = claim.moved(bench.case)
    with st.container(border=True):
        st.markdown("**A rotated product knows the distance, not the place**")
        st.caption(
            f"The same tokens {found.by} places later: queries change by up to {found.queries:.3g}, their products "
            f"with the keys by {_rounding(found.scores)}. Queries and keys are both rotated by {found.by} more steps, "
            "and rotating two vectors together leaves their product unchanged (RoFormer, Su et al. 2021)."
        )


def _additive(bench: SiteExperiment) -> None:
    weights = bench.case.weights
    with st.container(border=True):
        st.markdown("**A dot product is faster and smaller than additive scores**", help=explained("additive"))
        if not st.button(f"Measure at {SHORTER} tokens", key="measure-additive"):
            st.caption("Both kinds of scores on random queries and keys of this site's sizes; about a second.")
            return
        with st.spinner("Measuring …"):
            warm_up()
            found = score_costs(weights.n_heads, weights.d_k, SHORTER)
        rows = [(name, f"{cost.seconds * 1e3:.2f}", f"{cost.nbytes / 1e6:.2f}") for name, cost in found.items()]
        st.html(small_table(("scores", "ms", "peak, MB"), rows))
        dot, slow = found["dot product"], found["additive"]
        st.caption(
            f"{slow.seconds / dot.seconds:.0f} times as long and {slow.nbytes / dot.nbytes:.0f} times the memory: "
            "additive scores need a vector of d_k numbers for each pair of tokens before they reduce it to one."
        )


def _deletion(bench: SiteExperiment) -> None:
    with st.container(border=True):
        st.markdown("**What `del query, key, value` frees before the last line**")
        if not st.button(f"Measure at {LENGTH} tokens", key="measure-deletion"):
            st.caption("Runs six passes with the line and six without. Takes a few seconds.")
            return
        with st.spinner("Measuring memory …"):
            warm_up()
            table = deletion(bench.case.weights, LENGTH)
        st.html(small_table(("path", "held by", *(f"{what}, MB" for what in MEASURES)), _deletion_rows(table)))
        st.caption(
            "Each cell: without the line → with it. The line frees the three tensors before the last product if "
            "nothing else refers to them. The peak of the explicit path comes earlier, at the scores, and does not "
            "change. A recorder or autograd keeps all three alive, and then del frees nothing. Measured: "
            f"{METHOD}."
        )


def _deletion_rows(table: pd.DataFrame) -> list[list[str]]:
    """A line for each path and holder: every measure without the line, and with it."""
    found = table.set_index(["path", "holder", "deleted"])

    def both(path: str, holder: str, name: str) -> str:
        without, deleted = (found.loc[(path, holder, deleted), name] / 1e6 for deleted in (False, True))
        return f"{without:.2f} → {deleted:.2f}"

    return [
        [path, held_by, *(both(path, holder, name) for name in MEASURES.values())]
        for path in dict.fromkeys(table["path"])
        for holder, held_by in HOLDERS.items()
    ]


def modulation(bench: SiteExperiment, view: AnatomyState) -> None:
    """softmax(x xᵀ / √d) beside the head's own map, and the form between them."""
    if view.kind == "cross":
        st.info(
            "In cross-attention, queries and keys come from two sentences. Choose a self-attention site to compare."
        )
        return
    case = bench.alone
    mask = None if case.mask is None else case.mask[0].expand(case.input_.shape[1], -1)
    found = modulation_of(case.weights, case.input_[0], view.head, mask)
    tokens = texts(bench.trace.query_tokens(view.kind))
    panels = [
        Panel("softmax(x xᵀ / √d_model)", found.plain.numpy()),
        Panel(f"the head's own map, H{view.head}", found.own.numpy()),
        Panel("difference", found.difference.numpy(), "signed"),
    ]
    title = f"{bench.name} H{view.head}: plain x xᵀ beside the head's own map"
    made = panels_figure(panels, tokens, tokens, title=title, theme=charts.theme())
    charts.show(made, key="modulated", table=lambda: panels_table(panels, tokens, tokens))
    left, right = st.columns([45, 55], gap="small")
    with left:
        st.markdown(
            "The scores are x F xᵀ with a learned F = W_Q W_Kᵀ, not x xᵀ. On this sentence, a row shifts "
            f"**{float(found.moved.mean()):.0%}** of its weight on average, at most "
            f"**{float(found.moved.max()):.0%}**.{_not_bilinear(case.weights.scoring)}\n\n- **Asymmetry "
            f"{found.asymmetry:.3f}**, |F − Fᵀ| / 2|F|: 0 is symmetric, a random form has about 0.71. Token i can look "
            f"at j without j looking at i.\n- **Distance to the identity {found.from_identity:.3f}**, the smallest |F "
            "− c·I| / |F|: 0 would be plain x xᵀ up to a factor, 1 has nothing in common with it.\n- **Rank "
            f"{len(found.spectrum)} of {len(found.form)}**: a head compares tokens in d_k directions only."
        )
        st.caption(
            "F leaves out the biases of W_q and W_k; the head's map has them. Neither map is Q x xᵀ Kᵀ V x, as is "
            "sometimes written: that leaves out the softmax. Without it, a row of these scores would sum to "
            f"{float(found.linear_sums.min()):.3g} to {float(found.linear_sums.max()):.3g} instead of 1.",
            help=explained("bilinear form", "modulation", "rank", "singular value"),
        )
    with right:
        made = spectrum_figure(found.spectrum.tolist(), len(found.form), theme=charts.theme())
        charts.show(made, key="spectrum", table=lambda: _spectrum_table(found.spectrum.tolist()))


def _not_bilinear(scoring: Scoring) -> str:
    """What stands between F and the scores of a model with norms or positions."""
    if scoring.q_norm or scoring.k_norm:
        return (
            " This model also normalises queries and keys before their product, so its scores are not a bilinear form "
            "of x. F shows the two projections alone."
        )
    if scoring.rotation is not None:
        return (
            " F is the form at distance 0. At other distances a rotation comes between W_Q and W_Kᵀ, so each distance "
            "has its own form."
        )
    if scoring.bias is not None:
        return " This model adds a number for the distance to x F xᵀ; it does not depend on x."
    return ""


def _spectrum_table(spectrum: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"number": range(len(spectrum)), "singular_value": spectrum})


def _rounding(change: float) -> str:
    return f"{change:.1e}" if change else "0, to the last bit"
