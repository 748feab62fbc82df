"""The Broadcast tab of the Masks page: a mask of any shape, broadcast to the scores."""

import pandas as pd
import streamlit as st

from attnviz.analysis.masks.broadcast import attempts, axes
from attnviz.ui.masks.experiment import MaskExperiment
from attnviz.views.masks.matrices import cells


def broadcast(bench: MaskExperiment) -> None:
    """Draw where a mask gets its head axis, on this sentence, and list torch's answers without it."""
    batch, heads = bench.trace.call(bench.view.kind, bench.view.layer).query.shape[:2]
    q_len, k_len = bench.shape
    combined = bench.recipe.build(q_len, k_len, real=bench.real)
    st.html("<div class='broadcast'>" + _picture(bench, combined, (batch, heads, q_len, k_len)) + "</div>")
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


def _picture(bench: MaskExperiment, combined, shape: tuple[int, int, int, int]) -> str:
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
