"""The runs behind the Decoding page, in a bounded cache: the same request is answered at once."""

import streamlit as st

from attnviz.analysis.decoding.comparison import Decoded, compare
from attnviz.models.protocol import Model
from attnviz.models.translator.translator import Translator
from attnviz.tracing.trace import Trace
from attnviz.ui.cache import budget
from attnviz.ui.cache.bounded import BoundedCache
from attnviz.ui.decoding import run_checkpoint, run_translator
from attnviz.ui.decoding.state import DecodingState
from attnviz.ui.request import Request

# By size: a sentence's maps and logits take a few megabytes, those of a long prompt hundreds.
_runs: BoundedCache[str, Decoded] = BoundedCache(most=budget.bytes_for("decodings"), size=lambda run: run.nbytes())


def decoded(model: Model, request: Request, trace: Trace, view: DecodingState) -> Decoded:
    """What the page shows, computed or remembered. Raises ValueError with one sentence."""

    def read(*_) -> Decoded:
        bring = run_translator.decoding if isinstance(model, Translator) else run_checkpoint.decoding
        with st.spinner("Decoding step by step …"):
            return compare(bring(model, request, trace, view.computed()))  # type: ignore[arg-type]

    return _runs.get(repr((request, trace.model_id, _ids(trace), view.computed())), read=read)


def _ids(trace: Trace) -> tuple[int, ...]:
    return tuple(token.id for token in trace.sentences[0].tgt)


def stepping(model: Model, view: DecodingState) -> Model:
    """The model that steps, in the type that the view asks for: a copy where it was loaded in another."""
    return run_translator.in_dtype(model, view.dtype) if isinstance(model, Translator) else model
