"""The runs behind the Decoding page, in a bounded cache: whoever asks for the same thing again gets it at once."""

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.analysis.comparison import Decoded
from attnviz.models.shelf import Shelf
from attnviz.ui import decoding_checkpoint, decoding_translator, session
from attnviz.ui.decoding_link import DecodingView
from attnviz.ui.session import Request

if TYPE_CHECKING:
    from attnviz.models.model import Model
    from attnviz.tracing.trace import Trace

# By size: a sentence's maps and logits take a few megabytes, those of a long prompt hundreds.
_RUNS = 0.5e9  # bytes
_runs: Shelf[str, Decoded] = Shelf(most=_RUNS, size=lambda run: run.nbytes())


def stepping(request: Request, view: DecodingView) -> "Model":
    """The model that steps, in the type that the view asks for: a copy where it was loaded in another."""
    return (
        decoding_translator.stepping(request, view)
        if decoding_translator.is_translator(request)
        else session.model(request.entry.name)
    )


def decoded(request: Request, trace: "Trace", view: DecodingView) -> Decoded:
    """What the page shows, computed or remembered. Raises ValueError with one sentence."""
    ids = tuple(token.id for token in trace.tokens("tgt"))

    def read(*_) -> Decoded:
        with st.spinner("Decoding step by step …"):
            return _decoded(request, ids, view.computed())

    return _runs.get(repr((request, trace.model_id, ids, view.computed())), read=read)


def _decoded(request: Request, ids: tuple[int, ...], view: DecodingView) -> Decoded:
    if decoding_translator.is_translator(request):
        return decoding_translator.decoded(request, ids, view)
    return decoding_checkpoint.decoded(request, view)
