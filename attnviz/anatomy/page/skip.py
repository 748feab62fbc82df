"""The tab "Skip a line" of the page Anatomy: a line of the shape walk is left out or changed, and the site is run."""

import html
from collections.abc import Mapping

import streamlit as st
from torch import Tensor

from attnviz.analysis.outcome import describe_outcome
from attnviz.analysis.tables import tensor_table
from attnviz.anatomy.numbers.skipped_lines import SKIPS, Given, run_skipped, skips_of, tensor_before_line
from attnviz.anatomy.page.experiment import AnatomyState, SiteExperiment
from attnviz.anatomy.page.outcome import has_maps, maps, numbers
from attnviz.app import charts
from attnviz.app.line_list import Lines, line_list
from attnviz.kit.views.code_tables import word_table
from attnviz.kit.views.tensor_picture import tensor_picture, tiles_of
from attnviz.kit.views.terms import term

HEADS = ("changed line", "result", "right", "tried instead")
AXES = {
    "x": ("batch", "length", "heads·d_k"),
    "query": ("batch", "heads", "q_len", "d_k"),
    "scores": ("batch", "heads", "q_len", "k_len"),
    "context": ("batch", "heads", "q_len", "d_v"),
}


def skip(bench: SiteExperiment, view: AnatomyState) -> None:
    """Draw a list of all lines of code that can be left out or changed, with the results, and the details of one."""
    skips = skips_of(bench.inputs.weights)
    outcomes = {name: run_skipped(name, bench.inputs) for name in skips}
    rows = [
        (SKIPS[name].title, describe_outcome(outcome), SKIPS[name].right, SKIPS[name].instead)
        for name, outcome in outcomes.items()
    ]
    lines = Lines("Lines to change", HEADS, rows, code=False, helps={"result": "result"})
    name = view.skip if view.skip in skips else next(iter(skips))
    line_list("skip", lines, values=list(skips), value=name)
    chosen, outcome, before = skips[name], outcomes[name], tensor_before_line(name, bench.inputs)
    left, right = st.columns([42, 58], gap="small")
    with left:
        st.html(f"<p class='why'>{html.escape(chosen.why)}</p>")
        numbers(outcome)
        _had(before)
        st.caption(
            "Every change above was just run on both items of the batch. Click one, or use the arrow keys, to open it."
        )
        if len(skips) < len(SKIPS):
            st.caption("“No scale” is missing here because this model does not divide its scores by √d_k.")
    with right:
        if has_maps(outcome):
            maps(bench, outcome, view.head)
        else:
            _tensor(bench, before.tensors, view.head)


def _had(before: Given) -> None:
    """Draw a table of the changed line's input and output tensors with their memory layout, which torch's errors
    mention.
    """
    tensors = dict(before.tensors) | ({} if before.made is None else {"→ made": before.made})
    rows = [
        (name, str(tuple(tensor.shape)), str(tensor.stride()), "yes" if tensor.is_contiguous() else "no")
        for name, tensor in tensors.items()
    ]
    heads = ("goes in and comes out", term("shape"), term("strides"), term("contiguous"))
    st.html(word_table(heads, rows))


def _tensor(bench: SiteExperiment, tensors: Mapping[str, Tensor], head: int) -> None:
    """Draw the first tensor that the changed line receives, if its result has no attention map to draw."""
    name, tensor = next(iter(tensors.items()))
    axes, values = AXES[name], tensor.float().numpy()
    made = tensor_picture(
        tiles_of(values, axes, head=head, item=bench.item),
        title=f"{name}, the input of this line, {bench.name}",
        theme=charts.theme(),
        tokens=bench.tokens,
    )
    charts.show(made, key="given", table=lambda: tensor_table(values, axes, head=head, tokens=bench.tokens))
