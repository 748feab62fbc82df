"""The state of the page Anatomy."""

from dataclasses import dataclass

from attnviz.anatomy.numbers.shape_walk import LAYOUTS
from attnviz.anatomy.numbers.skipped_lines import SKIPS
from attnviz.anatomy.page.experiment import SiteState
from attnviz.kit.fields import choice, whole_number

TABS = {
    "walk": "Shape walk",
    "skip": "Skip a line",
    "memory": "Memory order",
    "claims": "Claims",
    "counts": "Shapes and counts",
    "modulation": "Self-attention? Not really",
}
MOST_LINES = 40


@dataclass(frozen=True)
class AnatomyState(SiteState):
    """State of the page. `line` is the step of the walk in view, and `skip` the line that is left out or changed."""

    tab: str = choice("walk", tuple(TABS))
    layout: str = choice("batch_first", LAYOUTS)
    line: int = whole_number(0, MOST_LINES)
    skip: str = choice("contiguous", tuple(SKIPS))
