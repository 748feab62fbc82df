"""Captions of pictures, which name the sentence, the model and the interventions, and payloads with captions."""

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
    """Return the caption for a run's pictures.

    `model` is the model's name; `which` are arguments of `attnviz.kit.views.captions.sentence`.
    """
    name = "; ".join((model or f"weights {trace.model_id}", *_attending_layers(trace)))
    if trace.interventions:
        name = f"{name}; changes to the run: {describe_changes(trace.interventions)}"
    return Caption(captions.sentence(trace, **which), name, site)


def _attending_layers(trace: "TraceLike") -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(trace.attending_layers, trace.kinds))))


def with_caption(payload: Payload, caption: Caption) -> Payload:
    """Add a caption to a payload's header. The id changes with the caption."""
    told = asdict(caption)
    name = hashlib.blake2b(f"{payload.header['id']}{told}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return payload._replace(header={**payload.header, "id": name, "caption": told})
