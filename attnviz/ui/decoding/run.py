"""The runs behind the Decoding page, in a bounded cache: whoever asks for the same thing again gets it at once."""

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.analysis.decoding.comparison import Decoded
from attnviz.ui.cache import traces
from attnviz.ui.cache.bounded import BoundedCache
from attnviz.ui.decoding import run_checkpoint, run_translator
from attnviz.ui.decoding.state import DecodingState
from attnviz.ui.request import Request

if TYPE_CHECKING:
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace import Trace

# By size: a sentence's maps and logits take a few megabytes, those of a long prompt hundreds.
_RUNS = 0.5e9  # bytes
_runs: BoundedCache[str, Decoded] = BoundedCache(most=_RUNS, size=lambda run: run.nbytes())


def stepping(request: Request, view: DecodingState) -> "Model":
    """The model that steps, in the type that the view asks for: a copy where it was loaded in another."""
    return (
        run_translator.stepping(request, view)
        if run_translator.is_translator(request)
        else traces.model(request.entry.name)
    )


def decoded(request: Request, trace: "Trace", view: DecodingState) -> Decoded:
    """What the page shows, computed or remembered. Raises ValueError with one sentence."""
    ids = tuple(token.id for token in trace.tokens("tgt"))

    def read(*_) -> Decoded:
        with st.spinner("Decoding step by step …"):
            return _decoded(request, ids, view.computed())

    return _runs.get(repr((request, trace.model_id, ids, view.computed())), read=read)


def _decoded(request: Request, ids: tuple[int, ...], view: DecodingState) -> Decoded:
    if run_translator.is_translator(request):
        return run_translator.decoded(request, ids, view)
    return run_checkpoint.decoded(request, view)
