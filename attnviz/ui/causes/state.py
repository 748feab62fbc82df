"""The tabs of the Causes page, and what is common to what their links carry."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st

from attnviz.analysis.causes.ready.experiments import ready_experiments
from attnviz.pictures.fields import PageState, choice, read
from attnviz.text.glossary import definition
from attnviz.ui import layout
from attnviz.ui.address import persistent
from attnviz.ui.address.widgets import segments
from attnviz.ui.causes import experiments

TABS = {
    "switch-off": "Switch off",
    "patch": "Patch",
    "attribute": "Attribute",
    "compare": "Compare",
    "sentences": "Many sentences",
}


@dataclass(frozen=True)
class CausesState(PageState):
    """The open tab and the ready experiment that the panel explains, if any; each tab's subclass declares its own
    fields.
    """

    tab: str = choice("switch-off", tuple(TABS))
    experiment: str = choice("", tuple(one.name for one in ready_experiments()))


State = TypeVar("State", bound=CausesState)


def bar() -> str:
    """Draw the row of tabs, before the model runs; the one that is open."""
    asked = persistent.text("tab")
    tab = asked if asked in TABS else "switch-off"
    with st.container(key="causes-bar", horizontal=True, vertical_alignment="center"):
        segments("tab", "Question", TABS, tab, hide_label=True)
        st.caption("Questions", help=definition("Questions"), width="content")
        experiments.menu()
    return tab


def current(state: type[State], bounds: Mapping[str, Any], start: State | None = None) -> State:
    """What the address asks of a tab; what it asks wrongly is said above the picture."""
    found, problems = read(state, persistent.texts(), bounds, start)
    layout.note(*persistent.of_link(problems))
    return found
