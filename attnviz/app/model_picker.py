"""The list of models in the top bar, and the dialog that opens another model by its folder or hub id.

`offered_models` decides which models a visitor may open. Every step checks this again, since a client can forge any
message.
"""

from collections import Counter
from collections.abc import Mapping

import streamlit as st

from attnviz.app import offered_models
from attnviz.app.address import persistent, widgets
from attnviz.app.cache import engine, toys, traces
from attnviz.app.frame.page import current_page
from attnviz.app.markdown import literal
from attnviz.app.offered_models import is_free
from attnviz.models.catalogue import DEFAULT, Entry, entries, unshipped_entry
from attnviz.models.towers import is_text_tower, tower_name, whole_name

_ANOTHER = "another"
_MOST_TYPED = 500  # characters of a folder or an id
_OPENED, _ASKED, _NEXT = "models-opened", "model-asked", "model-next"


def picker() -> Entry:
    """Draw the list of models, and return the chosen model's entry."""
    others = (*engine.names(), *offered_models.names_in_memory(), *opened_models())
    known = {entry.name: entry for entry in (*entries(), *map(unshipped_entry, others))}
    if not known:
        st.error(
            f"No model is installed, because assets/models does not contain {DEFAULT}. Please download the "
            "whole repository, or train a model."
        )
        st.stop()
    tower = _linked_name()
    linked = whole_name(tower) if offered_models.is_offered(tower) else tower  # whose name may ask the disk
    if linked and linked not in known:
        if toys.is_toy(linked) and len(linked) <= _MOST_TYPED:
            known[linked] = toys.entry(linked)
        elif is_free() and len(linked) <= _MOST_TYPED:
            known[linked] = unshipped_entry(linked)
        else:
            why = "which this server does not offer" if not is_free() else "which is too long for a name"
            current_page().add(f"The link asks for the model “{linked[:80]}”, {why}. Another model is shown.")
    value = linked if linked in known else next(iter(known))
    titles = distinct_titles({name: entry.title for name, entry in known.items()})
    titles |= {_ANOTHER: "Another model …"} if is_free() else {}

    def draw(**more) -> str:
        return st.selectbox("Model", list(titles), format_func=titles.__getitem__, **more)

    chosen = widgets.show("model-shown", value, {"index": list(titles).index(value)}, draw, _adopt)
    if st.session_state.pop(_ASKED, False) and is_free():
        _ask()
    found = known.get(chosen) or known.get(linked) or next(iter(known.values()))
    found = unshipped_entry(tower) if found.name == linked != tower else found
    return found if engine.can_run(found.name) else next(iter(known.values()))  # the choice waits in the address


def tower_choice(entry: Entry) -> None:
    """Draw the choice between the text tower and the vision tower of a model that has both, such as CLIP."""
    value = "text" if is_text_tower(entry.name) else "image"
    titles = {"text": "Text", "image": "Image"}

    def draw(**more) -> str | None:
        return st.segmented_control("Reads", list(titles), format_func=titles.__getitem__, required=True, **more)

    def take() -> None:
        _choose(tower_name(entry.name, is_text=st.session_state["tower-shown"] == "text"))
        persistent.write({"tab": None})  # the open tab may be for texts or for images alone

    widgets.show("tower-shown", value, {"default": value}, draw, take)


def ask_for_another() -> None:
    """Open the dialog for another model in the next run. Buttons use this as their callback."""
    st.session_state[_ASKED] = True


def distinct_titles(titles: Mapping[str, str]) -> dict[str, str]:
    """Return titles by name, all different: equal titles are replaced by the last parts of their names.

    Streamlit's list identifies a choice by its text, so of two equal titles only the last could be chosen.
    """
    counts = Counter(titles.values())
    same = [name for name, title in titles.items() if counts[title] > 1]
    for parts in range(2, max((name.count("/") for name in same), default=0) + 3):
        apart = {**titles, **{name: "/".join(name.split("/")[-parts:]) for name in same}}
        if len(set(apart.values())) == len(apart):
            return apart
    return {name: name for name in titles}


def opened_models() -> list[str]:
    """List the models in addition to the shipped ones: those that this instance offers, or that this visitor
    has opened.
    """
    return st.session_state.get(_OPENED, []) if is_free() else offered_models.offered_models()


def _linked_name() -> str:
    """Return the name of the model in the address, or of the model that the visitor has just opened."""
    if (name := st.session_state.pop(_NEXT, None)) and offered_models.is_offered(name):
        _choose(name)
    return persistent.text("model")


def _adopt() -> None:
    chosen = st.session_state["model-shown"]
    if chosen == _ANOTHER and is_free():
        st.session_state[_ASKED] = True
    elif offered_models.is_offered(chosen):
        _choose(chosen)


def _choose(name: str) -> None:
    """Write a model into the address, without the target that another model wrote."""
    persistent.write_model(name)
    persistent.write({"tgt": None})


@st.dialog("Open a model", icon=":material/folder_open:")
def _ask() -> None:
    st.markdown(
        "Type the folder of a checkpoint, the path of a GGUF file, or an id of the Hugging Face Hub. "
        "The model can be an encoder (BERT, RoBERTa, ALBERT …), a decoder (GPT-2, Llama, Mistral, "
        "Qwen, Gemma …), or both (Marian, BART, T5)."
    )
    with st.form("open-model", border=False):
        typed = st.text_input("Folder or hub id", key="model-typed", max_chars=_MOST_TYPED, placeholder="gpt2")
        pressed = st.form_submit_button("Open", type="primary")
    st.caption(
        "Only weights in safetensors or GGUF are read, and code that comes with a checkpoint is never run. A model is "
        "shown only if attnviz computes the same attention as transformers itself. If not, this dialog says why."
    )
    name = (typed or "").strip()
    if pressed and not name:
        st.error("Type a folder, or a hub id such as gpt2.")
    elif pressed:
        _open(name)


def _open(name: str) -> None:
    bar = st.progress(0.0, "Looking for the model")

    def tell(share: float, what: str) -> None:
        bar.progress(share, literal(what))

    try:
        offered_models.require(name)
        traces.model(name, tell)
    except ValueError as refusal:
        bar.empty()
        st.error(literal(str(refusal)), icon=":material/error:")
        return
    opened = whole_name(name)
    st.session_state[_OPENED] = [*(n for n in st.session_state.get(_OPENED, []) if n != opened), opened]
    st.session_state[_NEXT] = name
    st.rerun()
