"""The parts of Anatomy and of Implementations side by side, and beside them the words that the chosen one uses.

A word that is HTML of the page is a `term` of `attnviz.views.terms`; here are those of widgets.
"""

import html
from collections.abc import Iterable, Mapping, Sequence

import streamlit as st

from attnviz.text.glossary import definition
from attnviz.ui.address import widgets
from attnviz.ui.markdown import literal

ANATOMY: Mapping[str, Sequence[str]] = {
    "walk": (
        "batch first",
        "sequence first",
        "shape",
        "strides",
        "contig.",
        "contiguous",
        "bytes",
        "held",
        "view",
        "transpose",
        "unsqueeze",
        "expand_as",
        "einsum",
        "masked_fill",
        "softmax",
        "blank: −∞",
        "fused kernel",
        "q_len",
        "k_len",
        "d_model",
        "d_v",
        "memory",
        "W_o",
        "broadcasting",
    ),
    "skip": (
        "reshape",
        "shape",
        "strides",
        "contiguous",
        "view",
        "transpose",
        "unsqueeze",
        "softmax",
        "q_len",
        "d_v",
        "memory",
        "silent",
        "raises",
        "NaN",
        "row sums",
        "off by up to",
        "difference",
    ),
    "memory": ("shape", "strides", "contiguous", "view", "transpose", "memory", "row-major"),
    "claims": (
        "contiguous",
        "view",
        "transpose",
        "softmax",
        "d_model",
        "d_v",
        "difference",
        "W_o",
        "learned numbers",
        "variance",
        "autograd",
        "recorder",
        "peak",
        "alive",
        "median",
        "additive",
    ),
    "counts": (
        "shape",
        "reshape",
        "q_len",
        "k_len",
        "d_model",
        "d_v",
        "memory",
        "learned numbers",
        "tgt_in",
        "tgt_out",
        "Xavier",
        "ModuleList",
    ),
    "modulation": (
        "softmax",
        "d_model",
        "difference",
        "bilinear form",
        "modulation",
        "asymmetry",
        "rank",
        "spectrum",
        "singular value",
    ),
}
IMPLEMENTATIONS: Mapping[str, Sequence[str]] = {
    "agreement": (
        "einsum",
        "fused kernel",
        "memory",
        "difference",
        "W_o",
        "max |Δ|",
        "allclose",
        "get_scores",
        "broadcasting",
    ),
    "cost": ("einsum", "fused kernel", "memory", "W_o", "peak", "median", "get_scores"),
    "source": (
        "shape",
        "ModuleList",
        "batch first",
        "sequence first",
        "contiguous",
        "view",
        "reshape",
        "transpose",
        "unsqueeze",
        "einsum",
        "masked_fill",
        "softmax",
        "q_len",
        "k_len",
        "d_model",
        "d_v",
        "memory",
        "NaN",
        "W_o",
        "get_scores",
        "prepare_mask",
        "logits",
        "dropout",
        "in_proj_weight",
    ),
    "parameters": ("d_model", "W_o", "in_proj_weight"),
    "relative": ("softmax", "difference", "get_scores", "Reach", "Strength"),
    "shapes": (
        "transpose",
        "batch first",
        "sequence first",
        "shape",
        "unsqueeze",
        "q_len",
        "k_len",
        "raises",
        "difference",
        "prepare_mask",
        "broadcasting",
    ),
    "bugs": (
        "shape",
        "view",
        "reshape",
        "transpose",
        "unsqueeze",
        "masked_fill",
        "softmax",
        "q_len",
        "k_len",
        "d_model",
        "d_v",
        "memory",
        "silent",
        "raises",
        "NaN",
        "row sums",
        "off by up to",
        "difference",
        "W_o",
        "variance",
        "Xavier",
        "max |Δ|",
        "allclose",
        "logits",
        "dropout",
    ),
}


def explained(*names: str) -> str:
    """Markdown for a widget's `help`: the definitions of a few terms."""
    if len(names) == 1:
        return literal(definition(names[0]))
    return "\n\n".join(f"**{literal(name)}**: {literal(definition(name))}" for name in names)


def parts(name: str, titles: Mapping[str, str], value: str, terms: Mapping[str, Sequence[str]]) -> None:
    """The parts to choose from, and the chosen one's words."""
    with st.container(key="parts", horizontal=True, vertical_alignment="center", gap="small"):
        widgets.segments(name, "Part of the page", titles, value, hide_label=True)
        _words(terms[value])


def _words(names: Iterable[str]) -> None:
    """A button that opens the terms of a part of the page, each with its definition."""
    listed = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(definition(name))}</dd>" for name in names)
    with st.popover("Words", help="The terms on this part of the page", key="words"):
        st.html(f"<dl class='words'>{listed}</dl>")
