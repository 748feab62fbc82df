"""The picture Compare: the attention of two runs side by side, head by head."""

from collections.abc import Mapping
from typing import Any

from attnviz.kit.picture import Picture, another_run


def _example(model: Any, trace: Any) -> Mapping[str, Any]:
    return {"here": ("one", model, trace), "there": ("other", model, another_run(model, trace))}


PICTURE = Picture(
    name="compared", title="Compare", position=140, page="Causes", tab="compare", terms=("Heads", "Causes"),
    state="attnviz.causes.compared.compared:CompareState", subject_of="attnviz.causes.compared.compared:compared_of",
    example=_example, tab_drawn_by="attnviz.causes.page.sides:draw",
    example_choice=(".avz", "ArrowDown"), example_point="canvas",
)  # fmt: skip
