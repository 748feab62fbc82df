"""The tabs of the Causes page, the state of each, the input from its component, and the prepared experiments.

The numbers of an experiment were computed on the shipped translator; a button on the page computes them again.
"""

from dataclasses import dataclass

import streamlit as st

from attnviz.app import layout
from attnviz.app.address import persistent
from attnviz.app.address.widgets import segments
from attnviz.app.cache import traces
from attnviz.app.markdown import literal
from attnviz.app.reports import reported_view
from attnviz.app.request import Request
from attnviz.causes.numbers.experiments import Numbers, ReadyExperiment, experiment, ready_experiments
from attnviz.hosts.registry import PICTURES
from attnviz.kit.fields import PageState, choice, write_view
from attnviz.kit.glossary import definition
from attnviz.kit.wire import Payload
from attnviz.models.catalogue import DEFAULT

_KEY = "ready-experiment"
# Parameters of a previous experiment or patch, to be cleared.
_FRESH = dict.fromkeys(("tgt", "do", "changed", "put", "step", "a", "b", "c", "d", "way"))
OTHER_WEIGHTS = (
    "These results were computed with other weights of the model ({}). Press “Count again” to compute "
    "them with the present weights."
)
# Each picture declares its tab. "Many sentences" has no picture.
TABS = {one.tab: one.title for one in PICTURES.values() if one.page == "Causes"} | {"sentences": "Many sentences"}
_NOT_OF_IMAGES = {
    "patch": "Patch compares two sentences",
    "attribute": "Attribute splits the score of a label, and this model has no classifier",
    "sentences": "Many sentences reads a list of sentences",
}


@dataclass(frozen=True)
class CausesState(PageState):
    """State of the page Causes: the open tab, and the ready experiment whose panel is shown, if any.

    Each tab has its own state too.
    """

    tab: str = choice("switch-off", TABS)
    experiment: str = choice("", tuple(one.name for one in ready_experiments()))


def bar(request: Request) -> str:
    """Draw the row of tabs, before the model runs; return the name of the open tab.

    A model that reads images has the tabs that make sense for images. If a link names another one, a note says why it
    is not shown.
    """
    offered = _offered(request)
    asked = persistent.text("tab")
    tab = asked if asked in offered else "switch-off"
    if asked in TABS and asked not in offered:
        layout.note(f"{_NOT_OF_IMAGES[asked]}, so {TABS[tab]} is shown instead.")
    with st.container(key="causes-bar", horizontal=True, vertical_alignment="center"):
        segments("tab", "Question", offered, tab, hide_label=True)
        st.caption("Questions", help=definition("Questions"), width="content")
        if not request.image:
            menu()
    return tab


def _offered(request: Request) -> dict[str, str]:
    """Return the tabs that are possible for the model's input, titles by their names in addresses."""
    if not request.image:
        return TABS
    of_images = {one.tab for one in PICTURES.values() if one.page == "Causes" and "image" in one.inputs}
    if not getattr(traces.model(request.entry.name), "labels", ()):
        of_images -= {"attribute"}
    return {tab: title for tab, title in TABS.items() if tab in of_images}


def keep_shown(component: str, state: type, payload: Payload) -> None:
    """Remember the view that was sent to a component, so that `new_choices` can tell what the visitor changed."""
    st.session_state[f"{component}-shown"] = write_view(state, payload.header["view"])


def new_choices(component: str, state: type) -> dict[str, str | None]:
    """Return what was newly chosen in a component, as address parameters; None for an empty value."""
    key = f"{component}-shown"
    before, texts = st.session_state.get(key, {}), write_view(state, reported_view(component, state) or {})
    st.session_state[key] = before | texts
    return {name: text or None for name, text in texts.items() if text != before.get(name)}


def menu() -> None:
    """Draw the menu of experiments beside the tabs."""
    st.menu_button(
        "Ready experiments",
        [one.title for one in ready_experiments()],
        key=_KEY,
        on_click=_use,
        help=definition("Ready experiments"),
    )
    persistent.catch_up(_KEY, _use)


def panel(request: Request) -> None:
    """Draw the panel that explains the ready experiment that the address names, if any."""
    name = persistent.text("experiment")
    if name not in {one.name for one in ready_experiments()}:  # an unknown name is reported by the tab
        return
    one = experiment(name)
    asked = f"“{literal(one.typed_sentence)}”: “{literal(one.before)}” becomes “**{literal(one.after)}**”"
    # Closed at first, so that the switches stay visible.
    with st.expander(f"**{literal(one.title)}.** {asked}", key="ready-experiment-panel"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Set up again", key="ready-again", on_click=_set_up, args=(name,))
            st.button("Close", key="ready-close", on_click=_close)
        left, right = st.columns(2)
        with left:
            st.markdown(literal(one.happens))
            _draw_count(request, one)
        right.markdown(
            f"**What it teaches.** {literal(one.teaches)}\n\n**What it does not show.** {literal(one.does_not)}"
        )


def _draw_count(request: Request, one: ReadyExperiment) -> None:
    """Draw the count over many sentences, either the shipped numbers or those counted on this page."""
    if request.entry.name != DEFAULT:
        st.caption(
            "This experiment needs the shipped translator, but another model is chosen. Press “Set up "
            "again” to choose the shipped translator."
        )
        return
    loaded = traces.model(DEFAULT)
    key = f"counted-{one.name}-{loaded.model_id}"
    place = st.empty()
    if st.button("Count again", key="ready-count", help=definition("Count again")):
        with place, st.spinner("Counting"):
            st.session_state[key] = _count(loaded.model_id, one.name, loaded)
    now = st.session_state.get(key)
    said = literal(one.fill_numbers(now or one.numbers))
    place.markdown(f"**Over many sentences.** {said}{' *(counted just now)*' if now else ''}")
    if one.weights != loaded.model_id and not now:
        layout.note(OTHER_WEIGHTS.format(one.weights))


@st.cache_data(max_entries=16, show_spinner=False)
def _count(weights: str, name: str, _model) -> Numbers:
    from attnviz.causes.numbers.counts import count  # imports torch

    return count(name, _model)


def _use() -> None:
    titles = {one.title: one.name for one in ready_experiments()}
    if name := titles.get(st.session_state[_KEY]):
        _set_up(name)


def _set_up(name: str) -> None:
    """Write everything that the experiment needs into the address, as one history entry."""
    if persistent.text("model") not in ("", DEFAULT):
        persistent.write_model(DEFAULT)
    persistent.write({**_FRESH, **experiment(name).address, "experiment": name})


def _close() -> None:
    persistent.write({"experiment": None})
