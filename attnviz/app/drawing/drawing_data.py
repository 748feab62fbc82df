"""The data for the drawing of the model: the top bar's model, its run, and which part of it the page shows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from attnviz.app import extensions, offered_models
from attnviz.app.address import persistent
from attnviz.app.cache import toys, traces
from attnviz.models.catalogue import entries, unshipped_entry

if TYPE_CHECKING:
    from attnviz.app.address.share import Linkable
    from attnviz.app.drawing.payload import Here
    from attnviz.app.request import Request
    from attnviz.kit.wire import Payload
    from attnviz.models.plans import Structure
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace_like import TraceLike

PLACES = ("Heads", "Masks", "Decoding", "Causes", "Anatomy", "Implementations")


@dataclass(frozen=True)
class Pictured:
    """What the drawing needs to know about a page.

    `page` is its title and `request` its top bar's request, None for a page without a top bar. `own` is the trace of a
    visitor's own weights, which replaces the model. `view` is the state in the page's link, which names layer and head.
    """

    page: str = ""
    request: "Request | None" = None
    own: "TraceLike | None" = None
    view: "Linkable | None" = None


def payload(shown: Pictured) -> "Payload":
    """Return the drawing's data. Raises ValueError, with a message of one sentence, if no model can be drawn."""
    here = _linked_site(shown.view)
    if shown.own is not None:
        made = _run_payload(shown.own, None, here)
        return _add_places(made, ("Heads",))
    request = shown.request or _waiting_request()
    loaded = traces.model(request.entry.name)
    built = _structure(loaded.model_id, loaded)
    trace, why = _run(request)
    if trace is None:
        from attnviz.app.drawing.payload import drawing_payload

        return _add_places(drawing_payload(built, None, loaded, here, why=why), PLACES)
    made = _run_payload(trace, loaded, here, lambda: built)
    return _add_places(_add_caption(made, request, trace), PLACES)


def _waiting_request() -> "Request":
    """Return the request that the other pages would run, for a page without a top bar."""
    from attnviz.app.frame import chat_bar
    from attnviz.app.frame.sentence_field import default_source
    from attnviz.app.request import Request

    name = persistent.text("model")
    known = {entry.name: entry for entry in entries()}
    if name not in known and toys.is_toy(name):
        known[name] = toys.entry(name)
    elif name not in known and name and offered_models.is_offered(name):
        known[name] = unshipped_entry(name)
    entry = known.get(name) or next(iter(known.values()))
    to = persistent.text("to") or next(iter(entry.languages), "")
    src = persistent.text("src", default_source())
    if persistent.text("image") and name and traces.inputs(entry).is_image:
        return Request(entry, "", image=persistent.text("image"))
    return Request(entry, src, to, persistent.text("tgt"), messages=chat_bar.waiting_turns(entry))


def _run_payload(
    trace: "TraceLike", model: "Model | None", here: "Here", built: "Callable[[], Structure] | None" = None
) -> "Payload":
    from attnviz.app.cache.pictures import get_or_make
    from attnviz.app.drawing.payload import drawing_payload
    from attnviz.models.structure import structure

    def make() -> "Payload":
        return drawing_payload(built() if built else structure(trace), trace, model, here)

    return get_or_make("model_drawing", (trace, str(here)), make)


def _add_caption(made: "Payload", request: "Request", trace: "TraceLike") -> "Payload":
    from attnviz.kit.views.captions import Caption, sentence, with_caption

    caption = Caption(sentence(trace), f"{request.entry.title}, weights {trace.model_id}")
    return with_caption(made, caption)


def _run(request: "Request") -> "tuple[TraceLike | None, str]":
    """Run the top bar's sentence. Return its trace and ""; or None and the reason, if its numbers cannot be shown."""
    asking = extensions.asking_extension()
    if asking is not None and asking.hides_numbers():
        return None, asking.covered_sentence()
    try:
        return traces.trace(request), ""
    except ValueError as refusal:
        return None, str(refusal)


@st.cache_resource(max_entries=32, show_spinner="Loading the model …")
def _structure(weights: str, _model: Any) -> "Structure":
    from attnviz.models.facts import any_input
    from attnviz.models.structure import structure

    to = _model.languages[0] if _model.languages else ""
    return structure(traces.run(_model, any_input(_model), to=to), _model)


def _linked_site(view: "Linkable | None") -> "Here":
    """Return the layer, head and row in a page's link. A mean over layers or heads counts as None."""
    from attnviz.app.drawing.payload import Here

    texts: Mapping[str, str] = view.to_params() if view is not None else {}
    kind = texts.get("kind", "")
    layer, head, row = (int(said) if (said := texts.get(name, "")).isdecimal() else None for name in _SITE)
    known = kind if kind in ("encoder_self", "decoder_self", "cross") else None
    return Here(known, layer, head, row)


_SITE = ("layer", "head", "row")


def _add_places(made: "Payload", pages: tuple[str, ...]) -> "Payload":
    from attnviz.app.drawing.payload import with_places

    return with_places(made, {page: persistent.address(page) for page in pages})
