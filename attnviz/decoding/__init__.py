"""The feature Decoding: compare a target that is written step by step with the single pass of training.

It may import analysis, kit and models, but no other feature. Only `page/` imports Streamlit.
"""

from collections.abc import Mapping
from typing import Any

from attnviz.kit.picture import Picture


def _example(model: Any, trace: Any) -> Mapping[str, Any]:
    return {"model": model, "text": trace.src_text, "to": trace.to}


PICTURE = Picture(
    name="stepper", title="Decoding", position=90, page="Decoding", terms=("Heads", "Decoding"),
    state="attnviz.decoding.decoding:DecodingState", subject_of="attnviz.decoding.stepper:stepper_of",
    python_only=("open",), example=_example,
    example_choice=(".player input", "ArrowLeft"), example_point=".map-box canvas",
)  # fmt: skip
