"""The data for the drawing of a model: its structure, the links of its parts, and the values of one run to animate."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from attnviz.app.drawing.numbers import Here, numbers
from attnviz.kit.payload import payload_of
from attnviz.kit.views.labels import KINDS
from attnviz.kit.wire import Blobs, Payload

if TYPE_CHECKING:
    from attnviz.models.plans import Structure
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace_like import TraceLike


def drawing_payload(
    built: "Structure", trace: "TraceLike | None", model: "Model | None", here: Here, *, why: str = ""
) -> Payload:
    """Make the payload of the drawing.

    Without a `trace` the drawing is not animated, and `why` says why in a sentence.
    """
    blobs = Blobs()
    header = {
        "built": _structure(built),
        "here": asdict(here),
        "names": {kind: KINDS[kind].name for kind in built.kinds},
        "run": None if trace is None else numbers(trace, model, here, blobs),
        "why": why,
    }
    return payload_of(header, {}, blobs)


def with_places(payload: Payload, places: Mapping[str, Mapping[str, str]]) -> Payload:
    """Add the addresses of the pages that the drawing's parts link to, as this visitor left those pages."""
    told = {page: dict(texts) for page, texts in places.items()}
    return payload._replace(header={**payload.header, "places": told})


def _structure(built: "Structure") -> dict[str, Any]:
    told = asdict(built)
    return told | {"stacks": [_stack(stack) for stack in told["stacks"]]}


def _stack(stack: dict[str, Any]) -> dict[str, Any]:
    return stack | {"layers": [layer | {"sites": [list(site) for site in layer["sites"]]} for layer in stack["layers"]]}
