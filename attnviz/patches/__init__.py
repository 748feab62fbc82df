"""Patches: what a patch of an image attends to, drawn on the image. The feature's declaration is `PICTURE`."""

from collections.abc import Mapping
from typing import Any

from attnviz.kit.picture import Picture


def _example(model: Any, trace: Any) -> Mapping[str, Any]:
    from attnviz.patches.example import example_trace

    return {"trace": example_trace()}


PICTURE = Picture(
    name="patches", title="Patches", position=85, state="attnviz.patches.patches:PatchesState",
    subject_of="attnviz.patches.patches:patches_of", script="patches.js", style="patches.css",
    terms=("Heads", "terms.md"), inputs=("image",), python_only=("kind",), example=_example,
    example_choice=(".drawing", "t"),
)  # fmt: skip
