"""The content of the open tab on the page Heads."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app import captions, extensions, layout, mount
from attnviz.app.address import persistent
from attnviz.app.cache import traces
from attnviz.app.cache.pictures import get_or_make, name_of
from attnviz.app.markdown import literal
from attnviz.app.progress import make_maps, run_cancellable
from attnviz.app.request import Request
from attnviz.heads.heads import HeadsPicture
from attnviz.heads.page import choices, downloads, tabs, upload
from attnviz.heads.page.state import PAGE, HeadsPageState
from attnviz.hosts import registry
from attnviz.kit.caching import Host, make_anew
from attnviz.kit.covering import Covering
from attnviz.kit.picture import Picture
from attnviz.kit.wire import Payload
from attnviz.text.limits import TextError
from attnviz.tracing.trace_like import TraceLike

if TYPE_CHECKING:
    from collections.abc import Mapping

    from attnviz.heads.alignment.numbers.alignment_ways import Aligner, KnownMaps
    from attnviz.models.protocol import Model
    from attnviz.tracing.external.weights import BareWeights
    from attnviz.tracing.trace import Trace

WATCHED = "The quick brown fox jumps over the lazy dog."  # a visitor's text may be too short to find the maps
_log = logging.getLogger(__name__)


def host_of(trace: TraceLike) -> Host:
    """Return the services that this page offers to its pictures: caches, and the model's alignment error rates."""
    return Host(
        is_strict=False, cached=get_or_make, find_maps=_find_known_maps, language=trace.to,
        find_rates=lambda: _known_rates(trace),
        run=lambda key, asked, doing, make: run_cancellable(key, (name_of(trace), asked), doing, make),
    )  # fmt: skip


@dataclass(frozen=True)
class TabContent:
    """What the open tab shows of a trace: its `picture` in the state `page`, as a `payload`, or the reason why there is
    none. `heads` is the picture of the tab Heads, whose maps can be downloaded; None for other tabs.
    """

    trace: "Trace | BareWeights"
    page: HeadsPageState
    picture: Picture
    payload: Payload | None = None
    why: str = ""
    heads: HeadsPicture | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the browser has all that the tab Heads needs to show another head."""
        return self.heads is not None and self.heads.is_the_same_for_every_view and not downloads.is_open(self.heads)


@dataclass(frozen=True)
class OpenTab:
    """The open tab, on the trace of a request or on a visitor's own file, for which the request was not run."""

    request: Request

    def make(self, trace: "Trace | BareWeights") -> TabContent:
        """Make what the tab shows of a trace. Draw its controls beside the tabs, and notes above the picture."""
        layout.warn(*registry.refusals())
        entry, model = upload.entry(), None
        if not trace.from_file:
            entry, model = self.request.entry, traces.model(self.request.entry.name)
        host, asking = host_of(trace), extensions.asking_extension()
        page = choices.current_state(trace, entry, host)
        shown = TabContent(trace, page, registry.tabs(PAGE)[page.tab])
        covering = Covering() if asking is None else asking.covering(page.heads)
        if page.tab != "heads" and asking is not None and covering.cover:
            return replace(shown, why=asking.covered_sentence())
        return _make(shown, covering, model, shown.picture.draw_controls(trace, page, model, host))

    def draw(self, shown: TabContent) -> None:
        """Draw the picture, what is opened below it, and the link to copy."""
        if shown.why:
            st.info(literal(shown.why), icon=":material/info:")
        if shown.payload is not None:
            choices.remember_view(shown.payload.header["view"], is_whole=shown.is_whole)
            adopt = choices.adopt(shown.picture)
            mount.picture(shown.picture, captions.add_caption(shown.payload), on_change=adopt)
        if shown.heads is not None and not shown.heads.is_covered:
            downloads.draw_below(shown.heads)
        self._draw_link(shown.trace)

    def draw_again(self, trace: "Trace | BareWeights") -> bool:
        """Draw the tab as it was, if the browser has painted the last choice by itself; return whether it has."""
        if not choices.is_painted():
            return False
        picture = registry.tabs(PAGE)["heads"]
        mount.picture_again(picture, on_change=choices.adopt(picture))
        downloads.draw_below(None)
        self._draw_link(trace)
        return True

    def drawn_from(self) -> tuple[str, str, bool]:
        """Return the open tab, the chosen kind of attention, and whether the picture needs logits and hidden states."""
        texts = persistent.texts()
        return tabs.open_tab(texts), texts["kind"], tabs.needs_whole_trace(texts)

    def _draw_link(self, trace: "Trace | BareWeights") -> None:
        if not trace.from_file:
            layout.draw_link(self.request, trace, choices.shown_tab())


def _make(shown: TabContent, covering: Covering, model: "Model | None", host: Host) -> TabContent:
    """Make the payload of a tab's picture, or say why there is none."""
    trace, page, picture = shown.trace, shown.page, shown.picture
    offered = {"model": model, "covering": covering, "quadrant": page.segments, "options": page.options, "host": host}
    try:
        made = _make_until_stopped(trace, page, lambda: picture.read((trace,), offered).draw(page.open))
    except ValueError as why:
        if why.__cause__ is not None:
            _log.warning("%s", why, exc_info=why)
        return replace(shown, why=str(why))
    if made is None:
        return shown
    if said := picture.tab_rules.note(trace, page.open):
        layout.note(said)
    cached = make_anew if trace.from_file else host.cached
    heads = HeadsPicture(trace, page.heads, page.segments, covering, model, cached) if page.tab == "heads" else None
    return replace(shown, payload=made, heads=heads)


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


def _known_rates(trace: TraceLike) -> "Mapping[Aligner, float]":
    from attnviz.heads.page import alignment_bar  # the other tabs do without it

    return alignment_bar.known_rates(trace.model_id, trace.to)


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
