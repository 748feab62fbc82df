"""The content of the open tab on the page Heads."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app import captions, extensions, layout, mount
from attnviz.app.cache import traces
from attnviz.app.cache.pictures import get_or_make, name_of
from attnviz.app.markdown import literal
from attnviz.app.progress import make_maps, run_cancellable
from attnviz.app.request import Request
from attnviz.heads.heads import HeadsPicture
from attnviz.heads.page import alignment_bar, choices
from attnviz.heads.page.state import PAGE, HeadsPageState
from attnviz.hosts import registry
from attnviz.kit.caching import Host, make_anew
from attnviz.kit.covering import Covering
from attnviz.kit.wire import Payload
from attnviz.text.limits import TextError
from attnviz.tracing.trace_like import TraceLike

if TYPE_CHECKING:
    from attnviz.heads.alignment.numbers.alignment_ways import KnownMaps
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace import Trace

WATCHED = "The quick brown fox jumps over the lazy dog."  # a visitor's text may be too short to find the maps
_log = logging.getLogger(__name__)


def host_of(trace: TraceLike) -> Host:
    """Return the services that this page offers to its pictures: caches, and the model's alignment error rates."""
    return Host(
        is_strict=False, cached=get_or_make, find_maps=_find_known_maps, language=trace.to,
        find_rates=lambda: alignment_bar.known_rates(trace.model_id, trace.to),
        run=lambda key, asked, doing, make: run_cancellable(key, (name_of(trace), asked), doing, make),
    )  # fmt: skip


def draw(trace: TraceLike, page: HeadsPageState, request: Request | None, host: Host) -> HeadsPicture | None:
    """Draw the open tab.

    For the tab Heads, return the picture, so that its maps can be downloaded. `request` is the run that is shown, or
    None for a visitor's own weights.
    """
    layout.warn(*registry.refusals())
    model = None if request is None else traces.model(request.entry.name)
    asking = extensions.asking_extension()
    covering = Covering() if asking is None else asking.covering(page.heads)
    if page.tab != "heads" and asking is not None and covering.cover:
        st.info(asking.covered_sentence(), icon=":material/visibility_off:")
        return None
    picture = registry.tabs(PAGE)[page.tab]
    host = picture.draw_controls(trace, page, model, host)
    offered = {"model": model, "covering": covering, "quadrant": page.segments, "options": page.options, "host": host}
    try:
        made = _make_until_stopped(trace, page, lambda: picture.read((trace,), offered).draw(page.open))
    except ValueError as why:
        if why.__cause__ is not None:
            _log.warning("%s", why, exc_info=why)
        st.info(literal(str(why)), icon=":material/info:")
        return None
    if made is None:
        return None
    choices.remember_view(made.header["view"])
    if said := picture.tab_rules.note(trace, page.open):
        layout.note(said)
    mount.picture(picture, captions.add_caption(made), on_change=choices.adopt(picture))
    if page.tab != "heads":
        return None
    cached = make_anew if trace.from_file else host.cached
    return HeadsPicture(trace, page.heads, page.segments, covering, model, cached)


def _make_until_stopped(trace: TraceLike, page: HeadsPageState, make: Callable[[], Payload]) -> Payload | None:
    """Make a tab's picture; return None if the visitor stopped it.

    Only tabs that compute every head's map can be stopped here. Pictures of an uploaded file cannot, because
    Streamlit's cache, which keeps them, cannot draw a progress bar.
    """
    if trace.from_file or not registry.tabs(PAGE)[page.tab].draws_every_map:
        return make()
    changed = [each.digest for each in trace.interventions]
    subject = (page.tab, trace.model_id, trace.info.dtype, trace.sentences, changed, page.options)
    return make_maps("maps", subject, max(trace.shape(kind)[0] for kind in trace.kinds), make)


def _find_known_maps(model: "Model", trace: "Trace") -> "KnownMaps":
    """Find a model's linear maps (`W_o` and those of the residual stream), or why they are unknown.

    The result is shared by all visitors; only few are kept, because the maps to a large vocabulary take memory. The
    maps are found on `trace` if the model's vocabulary lacks the words of our own text, as for toy models.
    """
    try:
        return _find_maps(model.model_id, "", model, None)
    except TextError:
        return _find_maps(model.model_id, str(trace.sentences[0]), model, trace)


@st.cache_resource(max_entries=2, show_spinner="Finding the model's maps …")
def _find_maps(model_id: str, text: str, _model: "Model", _trace: "Trace | None") -> "KnownMaps":
    from attnviz.analysis.projections import NotPlain
    from attnviz.engine.probes import CannotTravelError
    from attnviz.heads.alignment.numbers.alignment_ways import KnownMaps

    language = _model.languages[0] if _model.languages else ""
    watched = traces.run(_model, WATCHED, to=language) if _trace is None else _trace
    try:
        return KnownMaps.find(_model, watched)
    except CannotTravelError:
        why = NotPlain(
            "it runs on the engine, and its maps can only be found on the machine where the model itself runs"
        )
        return KnownMaps(why, dict.fromkeys(watched.calls, why))
