"""The picture Patching: matrices of what each patch from one run into another restores."""

from collections.abc import Mapping
from typing import Any

from attnviz.kit.picture import Picture, another_run


def _example(model: Any, trace: Any) -> Mapping[str, Any]:
    return {"model": model, "trace": trace, "other": another_run(model, trace)}


PICTURE = Picture(
    name="patching", title="Patch", position=120, page="Causes", tab="patch", terms=("Heads", "Causes"),
    state="attnviz.causes.patching.patching:PatchState", subject_of="attnviz.causes.patching.patching:patching_of",
    inputs=("text",), python_only=("step", "put"), example=_example,
    tab_drawn_by="attnviz.causes.page.patch:draw",
    example_choice=(".avz", "n"), example_point="canvas",
)  # fmt: skip
