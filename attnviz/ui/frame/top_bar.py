"""The top bar's controls. Each draws itself and returns what was chosen; all are kept in the link and across pages."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.models.catalogue import Entry
from attnviz.models.inputs import Inputs
from attnviz.pictures.fields import read, whole_number
from attnviz.places import ASSETS
from attnviz.text.languages import language_name, named_code
from attnviz.text.limits import MAX_CHARACTERS, cut_to_limit, prefix_notes
from attnviz.ui import model_facts, model_picker
from attnviz.ui.address import persistent, widgets
from attnviz.ui.cache import traces
from attnviz.ui.frame import chat_bar
from attnviz.ui.frame.page import current_page
from attnviz.ui.markdown import literal
from attnviz.ui.request import Request

NEW, MAX_NEW = 8, 64  # tokens after a prompt
EXAMPLES = ASSETS / "examples.json"
_MOST_TYPED = 8_192  # characters for a checkpoint, whose tokenizer then says how many tokens of them are kept


@dataclass(frozen=True)
class _Field:
    """A sentence in the bar: the label above it, what a note calls it, and how many characters it takes."""

    key: str
    label: str
    name: str
    most: int = _MOST_TYPED


_TRANSLATED = (
    _Field("src", "Source sentence", "Source", MAX_CHARACTERS),
    _Field("tgt", "Target (empty: the model translates)", "Target", MAX_CHARACTERS),
)
_WRITTEN = (
    _Field("src", "Source text", "Source"),
    _Field("tgt", "Target (empty: the model writes it)", "Target"),
)
_PAIR = (
    _Field("src", "Sentence", "Sentence"),
    _Field("tgt", "Second sentence (may stay empty)", "Second sentence"),
)
_PROMPT = _Field("src", "Prompt", "Prompt")


@cache
def examples() -> tuple[str, ...]:
    """Return sentences to try."""
    return tuple(json.loads(EXAMPLES.read_text(encoding="utf-8")))


def top_bar() -> Request:
    """Draw the model's and its texts' controls, and return the request; Enter runs."""
    bar = st.container(key="top-bar")
    picker, middle, run, menu, link = bar.columns([17, 85, 8, 12, 12], vertical_alignment="bottom", gap="small")
    with picker, st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall", key="model-row"):
        entry = model_picker.picker()
        asks_about = model_facts.button()
    with middle:
        request = _inputs(entry)
    run.button("Run", key="run", width="stretch")
    with menu:
        st.menu_button("Examples", examples(), key="example", on_click=_use_example, width="stretch")
        persistent.catch_up("example", _use_example)
    with link:
        _link_slots()
    if asks_about:
        model_facts.show(entry)
    return request


def draw_own_bar(draw: Callable[[], None]) -> None:
    """Draw the bar of a page that has one of its own, with the link to copy at its end."""
    left, link = st.container(key="top-bar").columns([112, 12], vertical_alignment="bottom", gap="small")
    with left:
        draw()
    with link:
        _link_slots()


def _link_slots() -> None:
    now = current_page()
    now.running, now.link = st.container(key="running").empty(), st.container()


def _inputs(entry: Entry) -> Request:
    """Draw the sentences that a model asks for. A model that is not shipped is loaded first, to know them."""
    places: list[DeltaGenerator] = []

    def tell(share: float, what: str) -> None:
        if not places:
            places.append(st.empty())
        places[0].progress(share, literal(what))

    try:
        asked = traces.inputs(entry, tell)
        if asked.has_language and not entry.languages:  # a translator of one's own
            entry = replace(entry, languages=tuple(traces.model(entry.name).languages))
    except ValueError as refusal:
        current_page().refusal = str(refusal)
        asked = Inputs.PROMPT
    for place in places:
        place.empty()
    if asked is not Inputs.PROMPT:
        chat_bar.say_unsupported(f"{entry.title} takes no conversation: that takes a decoder that writes text.")
    return _ASKED[asked](entry)


def _source_and_target(entry: Entry) -> Request:
    columns = st.columns([46, 11, 28], vertical_alignment="bottom", gap="small")
    with columns[0]:
        src = _sentence(_TRANSLATED[0])
    with columns[1]:
        to = _choice("to", "To", {code: language_name(code) for code in entry.languages}, on_change=drop_written_target)
    with columns[2]:
        tgt = _sentence(_TRANSLATED[1])
    return Request(entry, src, to, tgt)


def _two_texts(fields: tuple[_Field, _Field]) -> Callable[[Entry], Request]:
    def draw(entry: Entry) -> Request:
        left, right = st.columns(2, vertical_alignment="bottom", gap="small")
        with left:
            src = _sentence(fields[0])
        with right:
            tgt = _sentence(fields[1])
        return Request(entry, src, tgt=tgt)

    return draw


def _source_text_and_target(entry: Entry) -> Request:
    """Source and target of a checkpoint, with a list of its languages between them where it has several."""
    languages = _languages(entry)
    if not languages:
        return _two_texts(_WRITTEN)(entry)
    columns = st.columns([35, 15, 35], vertical_alignment="bottom", gap="small")
    with columns[0]:
        src = _sentence(_WRITTEN[0])
    with columns[1], st.container(key="languages"):
        to = _choice("to", "To", languages, on_change=drop_written_target)
    with columns[2]:
        return Request(entry, src, to, _sentence(_WRITTEN[1]))


def _languages(entry: Entry) -> dict[str, str]:
    """Return the languages of a checkpoint with their names; its own comes first, or "not chosen"."""
    loaded = traces.model(entry.name)
    own = getattr(loaded, "own_language", "")
    names = dict(sorted(((code, named_code(code)) for code in loaded.languages), key=lambda named: named[1]))
    return {own: names.get(own, "not chosen")} | names if names else {}


@dataclass(frozen=True)
class _Prompt:
    """The bar's controls besides a prompt."""

    new: int = whole_number(NEW, MAX_NEW + 1)


