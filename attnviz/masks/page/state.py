"""The tabs of the page Masks, and their state in a link."""

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
    """The open tab."""

    tab: str = choice("pipeline", TABS)
