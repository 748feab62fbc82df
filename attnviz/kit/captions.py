"""The caption of a picture: which sentence, model and changes to the run; and a payload that carries it."""

import hashlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from attnviz.kit.views import captions
from attnviz.kit.views.captions import Caption
from attnviz.kit.views.interventions import describe_changes
from attnviz.kit.wire import Payload

if TYPE_CHECKING:
    from attnviz.tracing.trace_like import TraceLike


def caption_of(trace: "TraceLike", model: str = "", *, site: str = "", **which: Any) -> Caption:
    """Caption a run's pictures; `model` names the model, `which` is as for `attnviz.kit.views.captions.sentence`."""
    name = "; ".join((model or f"weights {trace.model_id}", *_attending_layers(trace)))
    if trace.interventions:
        name = f"{name}; changes to the run: {describe_changes(trace.interventions)}"
    return Caption(captions.sentence(trace, **which), name, site)


def _attending_layers(trace: "TraceLike") -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(trace.attending_layers, trace.kinds))))


def with_caption(payload: Payload, caption: Caption) -> Payload:
    """Add a caption to a payload's header; the same picture under another caption has another id."""
    told = asdict(caption)
    name = hashlib.blake2b(f"{payload.header['id']}{told}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return payload._replace(header={**payload.header, "id": name, "caption": told})
