"""Hide patches of an image by brush: no token may attend to a hidden patch, and the model runs again."""

from collections.abc import Mapping
from typing import Any

from attnviz.kit.picture import Picture


def _example(model: Any, trace: Any) -> Mapping[str, Any]:
    from attnviz.masks.brush.example import example_run

    return dict(zip(("model", "trace"), example_run(), strict=True))


PICTURE = Picture(
    name="hidden_patches", title="Hide patches", page="Masks", position=101, inputs=("image",),
    state="attnviz.masks.brush.brush:BrushState", subject_of="attnviz.masks.brush.brush:hidden_patches_of",
    script="brush.js", style="brush.css", terms=("Masks", "terms.md"),
    python_only=("layer", "head", "at", "hidden"), example=_example,
)  # fmt: skip
