"""The Spans feature: how much attention each part of a prompt gets, and how the answer changes without that part.

It may import analysis, kit and models, but no other feature. Its tab is on the page Heads. Only `page/`, which has an
experiment for the page Causes, imports Streamlit. `python -m attnviz.spans` asks from which of twelve sentences an
answer came.
"""

from collections.abc import Mapping

from attnviz.kit.picture import Picture


def _needs_runs(texts: Mapping[str, str]) -> bool:
    """Return whether the Spans picture in an address needs more passes of the model.

    It does if spans are hidden, or if shares are of ‖αf(x)‖ and not of attention weights.
    """
    return texts.get("hidden", "") != "" or texts.get("shares", "") not in ("", "weight")


PICTURE = Picture(
    name="spans", title="Spans", position=80, state="attnviz.spans.spans:SpansState",
    subject_of="attnviz.spans.spans:spans_picture_of", widget="span_shares", rules="attnviz.spans.spans:SpansRules",
    inputs=("text",), needs_whole_trace=_needs_runs, needs_decoder=True,
    python_only=("spans", "answer", "shares", "hidden"),
    example_choice=(".span-tokens [tabindex='0']", "Enter"), example_point="canvas",
)  # fmt: skip
