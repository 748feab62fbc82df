"""The Alignment tab: which source word each word of the target comes from, read from cross-attention in many ways."""

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.ui import captions
from attnviz.ui.address import persistent, widgets
from attnviz.ui.cache.known_maps import known_maps
from attnviz.ui.cache.pictures import cached
from attnviz.ui.heads import errors
from attnviz.ui.heads import tabs as heads_tabs
from attnviz.ui.heads.tabs import TabsState
from attnviz.ui.markdown import literal
from attnviz.ui.reported import SWITCH, TEXT, reported

if TYPE_CHECKING:
    from attnviz.analysis.causes.aligning.ways import Aligner, KnownMaps
    from attnviz.analysis.causes.gold import GoldLinks
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace import TraceLike
    from attnviz.widgets.alignment.payload import AlignmentFacts

NO_CROSS = "Alignment needs cross-attention, and this model has none. Open a model that translates."
BARE = "the file has only attention weights, not norms and logits"
TOLD = {"way": TEXT, "drawn": TEXT, "null": SWITCH, "gold": SWITCH}


def draw(trace: "TraceLike", tabs: TabsState, model: "Model | None") -> None:
    """The alignment that the address asks for; without cross-attention, why there is none."""
    if "cross" not in trace.kinds:
        st.info(NO_CROSS, icon=":material/info:")
        return
    with st.session_state["parts-slot"], st.container(horizontal=True, vertical_alignment="center", key="part-row"):
        to = _language(trace, tabs)
        if model is not None:
            _offer_scores(model, to, trace.to)
            if to:
                _offer_sentences(trace, to)
    known = _known(trace, model)
    try:
        _draw(trace, tabs, known, to)
    except ValueError as why:
        st.info(literal(str(why)), icon=":material/info:")


def _draw(trace: "TraceLike", tabs: TabsState, known: "KnownMaps", to: str) -> None:
    from attnviz.analysis.causes.aligning.ways import scores, ways
    from attnviz.ui.mount import alignment
    from attnviz.widgets.alignment.payload import alignment_payload

    there = ways(known, trace)
    rates = errors.known(trace.model_id, to) if to else {}
    way = _chosen(tabs.aligner, there, rates)
    gold = _gold(trace, to)
    facts = _facts(trace, known, there, rates, gold)
    view = {"way": written(way), "drawn": tabs.drawn, "null": tabs.null, "gold": tabs.gold}
    made = cached(
        "alignment",
        (trace, way, to, len(rates)),
        lambda: alignment_payload(trace, way, scores(way, known, trace), facts()),
    ).with_view(view)
    alignment(captions.on(made), on_change=_take)


def _known(trace: "TraceLike", model: "Model | None") -> "KnownMaps":
    from attnviz.analysis.causes.aligning.ways import KnownMaps
    from attnviz.analysis.site.projections import NotPlain
    from attnviz.transformer.probe import Site

    if model is not None and not trace.weights_only:
        return known_maps(model, trace)  # type: ignore[arg-type]  # no bare one
    why = NotPlain(BARE)
    return KnownMaps(why, {Site("cross", layer): why for layer in range(trace.shape("cross")[0])})


def written(way: "Aligner") -> str:
    """A way as an address holds it: `attribution.1.all.out`."""
    sites = ("all" if at is None else str(at) for at in (way.layer, way.head))
    return ".".join((_SLUGS[way.method], *sites, way.reading))


_SLUGS = {
    "attribution": "attribution", "one head": "head", "mean of heads": "mean", "norm of one head": "head-norm",
    "norm of heads' sum": "norm", "rollout": "rollout", "rollout, measured residual": "rollout-measured",
    "ALTI": "alti", "max flow": "max-flow", "diagonal": "diagonal",
}  # fmt: skip


def _chosen(text: str, there: "tuple[Aligner, ...]", rates: "dict[Aligner, float]") -> "Aligner":
    """The way of the address, if the model has it; else the best by what is known, else the first: attribution."""
    by_name = {written(way): way for way in there}
    if text in by_name:
        return by_name[text]
    scored = [way for way in there if way in rates]
    attributions = [way for way in scored if way.method == "attribution"]
    if scored:
        return min(attributions or scored, key=rates.__getitem__)
    return next((way for way in there if way.layer is None and way.head is None), there[0])


def _language(trace: "TraceLike", tabs: TabsState) -> str:
    """The language whose links by hand are held against: the one that was written, or what somebody says it is."""
    from attnviz.analysis.causes.gold import gold_languages
    from attnviz.text.languages import language_name

    if trace.to in gold_languages():
        return trace.to
    names = {"": "none"} | {to: language_name(to) for to in gold_languages()}
    chosen = tabs.against if tabs.against in names else ""
    widgets.select("against", "The target is in", list(names), chosen, names.__getitem__)
    return chosen


def _offer_scores(model: "Model", to: str, code: str) -> None:
    """A button that scores every way in this language, where nobody has."""
    from attnviz.analysis.causes.gold import gold_pairs

    if not to or errors.known(model.model_id, to):
        return
    if st.button(f"Measure on {len(gold_pairs(to))} sentences", key="score-ways"):
        try:
            errors.compute(model, to, code)
        except ValueError as why:
            st.error(literal(str(why)), icon=":material/error:")


def _offer_sentences(trace: "TraceLike", to: str) -> None:
    """A list of the sentences that have links by hand; one that is chosen is typed above, with its translation."""
    from attnviz.analysis.causes.gold import gold_pairs

    pairs = gold_pairs(to)
    here = next((at for at, pair in enumerate(pairs) if _is_of(trace, pair)), None)
    key = "gold-sentence"
    if persistent.is_drawn(key) and st.session_state[key] != here:
        st.session_state[key] = here

    def take() -> None:
        at = st.session_state.get(key)
        if isinstance(at, int) and at in range(len(pairs)):  # anybody can send anything
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


def _is_of(trace: "TraceLike", pair) -> bool:
    sentence = trace.sentences[0]
    return (sentence.src_text, sentence.tgt_text) == (pair.src_text, pair.tgt_text)


def _gold(trace: "TraceLike", to: str) -> "GoldLinks | None":
    """The links by hand of this very sentence, if there are any."""
    from attnviz.analysis.causes.gold import gold_pairs

    pair = next((pair for pair in gold_pairs(to) if _is_of(trace, pair)), None) if to else None
    return None if pair is None else pair.links(trace)  # type: ignore[arg-type]


def _facts(trace, known: "KnownMaps", there, rates: "dict[Aligner, float]", gold: "GoldLinks | None"):
    """What is known beside the scores; made when a payload is."""

    def make() -> "AlignmentFacts":
        from attnviz.analysis.causes.alignment_errors import found_links
        from attnviz.analysis.causes.word_alignment import alignment_error
        from attnviz.widgets.alignment.payload import AlignmentFacts

        own = found_links(known, trace) if gold is not None else {}
        of_sentence = (
            {way: alignment_error(links, gold.sure, gold.possible) for way, links in own.items()} if gold else {}
        )
        lacking = {name: known.lacks(name) for name in ("attribution", "norm of heads' sum", "ALTI")}
        return AlignmentFacts(
            {way: written(way) for way in (*there, *(way for way in rates if way not in there))},
            rates, of_sentence, gold, {name: why for name, why in lacking.items() if why}, len(there),
        )  # fmt: skip

    return make


def _take() -> None:
    if view := reported("alignment", "view", TOLD):
        switches = {name: int(bool(view[name])) for name in ("null", "gold")}
        heads_tabs.take({"aligner": view["way"], "drawn": view["drawn"]} | switches)
