"""What the Decoding page can show besides: cost, the untrained experiment, the numbers as tables."""

from collections.abc import Sequence

import streamlit as st

from attnviz.ui import figure, frame, session
from attnviz.ui.decoding_link import DecodingView
from attnviz.ui.decoding_run import Decoded


def more(request, view: DecodingView, run: Decoded) -> None:
    """Draw the part that was chosen, if any."""
    if view.more == "cost":
        cost(request, len(run.made.src))
    elif view.more == "experiment":
        experiment()
    elif view.more == "tables":
        tables(run)


@st.fragment
def cost(request, src_len: int) -> None:
    """Seconds and multiply-adds of one pass, of recomputing and of caching; measured when asked."""
    import pandas as pd

    from attnviz.views.cost_chart import cost_chart

    st.caption(
        f"A whole target of each length behind a source of {src_len} tokens, on this machine, now. One pass computes "
        "all rows at once; recomputing runs the prefix again for every token; the cache computes one row a token. "
        "Counted are the multiply-adds of all matrix products, the encoder's included."
    )
    loaded = session.model(request.entry.name)
    key = f"costs-{loaded.model_id}-{src_len}"
    if st.button("Measure", key="measure", help="Takes some seconds: 5 to 100 tokens, three ways each"):
        st.session_state[key] = _measured(loaded, src_len)
    costs = pd.DataFrame(st.session_state.get(key) or _counted(loaded, src_len))
    figure.chart(cost_chart(costs, theme=figure.theme()), key="cost")
    figure.take_along("cost", lambda: costs)
    st.dataframe(costs, key="cost-shown", hide_index=True, height=180)


def _measured(loaded, src_len: int) -> list[dict]:
    from attnviz.analysis.cost import LENGTHS, WAYS, measured

    progress, costs = st.progress(0.0, "Measuring …"), []
    for done, found in enumerate(measured(loaded, src_len=src_len), start=1):
        costs.append(vars(found))
        progress.progress(done / (len(LENGTHS) * len(WAYS)), f"Measuring: {found.way}, {found.length} tokens")
    progress.empty()
    return costs


def _counted(loaded, src_len: int) -> list[dict]:
    """Multiply-adds are known without a clock."""
    from attnviz.analysis.cost import LENGTHS, WAYS, Cost, multiply_adds

    config = loaded.model.config
    return [vars(Cost(way, length, multiply_adds(config, way, src_len, length))) for length in LENGTHS for way in WAYS]


@st.fragment
def experiment() -> None:
    """The untrained model and the prefixes of its target, printed; ids and seed can be changed."""
    from attnviz.analysis.prefix_experiment import prefix_experiment
    from attnviz.views.prefix_rows import prefix_rows

    columns = st.columns([3, 3, 2, 3], vertical_alignment="bottom")
    src = columns[0].text_input("Source ids", "0 1 2 3 4", key="experiment-src")
    tgt = columns[1].text_input("Target ids", "4 3 2 1 0", key="experiment-tgt")
    seed = columns[2].number_input("Seed", 0, 9999, 0, key="experiment-seed")
    causal = columns[3].toggle("Causal mask", value=True, key="experiment-causal")
    st.caption(
        "An untrained model: vocabulary 10, d_model 8, and PyTorch's defaults besides (post-norm, 8 heads, 6 + 6 "
        "layers, d_ff 2048, no positions). Each prefix goes in alone; the last is what training computes. "
        "A row marked = is the same as in the prefix before, to within 1e-6: with the mask all but the newest are."
    )
    try:
        prefixes = prefix_experiment(_ids(src, "source"), _ids(tgt, "target"), seed=int(seed), causal=causal)
    except ValueError as error:
        st.error(frame.literal(str(error)))
        return
    st.html(prefix_rows(prefixes))


def tables(run: Decoded) -> None:
    """The same numbers as tables, to sort and to take along as CSV."""
    left, right = st.columns(2)
    left.caption("Training: loss at each position")
    left.dataframe(run.losses.rows, key="loss-table", hide_index=True, height=320)
    right.caption("Verdict: every place and position")
    right.dataframe(run.verdict.table(), key="verdict-table", hide_index=True, height=320)


def _ids(text: str, name: str) -> Sequence[int]:
    try:
        return [int(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise ValueError(f"The {name} must be whole numbers with spaces between them, not “{text[:40]}”.") from None
