"""The tabs of the Causes page, and how each reads its state and hears its component."""

from dataclasses import dataclass

import streamlit as st

from attnviz.app.address import persistent
from attnviz.app.address.widgets import segments
from attnviz.app.reports import reported_view
from attnviz.causes.numbers.experiments import ready_experiments
from attnviz.causes.page import experiments
from attnviz.kit.fields import PageState, choice, write_view
from attnviz.kit.glossary import definition
from attnviz.kit.wire import Payload

TABS = {
    "switch-off": "Switch off",
    "patch": "Patch",
    "attribute": "Attribute",
    "compare": "Compare",
    "sentences": "Many sentences",
}


@dataclass(frozen=True)
class CausesState(PageState):
    """The open tab, and the ready experiment that the panel explains, if any; each tab has a state of its own."""

    tab: str = choice("switch-off", TABS)
    experiment: str = choice("", tuple(one.name for one in ready_experiments()))


def bar() -> str:
    """Draw the row of tabs, before the model runs; return the one that is open."""
    asked = persistent.text("tab")
    tab = asked if asked in TABS else "switch-off"
    with st.container(key="causes-bar", horizontal=True, vertical_alignment="center"):
        segments("tab", "Question", TABS, tab, hide_label=True)
        st.caption("Questions", help=definition("Questions"), width="content")
        experiments.menu()
    return tab


def keep_shown(component: str, state: type, payload: Payload) -> None:
    """Keep the view that a component is sent, to hear what is chosen in it."""
    st.session_state[f"{component}-shown"] = write_view(state, payload.header["view"])


def new_choices(component: str, state: type) -> dict[str, str | None]:
    """Return what was newly chosen in a component, as texts for the address; None for an empty one."""
    key = f"{component}-shown"
    before, texts = st.session_state.get(key, {}), write_view(state, reported_view(component, state) or {})
    st.session_state[key] = before | texts
    return {name: text or None for name, text in texts.items() if text != before.get(name)}
