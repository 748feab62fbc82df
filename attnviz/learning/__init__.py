"""The feature Learning: the training of toy models and translators, with their maps and texts at each recorded step.

It may import toys, analysis and kit, but no other feature. Only `page/` imports Streamlit.
"""

from collections.abc import Mapping
from typing import Any

from attnviz.kit.picture import Picture


def _example(model: Any, trace: Any) -> Mapping[str, Any]:
    from attnviz.toys import shipped
    from attnviz.toys.experiment import Experiment
    from attnviz.toys.storage import toy_recording

    return {"recording": toy_recording(shipped.path(Experiment("reverse")))}


PICTURE = Picture(
    name="learning", title="Learning", position=150, page="Learning", terms=("Heads", "Learning"),
    state="attnviz.learning.learning_state:LearningState", subject_of="attnviz.learning.learning:learning_of",
    example=_example,
    example_choice=(".player input", "ArrowRight"), example_point=".heads button",
)  # fmt: skip
