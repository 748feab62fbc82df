"""The tab "Claims" of the page Anatomy, and the tab on whether self-attention compares tokens directly."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pandas as pd
import streamlit as st

from attnviz.analysis.peak_memory import METHOD, warm_up
from attnviz.anatomy.numbers import claims as claim
from attnviz.anatomy.numbers.claims import HOLDERS, Modulation, deletion, score_costs
from attnviz.anatomy.numbers.claims import modulation as modulation_of
from attnviz.anatomy.page.experiment import (
    AnatomyState,
    SiteExperiment,
    explain_terms,
    learned_numbers_text,
    scale_name,
)
from attnviz.app import charts
from attnviz.implementations.scoring import Scoring
from attnviz.kit.glossary import text_of
from attnviz.kit.views.charts import histogram_figure, histogram_table, spectrum_figure
from attnviz.kit.views.code_tables import number_rows, small_table
from attnviz.kit.views.panels import Panel, panels_figure, panels_table
from attnviz.text.entries import token_texts

MEASURES = {"peak": "peak", "in memory when W_o starts": "alive", "peak after that": "late"}
SHORTER = 128  # tokens for comparing scores, because additive scores need d_k times the memory
LENGTH = 256  # tokens for measuring memory, long enough for the scores to matter


def claims(bench: SiteExperiment, view: AnatomyState) -> None:
    """Draw the claims about this site. Those with a button come first, so that what the button opens is visible."""
    left, right = st.columns(2, gap="small")
    with left:
        _deletion(bench)
        _parameters(bench)
        _one_head(bench)
        _loops(bench)
    with right:
        _draw_additive(bench)
        _draw_scaling(bench)
        _rotation(bench)


def _text(name: str, **numbers: object) -> str:
    """Return a text from assets/terms/claims.md with the model's values filled in."""
    return text_of("claims.md", name, **numbers)


@contextmanager
def _claim(title: str, *, explains: str = "") -> Iterator[Callable[..., None]]:
    """Draw a frame with the claim's title, and yield a function that draws the claim's text with the given values in
    it.
    """

    def tell(**numbers: object) -> None:
        st.caption(_text(title, **numbers))

    with st.container(border=True):
        st.markdown(f"**{title}**", help=explain_terms(explains) if explains else None)
        yield tell


def _parameters(bench: SiteExperiment) -> None:
    weights = bench.inputs.weights
    table = claim.parameter_counts(weights.d_model)
    with _claim("More heads, no more parameters") as tell:
        tell(
            d_model=weights.d_model,
            fewest=table["heads"].min(),
            most=table["heads"].max(),
            counts=", ".join(f"{count:,}" for count in sorted(set(table["parameters"]))),
            this_site=learned_numbers_text(weights),
        )
        st.html(number_rows({name: table[name].tolist() for name in table}))


def _one_head(bench: SiteExperiment) -> None:
    with _claim("One head is not plain self-attention: there is still W_o") as tell:
        try:
            found = claim.one_head(bench.inputs)
        except ValueError as error:
            st.caption(str(error))
            return
        tell(
            attn_change=_rounding_text(found.attn_change),
            output_change=found.output_change,
            output_size=found.output_size,
            without_w_o=_rounding_text(found.change_without_w_o),
            ours=found.parameters[0],
            plain=found.parameters[1],
            more="" if bench.inputs.weights.scoring.is_plain else f" {_text('no positions')}",
        )


def _loops(bench: SiteExperiment) -> None:
    found, joined = claim.loops(bench.inputs), claim.concatenation_change(bench.inputs)
    with _claim("A batched product equals the double loop, and a view joins the heads") as tell:
        tell(
            products=found.products,
            change=_rounding_text(found.change),
            batched=found.batched_seconds * 1e3,
            loop=found.loop_seconds * 1e3,
            ratio=found.loop_seconds / found.batched_seconds,
            joined=_rounding_text(joined),
        )


