"""The tabs of the Masks page, and what a link to each carries besides the mask."""

from dataclasses import dataclass

from attnviz.kit.fields import PageState, choice

TABS = {
    "pipeline": "Pipeline",
    "says": "What it would say",
    "fills": "All fills",
    "leak": "Leak test",
    "rows": "Row by row",
    "broadcast": "Broadcast",
}


@dataclass(frozen=True)
class MasksTab(PageState):
    """The tab that is open."""

    tab: str = choice("pipeline", TABS)
