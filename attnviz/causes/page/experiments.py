"""Ready-made experiments: a menu that sets one up, and a panel that says what the experiment shows and does not show.

The numbers were counted with the shipped translator; the panel can count them again.
"""

import streamlit as st

from attnviz.app import layout
from attnviz.app.address import persistent
from attnviz.app.cache import traces
from attnviz.app.markdown import literal
from attnviz.app.request import Request
from attnviz.causes.numbers.experiments import Numbers, ReadyExperiment, experiment, ready_experiments
from attnviz.kit.glossary import definition
from attnviz.models.catalogue import DEFAULT

_KEY = "ready-experiment"
# Parameters of a previous experiment or patch, to be cleared.
_FRESH = dict.fromkeys(("tgt", "do", "changed", "put", "step", "a", "b", "c", "d", "way"))
OTHER_WEIGHTS = "These results were counted with other weights ({}). Count again."


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
    """Draw the panel of the experiment that the address names, if any."""
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
        st.caption("This experiment uses the shipped translator. Set up again to choose that model.")
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
