"""The tabs of the page Causes, and helpers that read what was chosen in a tab's component."""

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
    """State of the page: the open tab, and the ready experiment in the panel, if any.

    Each tab has its own state too.
    """

    tab: str = choice("switch-off", TABS)
    experiment: str = choice("", tuple(one.name for one in ready_experiments()))


def bar() -> str:
    """Draw the row of tabs, before the model runs; return the name of the open tab."""
    asked = persistent.text("tab")
    tab = asked if asked in TABS else "switch-off"
    with st.container(key="causes-bar", horizontal=True, vertical_alignment="center"):
        segments("tab", "Question", TABS, tab, hide_label=True)
        st.caption("Questions", help=definition("Questions"), width="content")
        experiments.menu()
    return tab


def keep_shown(component: str, state: type, payload: Payload) -> None:
    """Remember the view that was sent to a component, so that `new_choices` can tell what the visitor changed."""
    st.session_state[f"{component}-shown"] = write_view(state, payload.header["view"])


def new_choices(component: str, state: type) -> dict[str, str | None]:
    """Return what was newly chosen in a component, as address parameters; None for an empty value."""
    key = f"{component}-shown"
    before, texts = st.session_state.get(key, {}), write_view(state, reported_view(component, state) or {})
    st.session_state[key] = before | texts
    return {name: text or None for name, text in texts.items() if text != before.get(name)}
