"""The alignment errors of a model's ways in a language: those that come along, or computed when somebody asks."""

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.ui.cache.bounded import BoundedCache

if TYPE_CHECKING:
    from attnviz.analysis.causes.aligning.ways import Aligner
    from attnviz.models.protocol import Model

_computed: "BoundedCache[tuple[str, str], dict[Aligner, float]]" = BoundedCache(most=16)


def known(model_id: str, to: str) -> "dict[Aligner, float]":
    """Return the rate of each way; nothing where they are not computed."""
    from attnviz.analysis.causes.aligning.error_table import known_errors, rates

    table = known_errors(model_id)
    if table is not None and to in table:
        return rates(table, to)
    name = model_id, to
    return _computed.get(name, read=lambda _, __: {}) if name in _computed.names else {}


def compute(model: "Model", to: str, code: str) -> None:
    """Compute them, with a bar that says how far that is; `code` is what the model calls the language, "" if nothing.

    Raises ValueError with one sentence.
    """
    from attnviz.analysis.causes.aligning.error_table import rates
    from attnviz.analysis.causes.alignment_errors import alignment_errors
    from attnviz.analysis.causes.gold import gold_pairs

    bar = st.progress(0.0, "Reading every sentence that has links by hand …")

    def read(name: tuple[str, str], progress: object) -> "dict[Aligner, float]":
        return rates(alignment_errors(model, {code or to: gold_pairs(to)}, progress=bar.progress), code or to)

    try:
        _computed.get((model.model_id, to), read=read)
    finally:
        bar.empty()
