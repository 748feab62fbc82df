"""What a link to the Anatomy page carries besides the sentence and the site."""

from dataclasses import dataclass

from attnviz.analysis.shape_walk import LAYOUTS
from attnviz.analysis.skipped_lines import SKIPS
from attnviz.tracing.trace import Trace
from attnviz.ui import choices, frame
from attnviz.ui.address import persistent
from attnviz.ui.site_bench import SiteView

PARTS = {
    "walk": "Shape walk",
    "skip": "Skip a line",
    "memory": "Memory order",
    "claims": "Claims",
    "modulation": "Self-attention? Not really",
}
MOST_LINES = 40


@dataclass(frozen=True)
class AnatomyView(SiteView):
    """`line` is the step of the walk that is shown, `skip` the line that is left out."""

    part: str = "walk"
    layout: str = "batch_first"
    line: int = 0
    skip: str = "contiguous"


def current(trace: Trace) -> AnatomyView:
    """The view that the address asks for; what it asks wrongly is said above the picture."""
    reader = choices.Reader(persistent.texts())
    view = AnatomyView(
        **SiteView.read(reader, trace),
        part=reader.one_of("part", list(PARTS), "walk"),
        layout=reader.one_of("layout", LAYOUTS, "batch_first"),
        line=reader.index("line", MOST_LINES),
        skip=reader.one_of("skip", list(SKIPS), "contiguous"),
    )
    frame.say(*reader.problems)
    return view
