"""The picture Hide patches: an image to draw on, and what the model does when nothing attends to the hidden patches."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from torch import Tensor

from attnviz.guards.arguments import reads_arguments
from attnviz.kit.browser_view import add_view
from attnviz.kit.fields import choice, declare, whole_number
from attnviz.kit.focus import FocusState
from attnviz.kit.payload import data_payload
from attnviz.kit.seen_image import image_data, image_of
from attnviz.kit.subject import Subject, of_trace
from attnviz.kit.wire import Payload
from attnviz.masks.masks import painting_of_text, read_painting
from attnviz.masks.numbers.hidden_patches import Grid, HiddenRun, run_without, visible_tokens
from attnviz.models.protocol import Model
from attnviz.tracing.record import SeenImage
from attnviz.tracing.trace import Trace

TITLE = "Hide patches"
Rerun = Callable[[Model, Trace, Tensor], Trace]


@dataclass(frozen=True)
class BrushState(FocusState):
    """State of the picture Hide patches.

    `hidden` are the hidden patches, as a mask over the grid in the text of `painting_to_text`. `at` is the token whose
    row is shown, None for the first one, and `run` is the run whose weights lie on the image.
    """

    hidden: str = declare("", read_painting)
    at: int | None = whole_number(None, name="patch", used="the first token")
    run: str = choice("after", {"before": "Before", "after": "After", "change": "Difference"})


@reads_arguments
def hidden_patches_of(model: Model, trace: Trace, *, rerun: Rerun = run_without) -> Subject:
    """Hide patches of an image and run the model again. Raise ValueError for a trace without an image.

    `rerun` runs the model so that no token attends to a key that is not seen; a page passes a function with a cache.
    """
    image_of(trace, TITLE)
    kind = trace.kinds[0]

    def draw(asked: BrushState, *, alone: bool = False) -> Payload:
        state = _within(trace, asked)
        return add_view(data_payload(kind, (kind,), brush_data(model, trace, state, rerun, alone=alone)), state)

    subject = of_trace(trace, BrushState(kind), draw, model, {"at": len(trace.query_tokens(kind))})
    return replace(subject, draw_whole=lambda state: draw(state, alone=True))


def visible_patches(image: SeenImage, hidden: str) -> Grid:
    """Return which patches are visible. Raise ValueError for hidden patches of a grid of another size."""
    painted = painting_of_text(hidden)
    if painted is None:
        return np.ones(image.grid, dtype=bool)
    if painted.shape != image.grid:
        rows, columns = painted.shape
        raise ValueError(
            f"The hidden patches were drawn on a grid of {rows} × {columns} patches, but this image has "
            f"{image.grid[0]} × {image.grid[1]}. Please draw them again."
        )
    return painted


def _within(trace: Trace, state: BrushState) -> BrushState:
    """Return the state with a head and a token that the trace has."""
    kind, layer, head = state.site_in(trace)
    at = state.at if state.at and state.at < len(trace.query_tokens(kind)) else 0
    return replace(state, kind=kind, layer=layer, head=head, at=at)


def brush_data(model: Model, trace: Trace, state: BrushState, rerun: Rerun, *, alone: bool = False) -> dict[str, Any]:
    """Return what the script draws: the image, one token's row before and after, and what changed in the model."""
    kind, layer, head = state.site_in(trace)
    image, at = image_of(trace, TITLE), state.at or 0
    seen = visible_tokens(trace, visible_patches(image, state.hidden))
    found = HiddenRun(trace, trace if bool(seen.all()) else rerun(model, trace, seen), seen)
    similarity = found.similarity()
    return {
        **image_data(image, trace),
        "at": at,
        "site": [layer, head],
        "hidden": state.hidden,
        "before": found.before.attn(kind, layer=layer, head=head)[at],
        "after": found.after.attn(kind, layer=layer, head=head)[at],
        "moved": found.moved(),
        "summary": found.summary,
        "steps": [name for name, _ in similarity],
        "similarity": np.array([value for _, value in similarity]),
        "labels": found.labels(model),
        "alone": alone,
    }
