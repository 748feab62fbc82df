"""The feature Heads: every attention head of a run, as maps, links, lines, values and word alignments.

It may import analysis, kit and maps, but no other feature. Only `page/` imports Streamlit.
"""

from collections.abc import Mapping

from attnviz.kit.picture import Picture


def _needs_runs(texts: Mapping[str, str]) -> bool:
    """Return whether the cells show more than attention weights."""
    return texts.get("cells", "") not in ("", "weight")


PICTURE = Picture(
    name="heads", title="Heads", position=10, state="attnviz.heads.heads_state:HeadsState",
    subject_of="attnviz.heads.heads:heads_of", rules="attnviz.heads.heads:HeadsRules", needs_whole_trace=_needs_runs,
    draws_every_map=True, python_only=("specials", "words", "off", "cells", "plotly", "table", "npz"),
    example_choice=(".avz", "ArrowRight"), example_point=".map-box",
)  # fmt: skip