def _prompt(entry: Entry) -> Request:
    left, right = st.columns([70, 15], vertical_alignment="bottom", gap="small")
    turns = chat_bar.turns(entry)
    with left:
        src = "" if turns else _sentence(_PROMPT)
    asked, problems = read(_Prompt, persistent.texts(), {})
    current_page().add(*persistent.linked_problems(problems))
    with right:
        new = _count("new", "Tokens to write", asked.new, help="0: only the prompt is read")
    return Request(entry, src, new=new, messages=turns)


def _count(key: str, label: str, value: int, **options: str) -> int:
    def draw(**more) -> int:
        return st.number_input(label, 0, MAX_NEW, **options, **more)

    def take() -> None:
        persistent.write({key: str(st.session_state[shown])})

    shown = f"{key}-shown"
    return widgets.show(shown, value, {"value": value}, draw, take)


_ASKED: dict[Inputs, Callable[[Entry], Request]] = {
    Inputs.TRANSLATION: _source_and_target,
    Inputs.SOURCE_AND_TARGET: _source_text_and_target,
    Inputs.PAIR: _two_texts(_PAIR),
    Inputs.PROMPT: _prompt,
}


def _choice(key: str, label: str, titles: dict[str, str], *, on_change: Callable[[], None] = lambda: None) -> str:
    """Draw a choice of `titles`; the address holds its key."""
    options, linked, shown = list(titles), persistent.text(key), f"{key}-shown"
    value = linked if linked in titles else options[0]

    def draw(**more) -> str:
        return st.selectbox(label, options, format_func=titles.__getitem__, **more)

    def take() -> None:
        persistent.write({key: st.session_state[shown]})
        on_change()

    return widgets.show(shown, value, {"index": options.index(value)}, draw, take)


def _sentence(field: _Field) -> str:
    """Draw a sentence's field, and return its text."""
    source = chat_bar.last_user_text() or examples()[2]
    default, changed = {"src": (source, drop_written_target), "tgt": ("", _target_typed)}[field.key]
    value, shown = persistent.text(field.key, default), f"{field.key}-shown"

    def draw(**more) -> str | None:
        return st.text_input(field.label, **more)

    def take() -> None:
        typed, note = cut_to_limit(st.session_state[shown] or "", field.most)
        if note:
            st.session_state[f"{field.key}-note"] = prefix_notes(field.name, (note,))
        persistent.write({field.key: None if typed == default else typed})
        changed()

    widgets.show(shown, value, {"value": value}, draw, take)
    for note in st.session_state.pop(f"{field.key}-note", ()):
        current_page().add(note)
    return value


def drop_written_target() -> None:
    """Drop a target that the model wrote for another sentence; one that a person typed stays."""
    if persistent.text("tgt") != st.session_state.get("tgt-typed"):
        persistent.write({"tgt": None})


def _target_typed() -> None:
    st.session_state["tgt-typed"] = persistent.text("tgt").strip() and persistent.text("tgt")


def _use_example() -> None:
    persistent.write({"src": st.session_state["example"], "tgt": None, "chat": None})
