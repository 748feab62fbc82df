"""Further parts of the page Decoding: costs, the untrained experiment, and the values as tables."""

import streamlit as st

from attnviz.app import captions, charts, hosting, layout
from attnviz.decoding.decoding import DecodingState
from attnviz.decoding.numbers.comparison import Decoded
from attnviz.decoding.page import verdict
from attnviz.models.translator.translator import Translator


def draw_part(model, view: DecodingState, run: Decoded) -> None:
    """Draw the part of the page that the visitor chose: costs, the untrained experiment, or tables."""
    if view.more == "verdict":
        verdict.picture(run)
    elif view.more == "cost":
        cost(model, len(run.made.src))
    elif view.more == "experiment":
        experiment(view)
    elif view.more == "tables":
        tables(run)


@st.fragment
def cost(model, src_len: int) -> None:
    """Draw seconds and multiply-adds of one pass, of recomputing, and of caching. They are measured when asked for."""
    import pandas as pd

    from attnviz.decoding.figures.cost_chart import cost_chart

    st.caption(
        f"The cost of whole targets of each length, for a source of {src_len} tokens, measured just "
        "now on this machine. One pass computes all rows at once. Recomputing runs the whole prefix "
        "again for every token. With the cache, each token needs only one new row, so the number of "
        "multiply-adds is about the same as in one pass, but the rows are computed one after another. "
        "All matrix products are counted, including those of the encoder."
    )
    if not isinstance(model, Translator):
        st.caption("Multiply-adds are counted for attnviz's own translators only. Choose one as the model.")
        return
    key = f"costs-{model.model_id}-{src_len}"
    if st.button("Measure", key="measure", help="Takes a few seconds: 5 to 100 tokens, three methods each"):
        st.session_state[key] = _measure(model, src_len)
    costs = pd.DataFrame(st.session_state.get(key) or _count(model, src_len)).dropna(axis="columns")
    charts.chart(cost_chart(costs, theme=charts.theme()), key="cost")
    charts.take_along("cost", lambda: costs, captions.of_model())
    st.dataframe(costs, key="cost-shown", hide_index=True, height=180)


def _measure(model, src_len: int) -> list[dict]:
    from attnviz.decoding.numbers.cost import LENGTHS, WAYS, measure_costs

    hosting.ensure_turn()
    progress, queue, costs = st.progress(0.0, "Measuring …"), st.empty(), []
    for done, found in enumerate(measure_costs(model, src_len=src_len), start=1):
        costs.append(vars(found))
        progress.progress(done / (len(LENGTHS) * len(WAYS)), f"Measuring: {found.way}, {found.length} tokens")
        hosting.give_way(queue)
    progress.empty()
    return costs


def _count(model, src_len: int) -> list[dict]:
    """Count multiply-adds, without measuring time."""
    from attnviz.decoding.numbers.cost import LENGTHS, WAYS, Cost, multiply_adds

    config = model.model.config
    return [vars(Cost(way, length, multiply_adds(config, way, src_len, length))) for length in LENGTHS for way in WAYS]


def experiment(view: DecodingState) -> None:
    """Print the untrained model's outputs for each prefix of its target, for the chosen ids and seed."""
    st.caption(
        "This experiment uses an untrained model with vocabulary 10, d_model 8, and otherwise "
        "PyTorch's defaults (post-norm, 8 heads, 6 + 6 layers, d_ff 2048, no positions). The decoder "
        "reads each prefix separately; the last prefix is what training reads. A row marked = equals "
        "the same row for the previous prefix to within 1e-6. With the causal mask, all rows except "
        "the newest are equal."
    )
    try:
        ids = _ids(view.ids_src, "source"), _ids(view.ids_tgt, "target")
        printed = _prefixes(*ids, view.ids_seed, causal=view.ids_causal)
    except ValueError as error:
        st.error(layout.literal(str(error)))
        return
    st.html(printed)


@st.cache_data(max_entries=8, show_spinner=False)
def _prefixes(src: tuple[int, ...], tgt: tuple[int, ...], seed: int, *, causal: bool) -> str:
    from attnviz.decoding.figures.prefix_rows import prefix_rows
    from attnviz.decoding.numbers.prefix_experiment import prefix_experiment

    return prefix_rows(prefix_experiment(src, tgt, seed=seed, causal=causal))


def tables(run: Decoded) -> None:
    """Draw the losses and the verdict as sortable tables that can be downloaded as CSV."""
    left, right = st.columns(2)
    left.caption("Training: loss at each position")
    left.dataframe(run.losses.rows, key="loss-table", hide_index=True, height=320)
    right.caption("Verdict: every place and position")
    right.dataframe(run.verdict.table(), key="verdict-table", hide_index=True, height=320)


def _ids(text: str, name: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.replace(",", " ").split())
    except ValueError:
        raise ValueError(f"The {name} must be whole numbers separated by spaces, not “{text[:40]}”.") from None
