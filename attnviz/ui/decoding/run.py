"""The runs behind the Decoding page, in a bounded cache: the same request is answered at once."""

import streamlit as st

from attnviz.analysis.decoding.comparison import Decoded
from attnviz.models.protocol import Model
from attnviz.pictures import decoding
from attnviz.pictures.decoding import DecodingInput, DecodingState
from attnviz.text.limits import cuts_are_shown
from attnviz.tracing.trace import Trace
from attnviz.ui.cache import budget
from attnviz.ui.cache.bounded import BoundedCache
from attnviz.ui.progress import work_without_bar
from attnviz.ui.request import Request

# By size: a sentence's maps and logits take a few megabytes, those of a long prompt hundreds.
_runs: BoundedCache[str, Decoded] = BoundedCache(most=budget.bytes_for("decodings"), size=lambda run: run.nbytes())


def run_decoding(model: Model, request: Request, trace: Trace, view: DecodingState) -> Decoded:
    """Decode what the page shows, or return it from the cache. Raises ValueError with one sentence."""
    work = work_without_bar()

    def read(*_) -> Decoded:
        asked = DecodingInput(request.src, request.to, request.new, request.messages)
        with st.spinner("Decoding step by step …"), cuts_are_shown():
            return decoding.run_decoding(
                model, trace, view.computed_options(), asked=asked, stepping=_stepping_model(model, view.dtype),
                work=work,
            )  # fmt: skip

    return _runs.get(repr((request, trace.model_id, _ids(trace), view.computed_options())), read=read)


def _ids(trace: Trace) -> tuple[int, ...]:
    return tuple(token.id for token in trace.sentences[0].tgt)


def _stepping_model(model: Model, dtype: str) -> Model:
    return model if dtype == "float32" else _copy(model.model_id, dtype, model)


@st.cache_resource(max_entries=2, show_spinner="Making a copy of the model …")
def _copy(weights: str, dtype: str, _model: Model) -> Model:
    return decoding.copy_in_dtype(_model, dtype)
