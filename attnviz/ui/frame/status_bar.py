"""The line at the foot of every page: what ran, and how long it took."""

import html
from collections.abc import Sequence

import streamlit as st

from attnviz.views.terms import term


def draw_run(loaded, trace) -> None:
    """Draw the bar of a run: the model, its size, the tokens, and the time that it took."""
    times = f"{term('forward')} <b>{trace.info.forward_seconds * 1e3:.0f} ms</b>"
    if trace.info.decoding_seconds > 1e-3:
        times += f", {term('decoding')} <b>{trace.info.decoding_seconds * 1e3:.0f} ms</b>"
    src, tgt = len(trace.sentences[0].src), len(trace.sentences[0].tgt)
    tokens = term("tokens")
    # The first token of a target is given to the model; the model does not write it.
    tokens = f"<b>{src}</b> {tokens} in · <b>{tgt - 1}</b> out" if src and tgt else f"<b>{src or tgt}</b> {tokens}"
    parts = (
        term("device", f"<b>{trace.info.device}</b> {trace.info.dtype}"),
        f"{_count(loaded.n_parameters)} {term('parameters')}, {_size(trace)}",
        tokens,
        times,
        f"{term('weights')} {html.escape(trace.model_id)}",
    )
    draw(parts)


def draw(parts: Sequence[str]) -> None:
    """Draw the bar from parts of HTML."""
    st.html("<div class='status-bar' role='status'>" + "".join(f"<span>{part}</span>" for part in parts) + "</div>")


def _count(parameters: int) -> str:
    """Format a number of parameters in millions, a toy's in thousands."""
    return f"{parameters / 1e6:.1f} M" if parameters >= 1e5 else f"{parameters / 1e3:.0f} k"


def _size(trace) -> str:
    """Format the layers of each stack, the heads and their size."""
    own = [kind for kind in trace.kinds if kind != "cross"]
    layers = "+".join(str(trace.shape(kind)[0]) for kind in own)
    size = f"<b>{layers}</b> {term('layers')} × <b>{trace.shape(trace.kinds[0])[1]}</b> {term('heads')}"
    call = None if trace.weights_only else trace.call(trace.kinds[0], 0)
    return f"{size}, {term('d_k')} <b>{call.query.shape[3]}</b>" if call is not None and call.has_queries else size
