"""A model's own maps, `W_o` and those that its residual stream goes through: found once for all visitors."""

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.text.limits import TextError
from attnviz.ui.cache import traces

if TYPE_CHECKING:
    from attnviz.analysis.causes.aligning.ways import KnownMaps
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace import Trace

WATCHED = "The quick brown fox jumps over the lazy dog."  # a text of our own: a single token, say, tells too little


def known_maps(model: "Model", trace: "Trace") -> "KnownMaps":
    """Of a model that ran, or why not. The maps to a large vocabulary take room, so that few models' are kept.

    `trace` is what they are found on where the model does not know the words of our text, as toys do not.
    """
    try:
        return _known(model.model_id, "", model, None)
    except TextError:
        return _known(model.model_id, str(trace.sentences[0]), model, trace)


@st.cache_resource(max_entries=2, show_spinner="Finding the model's maps …")
def _known(model_id: str, text: str, _model: "Model", _trace: "Trace | None") -> "KnownMaps":
    from attnviz.analysis.causes.aligning.ways import KnownMaps
    from attnviz.analysis.site.projections import NotPlain
    from attnviz.engine.probes import CannotTravelError

    language = _model.languages[0] if _model.languages else ""
    watched = traces.run(_model, WATCHED, to=language) if _trace is None else _trace
    try:
        return KnownMaps.find(_model, watched)
    except CannotTravelError:
        why = NotPlain(
            "it runs on the engine, and its maps can only be found on the machine where the model itself runs"
        )
        return KnownMaps(why, dict.fromkeys(watched.calls, why))
