"""The state of the page Implementations."""

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
    """State of the page Implementations.

    `one` and `other` are the implementations whose sources are shown side by side, `bug` is the bug on view, and
    `scope` the sites of the model into which it is put. `reach` and `strength` belong to relative positions, and `axes`
    is the shape of the mask.
    """

    tab: str = choice("agreement", tuple(TABS))
    one: str = choice("annotated", tuple(WAYS))
    other: str = choice("refactored", tuple(WAYS))
    bug: str = choice("softmax_over_heads", tuple(BUGS))
    scope: str = choice("kind", tuple(SCOPES))
    reach: int = choice(4, REACHES)
    strength: float = choice(4.0, STRENGTHS)
    axes: str = choice("full", tuple(NAMES))
