"""What a link to the Implementations page carries besides the sentence and the site."""

from dataclasses import dataclass

from attnviz.implementations.bugs.cabinet import BUGS
from attnviz.implementations.ways import WAYS
from attnviz.tracing.trace import Trace
from attnviz.ui import choices, frame
from attnviz.ui.address import persistent
from attnviz.ui.site_bench import SiteView

TABS = {
    "agreement": "Agreement",
    "cost": "Time and memory",
    "source": "Source",
    "parameters": "Parameters",
    "relative": "Relative positions",
    "bugs": "Cabinet of bugs",
}
SCOPES = {"site": "this site", "kind": "all layers of this kind", "model": "all sites"}
REACHES = tuple(range(1, 9))
STRENGTHS = tuple(step / 2 for step in range(-16, 17))


@dataclass(frozen=True)
class ImplementationsView(SiteView):
    """`one` and `other` are the sources side by side, `bug` the drawer that is open, `scope` where it is put.

    `reach` and `strength` are those of the relative positions.
    """

    tab: str = "agreement"
    one: str = "annotated"
    other: str = "refactored"
    bug: str = "softmax_over_heads"
    scope: str = "kind"
    reach: int = 4
    strength: float = 4.0


def current(trace: Trace) -> ImplementationsView:
    """The view that the address asks for; what it asks wrongly is said above the picture."""
    reader = choices.Reader(persistent.texts())
    view = ImplementationsView(
        **SiteView.read(reader, trace),
        tab=reader.one_of("tab", list(TABS), "agreement"),
        one=reader.one_of("one", list(WAYS), "annotated"),
        other=reader.one_of("other", list(WAYS), "refactored"),
        bug=reader.one_of("bug", list(BUGS), "softmax_over_heads"),
        scope=reader.one_of("scope", list(SCOPES), "kind"),
        reach=int(reader.one_of("reach", [str(reach) for reach in REACHES], "4")),
        strength=float(reader.one_of("strength", [str(strength) for strength in STRENGTHS], "4.0")),
    )
    frame.say(*reader.problems)
    return view
