"""The state of the Implementations page."""

from dataclasses import dataclass

from attnviz.anatomy.implementations.numbers.mask_shapes import NAMES
from attnviz.anatomy.page.experiment import SiteState
from attnviz.implementations.bugs.cabinet import BUGS
from attnviz.implementations.ways import WAYS
from attnviz.kit.fields import choice

TABS = {
    "agreement": "Agreement",
    "cost": "Time and memory",
    "source": "Source",
    "parameters": "Parameters",
    "relative": "Relative positions",
    "shapes": "Mask shapes",
    "bugs": "Cabinet of bugs",
}
SCOPES = {"site": "this site", "kind": "all layers of this kind", "model": "all sites"}
REACHES = tuple(range(1, 9))
STRENGTHS = tuple(step / 2 for step in range(-16, 17))


@dataclass(frozen=True)
class ImplementationsState(SiteState):
    """`one` and `other` are the sources side by side, `bug` the drawer that is open, `scope` where it is put.

    `reach` and `strength` are those of the relative positions, `axes` the shape in which a mask is tried.
    """

    tab: str = choice("agreement", tuple(TABS))
    one: str = choice("annotated", tuple(WAYS))
    other: str = choice("refactored", tuple(WAYS))
    bug: str = choice("softmax_over_heads", tuple(BUGS))
    scope: str = choice("kind", tuple(SCOPES))
    reach: int = choice(4, REACHES)
    strength: float = choice(4.0, STRENGTHS)
    axes: str = choice("full", tuple(NAMES))
