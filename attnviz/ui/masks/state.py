"""The tabs of the Masks page, and what a link to each carries besides the mask."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from attnviz.pictures.fields import PageState, choice, read
from attnviz.ui import layout
from attnviz.ui.address import persistent

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


State = TypeVar("State", bound=PageState)


def current(state: type[State], bounds: Mapping[str, Any] | None = None) -> State:
    """Return what the address asks of a tab; what it asks wrongly is said above the picture."""
    found, problems = read(state, persistent.texts(), bounds or {})
    layout.note(*persistent.linked_problems(problems))
    return found
