"""Controls of the tab Alignment: the language, a button that measures the methods, and sentences with links
made by hand.

Also the alignment error rates that the tab shows or computes.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app import hosting
from attnviz.app.address import persistent, widgets
from attnviz.app.cache.bounded import BoundedCache
from attnviz.app.frame.page import is_part
from attnviz.app.markdown import literal
from attnviz.heads.alignment.alignment import is_of
from attnviz.heads.alignment.numbers.gold import gold_languages, gold_pairs
from attnviz.heads.page.tabs import controls_of_tab
from attnviz.kit.caching import Host
from attnviz.text.languages import language_name

if TYPE_CHECKING:
    from attnviz.heads.alignment.numbers.alignment_ways import Aligner
    from attnviz.heads.page.state import HeadsPageState
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace_like import TraceLike

_computed: "BoundedCache[tuple[str, str], dict[Aligner, float]]" = BoundedCache(most=16)


def draw(trace: "TraceLike", page: "HeadsPageState", model: "Model | None", host: Host) -> Host:
    """Draw the controls; return the host with the language of the links made by hand ("": none) and the error rates.

    For a trace without cross-attention, no controls are drawn.
    """
    to = _language(trace, page.against) if "cross" in trace.kinds else ""
    if "cross" in trace.kinds and not is_part():
        with controls_of_tab():
            _draw_controls(trace, to, model)
    return replace(host, language=to, find_rates=lambda: known_rates(trace.model_id, to) if to else {})


def _language(trace: "TraceLike", against: str) -> str:
    """Return the target language of the trace, or, if it is unknown, the language that the visitor selects."""
    to = trace.to if trace.to in gold_languages() else against
    return to if to in gold_languages() else ""


def _draw_controls(trace: "TraceLike", to: str, model: "Model | None") -> None:
    if trace.to not in gold_languages():
        names = {"": "none"} | {to: language_name(to) for to in gold_languages()}
        widgets.select("against", "The target is in", list(names), to, names.__getitem__)
    if model is not None:
        _offer_scores(model, to, trace.to)
        if to:
            _offer_sentences(trace, to)


def _offer_scores(model: "Model", to: str, code: str) -> None:
    """Draw a button that measures every method in this language, unless the error rates are known already."""
    if not to or known_rates(model.model_id, to):
        return
    if st.button(f"Measure on {len(gold_pairs(to))} sentences", key="score-ways"):
        try:
            compute_rates(model, to, code)
        except ValueError as why:
            st.error(literal(str(why)), icon=":material/error:")


def _offer_sentences(trace: "TraceLike", to: str) -> None:
    """Draw a list of sentences that have links made by hand; choosing one types it and its translation above."""
    pairs = gold_pairs(to)
    here = next((at for at, pair in enumerate(pairs) if is_of(trace, pair)), None)
    key = "gold-sentence"
    if persistent.is_drawn(key) and st.session_state[key] != here:
        st.session_state[key] = here

    def take() -> None:
        at = st.session_state.get(key)
        if isinstance(at, int) and at in range(len(pairs)):  # a client can send anything
            persistent.write({"src": pairs[at].src_text, "tgt": pairs[at].tgt_text})

    st.selectbox(
        "Links by hand",
        range(len(pairs)),
        index=here,
        format_func=lambda at: pairs[at].src_text if at in range(len(pairs)) else "",
        placeholder="a sentence with links by hand",
        label_visibility="collapsed",
        key=key,
        on_change=take,
        width=240,
    )


def known_rates(model_id: str, to: str) -> "dict[Aligner, float]":
    """Return the alignment error rate of each of a model's methods in a language; {} if not computed yet."""
    from attnviz.heads.alignment.numbers.alignment_errors import known_errors, rates

    table = known_errors(model_id)
    if table is not None and to in table:
        return rates(table, to)
    name = model_id, to
    return _computed.get(name, read=lambda _, __: {}) if name in _computed.names else {}


def compute_rates(model: "Model", to: str, code: str) -> None:
    """Compute the error rates while showing a progress bar.

    `code` is the model's name for the language, "" if it has none. Raise ValueError with a message of one sentence.
    """
    from attnviz.heads.alignment.numbers.alignment_errors import alignment_errors, rates
    from attnviz.heads.alignment.numbers.gold import gold_pairs

    bar, queue = st.progress(0.0, "Reading every sentence that has links by hand …"), st.empty()

    def tell(share: float) -> None:
        bar.progress(share)
        hosting.give_way(queue)

    def read(name: tuple[str, str], progress: object) -> "dict[Aligner, float]":
        return rates(alignment_errors(model, {code or to: gold_pairs(to)}, progress=tell), code or to)

    try:
        _computed.get((model.model_id, to), read=read)
    finally:
        bar.empty()