def _draw_scaling(bench: SiteExperiment) -> None:
    found = claim.scaling(bench.first_alone, bench.second_alone)
    normal = claim.scaling_of_normal(bench.inputs.weights.d_k)
    scaled = scale_name(bench.inputs.weights)
    with _claim("Scaling keeps the variance of the scores near 1") as tell:
        tell(
            d_k=bench.inputs.weights.d_k,
            normal_scaled=float(normal.scaled.var()),
            normal_unscaled=float(normal.unscaled.var()),
            scaled=float(found.scaled.var()),
            unscaled=float(found.unscaled.var()),
            with_scale=scaled,
            more=f" {_text('unscaled')}" if bench.inputs.weights.is_unscaled else "",
            largest_scaled=float(found.largest_scaled.mean()),
            largest_unscaled=float(found.largest_unscaled.mean()),
            gradient=float(found.passed_unscaled.mean() / found.passed_scaled.mean()),
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


def _rotation(bench: SiteExperiment) -> None:
    if bench.inputs.weights.scoring.rotation is None:
        return
    found = claim.rotate_further(bench.inputs)
    with _claim("A rotated product depends on the distance, not on the positions") as tell:
        tell(by=found.by, queries=found.queries, scores=_rounding_text(found.scores))


def _draw_additive(bench: SiteExperiment) -> None:
    weights = bench.inputs.weights
    with _claim("A dot product takes less time and space than additive scores", explains="additive") as tell:
        if not st.button(f"Measure at {SHORTER} tokens", key="measure-additive"):
            st.caption(_text("before measuring scores"))
            return
        with st.spinner("Measuring …"):
            warm_up()
            found = score_costs(weights.n_heads, weights.d_k, SHORTER)
        rows = [(name, f"{cost.seconds * 1e3:.2f}", f"{cost.nbytes / 1e6:.2f}") for name, cost in found.items()]
        st.html(small_table(("scores", "ms", "peak, MB"), rows))
        dot, slow = found["dot product"], found["additive"]
        tell(time=slow.seconds / dot.seconds, memory=slow.nbytes / dot.nbytes)


def _deletion(bench: SiteExperiment) -> None:
    with _claim("What `del query, key, value` frees before the last line") as tell:
        if not st.button(f"Measure at {LENGTH} tokens", key="measure-deletion"):
            st.caption(_text("before measuring memory"))
            return
        with st.spinner("Measuring memory …"):
            warm_up()
            table = deletion(bench.inputs.weights, LENGTH)
        st.html(small_table(("path", "held by", *(f"{what}, MB" for what in MEASURES)), _deletion_rows(table)))
        tell(method=METHOD)


def _deletion_rows(table: pd.DataFrame) -> list[list[str]]:
    """Return a row for each path and holder, with every measure without and with the `del` line."""
    found = table.set_index(["path", "holder", "deleted"])

    def before_and_after(path: str, holder: str, name: str) -> str:
        without, deleted = (found.loc[(path, holder, deleted), name] / 1e6 for deleted in (False, True))
        return f"{without:.2f} → {deleted:.2f}"

    return [
        [path, held_by, *(before_and_after(path, holder, name) for name in MEASURES.values())]
        for path in dict.fromkeys(table["path"])
        for holder, held_by in HOLDERS.items()
    ]


def modulation(bench: SiteExperiment, view: AnatomyState) -> None:
    """Draw softmax(x xᵀ / √d), the head's own map, and the head's bilinear form."""
    if view.kind == "cross":
        st.info(_text("cross-attention"))
        return
    inputs = bench.first_alone
    mask = None if inputs.mask is None else inputs.mask[0].expand(inputs.input_.shape[1], -1)
    found = modulation_of(inputs.weights, inputs.input_[0], view.head, mask)
    tokens = token_texts(bench.trace.query_tokens(view.kind))
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
        st.markdown(_form_facts(found, _not_bilinear_reason(inputs.weights.scoring)))
        st.caption(
            _text("without softmax", least=float(found.linear_sums.min()), most=float(found.linear_sums.max())),
            help=explain_terms("bilinear form", "modulation", "rank", "singular value"),
        )
    with right:
        made = spectrum_figure(found.spectrum.tolist(), len(found.form), theme=charts.theme())
        charts.show(made, key="spectrum", table=lambda: _spectrum_table(found.spectrum.tolist()))


def _form_facts(found: Modulation, more: str) -> str:
    """Return Markdown, a paragraph and a list, about how far a head's form is from the identity."""
    moved = _text("scores", moved=float(found.moved_share.mean()), most=float(found.moved_share.max()), more=more)
    facts = (
        _text("asymmetry", asymmetry=found.asymmetry),
        _text("identity", distance=found.from_identity),
        _text("rank", rank=len(found.spectrum), size=len(found.form)),
    )
    return "\n- ".join((f"{moved}\n", *facts))


def _not_bilinear_reason(scoring: Scoring) -> str:
    """Say what else acts on the scores in a model with norms or positions; "" for other models."""
    if scoring.q_norm or scoring.k_norm:
        return f" {_text('normalised')}"
    if scoring.rotation is not None:
        return f" {_text('rotated')}"
    return f" {_text('biased')}" if scoring.bias is not None else ""


def _spectrum_table(spectrum: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"number": range(len(spectrum)), "singular_value": spectrum})


def _rounding_text(change: float) -> str:
    return f"{change:.1e}" if change else "0 (bit for bit)"
