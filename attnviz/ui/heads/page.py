"""What each tab of the Heads page shows of a trace."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.maps.grouping import Groups
from attnviz.maps.selection import query_groups
from attnviz.pictures.alignment import alignment
from attnviz.pictures.caching import make_anew
from attnviz.pictures.conversation.spans import spans
from attnviz.pictures.flow import drawn_state, flow
from attnviz.pictures.head_maps.covering import Covering
from attnviz.pictures.heads import HeadsPicture
from attnviz.pictures.links import links
from attnviz.pictures.neuron import neuron, query_of
from attnviz.pictures.one_row import one_row
from attnviz.pictures.whole_model import whole_model
from attnviz.text.limits import TextError
from attnviz.tracing.trace_like import TraceLike
from attnviz.ui import captions, extensions, layout, mount
from attnviz.ui.address import persistent
from attnviz.ui.cache import traces
from attnviz.ui.cache.pictures import get_or_make, name_of
from attnviz.ui.heads import alignment_bar, choices
from attnviz.ui.heads.state import HeadsPageState
from attnviz.ui.markdown import literal
from attnviz.ui.progress import make_maps, run_cancellable
from attnviz.ui.request import Request
from attnviz.views.interventions import changed_head_note
from attnviz.widgets.wire import Payload

if TYPE_CHECKING:
    from attnviz.analysis.causes.alignment_ways import KnownMaps
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace import Trace

WATCHED = "The quick brown fox jumps over the lazy dog."  # a text of our own: a single token, say, tells too little


def draw(trace: TraceLike, page: HeadsPageState, request: Request | None) -> HeadsPicture | None:
    """Draw the tab that is open; of the Heads tab, return the picture, whose maps can be taken along.

    `request` is what was run, None for a visitor's own weights.
    """
    model = None if request is None else traces.model(request.entry.name)
    asking = extensions.asking_extension()
    covering = Covering() if asking is None else asking.covering(page.heads)
    if page.tab == "heads":
        cache = make_anew if trace.from_file else get_or_make  # maps of own files would fill the room of all visitors
        picture = HeadsPicture(trace, page.heads, page.segments, covering, model, cache)
        payload = _make_until_stopped(trace, page, picture.payload)
        if payload is None:
            return None
        mount.heads(captions.add_caption(payload), on_change=choices.adopt("heads"))
        return picture
    if asking is not None and covering.cover:
        st.info(asking.covered_sentence(), icon=":material/visibility_off:")
        return None
    try:
        made = _make_until_stopped(trace, page, lambda: _PICTURES[page.tab](trace, page, model))
    except ValueError as why:
        st.info(literal(str(why)), icon=":material/info:")
        return None
    if made is None:
        return None
    name, key = _WIDGETS.get(page.tab, page.tab), choices.KEYS.get(page.tab, page.tab)
    mount.tab(name, captions.add_caption(made), key=key, on_change=choices.adopt(page.tab))
    return None


def _make_until_stopped(trace: TraceLike, page: HeadsPageState, make: Callable[[], Payload]) -> Payload | None:
    """Make a tab's picture; None if the visitor has stopped it. Only tabs that compute every head's map can be stopped
    here. Pictures of a visitor's own file cannot be: Streamlit's cache, which keeps them, cannot draw a bar.
    """
    if trace.from_file or page.tab not in ("heads", "links", "model"):
        return make()
    changed = [each.digest for each in trace.interventions]
    subject = (page.tab, trace.model_id, trace.info.dtype, trace.sentences, changed, page.options)
    return make_maps("maps", subject, max(trace.shape(kind)[0] for kind in trace.kinds), make)


def settle_flow(trace: TraceLike, page: HeadsPageState) -> HeadsPageState:
    """Return the state with Flow's row and method as they are drawn, so that a link names both.

    A link that leaves them out follows the pinned row, by the method with the lowest known alignment error. A copied
    link of an earlier version names an empty row beside the tab: that is the middle one, as it was there.
    """
    if page.tab != "flow":
        return page
    row = page.flow.row
    if row is None and not ({"tab", "followed"} <= persistent.texts().linked):
        rows, pinned = _rows_of_flow(trace, page), page.heads.row
        row = rows[pinned][0] if pinned is not None and pinned < len(rows) else None
    rates = alignment_bar.known_rates(trace.model_id, trace.to)
    return replace(page, flow=drawn_state(trace, replace(page.flow, row=row), rates))


def _links(trace: TraceLike, page: HeadsPageState, model: "Model | None") -> Payload:
    return links(trace, page.links, options=page.options, cached=get_or_make)


def _whole_model(trace: TraceLike, page: HeadsPageState, model: "Model | None") -> Payload:
    return whole_model(trace, page.model, options=page.options, cached=get_or_make)


def _one_row(trace: TraceLike, page: HeadsPageState, model: "Model | None") -> Payload:
    return one_row(trace, page.row, options=page.options, cached=get_or_make)


def _neuron(trace: TraceLike, page: HeadsPageState, model: "Model | None") -> Payload:
    rows = query_groups(trace, page.heads.kind, page.options)
    choices.remember_rows(rows)
    query = query_of(rows, row=page.heads.row, query=page.neuron.row)
    made = neuron(trace, replace(page.neuron, row=query))
    if said := changed_head_note(trace.interventions, page.neuron.site_in(trace)):
        layout.note(said)
    return made


def _alignment(trace: TraceLike, page: HeadsPageState, model: "Model | None") -> Payload:
    to = alignment_bar.draw(trace, page.against, model) if "cross" in trace.kinds else ""
    rates = alignment_bar.known_rates(trace.model_id, to) if to else {}
    known = None if model is None or trace.weights_only else _known_maps(model, trace)  # type: ignore[arg-type]
    return alignment(trace, page.alignment, known=known, language=to, rates=rates, cached=get_or_make)


def _flow(trace: TraceLike, page: HeadsPageState, model: "Model | None") -> Payload:
    known = None if model is None or trace.weights_only else _known_maps(model, trace)  # type: ignore[arg-type]
    made = flow(
        trace, page.flow, known=known, rates=alignment_bar.known_rates(trace.model_id, trace.to), cached=get_or_make
    )
    sent = {name: made.header["view"][name] for name in ("row", "by")}
    choices.remember_rows(_rows_of_flow(trace, page), sent)
    return made


def _spans(trace: TraceLike, page: HeadsPageState, model: "Model | None") -> Payload:
    asked = page.spans
    if not asked.hidden:
        return spans(trace, asked, model=model, cached=get_or_make)
    subject = (name_of(trace), asked.spans, asked.answer, asked.hidden)
    made = run_cancellable(
        "spans-hidden", subject, "Hiding each span in turn",
        lambda work: spans(trace, asked, model=model, cached=get_or_make, work=work),
    )  # fmt: skip
    return made or spans(trace, replace(asked, hidden=""), model=model, cached=get_or_make)


def _rows_of_flow(trace: TraceLike, page: HeadsPageState) -> Groups:
    """Return the query tokens of each row that the other tabs show, if these are the rows that Flow can follow."""
    kind, last = page.heads.kind, trace.kinds[-1]
    has_them = kind == last or "encoder_self" not in (kind, last)  # the two kinds of a decoder share their rows
    return query_groups(trace, kind, page.options) if has_them else ()


_WIDGETS = {
    "model": "every_head",
    "row": "every_head",
    "spans": "span_shares",
}  # the widgets that are not called as their tabs
_PICTURES = {
    "links": _links, "model": _whole_model, "row": _one_row, "neuron": _neuron, "alignment": _alignment, "flow": _flow,
    "spans": _spans,
}  # fmt: skip


def _known_maps(model: "Model", trace: "Trace") -> "KnownMaps":
    """Find a model's own maps (`W_o` and those of its residual stream) once for all visitors, or why it has none.

    The maps to a large vocabulary take room, so that few models' are kept. `trace` is what they are found on where the
    model does not know the words of our text, as toys do not.
    """
    try:
        return _find_maps(model.model_id, "", model, None)
    except TextError:
        return _find_maps(model.model_id, str(trace.sentences[0]), model, trace)


@st.cache_resource(max_entries=2, show_spinner="Finding the model's maps …")
def _find_maps(model_id: str, text: str, _model: "Model", _trace: "Trace | None") -> "KnownMaps":
    from attnviz.analysis.causes.alignment_ways import KnownMaps
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
