"""The controls of the top bar, and the dialog with facts about the model.

Each function draws a control and returns the choice. All choices are kept in the address and from page to page.
"""

import html
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app import model_picker
from attnviz.app.address import persistent, widgets
from attnviz.app.cache import traces
from attnviz.app.frame import chat_bar, chat_editor
from attnviz.app.frame.image_field import image_field
from attnviz.app.frame.page import current_page
from attnviz.app.frame.sentence_field import Field, default_source, drop_written_target, examples, sentence
from attnviz.app.markdown import literal
from attnviz.app.request import Request
from attnviz.kit.fields import read, whole_number
from attnviz.models.catalogue import Entry
from attnviz.models.example_images import ALL_TITLES, offered_titles
from attnviz.models.inputs import Inputs
from attnviz.models.towers import is_text_tower
from attnviz.text.conversation import Turn
from attnviz.text.languages import language_name, named_code
from attnviz.text.limits import MAX_CHARACTERS

if TYPE_CHECKING:
    from attnviz.models.facts import Section

_TRANSLATED = (
    Field("src", "Source sentence", "Source", MAX_CHARACTERS),
    Field("tgt", "Target (empty: the model translates)", "Target", MAX_CHARACTERS),
)
_WRITTEN = (
    Field("src", "Source text", "Source"),
    Field("tgt", "Target (empty: the model writes it)", "Target"),
)
_PAIR = (
    Field("src", "Sentence", "Sentence"),
    Field("tgt", "Second sentence (may stay empty)", "Second sentence"),
)


NEW, MAX_NEW = 8, 64  # tokens after a prompt
FEW = f"0: only the prompt is read. At most {MAX_NEW}. The tab Reply of Decoding writes more, token by token"
_READ = Field("src", "Sentence", "Sentence")
_PROMPT = Field("src", "Prompt", "Prompt")


@dataclass(frozen=True)
class _Prompt:
    """The values of the controls beside a prompt's field."""

    new: int = whole_number(NEW, MAX_NEW + 1)


def top_bar() -> Request:
    """Draw the controls for the model and its texts, and return the request. Enter in a field starts a run."""
    bar = st.container(key="top-bar")
    picker, middle, run, menu, link = bar.columns([17, 85, 8, 12, 12], vertical_alignment="bottom", gap="small")
    with picker, st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall", key="model-row"):
        entry = model_picker.picker()
        asks_about = _draw_facts_button()
    with middle:
        request = _inputs(entry)
    run.button("Run", key="run", width="stretch")
    with menu:
        shown = tuple(offered_titles(entry.name).values()) if request.image else examples()
        st.menu_button("Examples", shown, key="example", on_click=_use_example, width="stretch")
        persistent.catch_up("example", _use_example)
    with link:
        _link_slots()
    if asks_about:
        _show_facts(entry)
    return request


def draw_own_bar(draw: Callable[[], None]) -> None:
    """Draw a top bar whose controls a page draws itself with `draw`, and the link to copy at its end."""
    left, link = st.container(key="top-bar").columns([112, 12], vertical_alignment="bottom", gap="small")
    with left:
        draw()
    with link:
        _link_slots()


def _link_slots() -> None:
    now = current_page()
    now.running, now.link = st.container(key="running").empty(), st.container()


def _inputs(entry: Entry) -> Request:
    """Draw the text fields that a model needs. A model that is not shipped is loaded first, to find out which."""
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
    if _has_two_towers(entry):
        left, right = st.columns([14, 71], vertical_alignment="bottom", gap="small")
        with left:
            model_picker.tower_choice(entry)
        with right:
            return _inputs_of(entry, asked)
    return _inputs_of(entry, asked)


def _has_two_towers(entry: Entry) -> bool:
    return is_text_tower(entry.name) or (not current_page().refusal and traces.has_text_tower(entry))


def _inputs_of(entry: Entry, asked: Inputs) -> Request:
    """Draw the fields for these inputs. If the model cannot read a conversation in the address, say so."""
    if asked is not Inputs.PROMPT:
        chat_bar.say_unsupported(
            f"{entry.title} cannot read a conversation. Only a decoder that writes text can do this."
        )
    return _ASKED[asked](entry)


def _source_and_target(entry: Entry) -> Request:
    columns = st.columns([46, 11, 28], vertical_alignment="bottom", gap="small")
    with columns[0]:
        src = sentence(_TRANSLATED[0])
    with columns[1]:
        to = _choice("to", "To", {code: language_name(code) for code in entry.languages}, on_change=drop_written_target)
    with columns[2]:
        tgt = sentence(_TRANSLATED[1])
    return Request(entry, src, to, tgt)


def _two_texts(fields: tuple[Field, Field]) -> Callable[[Entry], Request]:
    def draw(entry: Entry) -> Request:
        left, right = st.columns(2, vertical_alignment="bottom", gap="small")
        with left:
            src = sentence(fields[0])
        with right:
            tgt = sentence(fields[1])
        return Request(entry, src, tgt=tgt)

    return draw


def _source_text_and_target(entry: Entry) -> Request:
    """Draw source and target fields for a checkpoint, with a list between them if it has several languages."""
    languages = _languages(entry)
    if not languages:
        return _two_texts(_WRITTEN)(entry)
    columns = st.columns([35, 15, 35], vertical_alignment="bottom", gap="small")
    with columns[0]:
        src = sentence(_WRITTEN[0])
    with columns[1], st.container(key="languages"):
        to = _choice("to", "To", languages, on_change=drop_written_target)
    with columns[2]:
        return Request(entry, src, to, sentence(_WRITTEN[1]))


def _languages(entry: Entry) -> dict[str, str]:
    """Return a checkpoint's languages as {code: name}, its default language first; {} if it has no choice."""
    loaded = traces.model(entry.name)
    own = getattr(loaded, "own_language", "")
    names = dict(sorted(((code, named_code(code)) for code in loaded.languages), key=lambda named: named[1]))
    return {own: names.get(own, "not chosen")} | names if names else {}


def _prompt_or_chat(entry: Entry) -> Request:
    """Draw the controls for a prompt or a conversation, and return their request."""
    if not current_page().refusal and not traces.model(entry.name).writes:
        return Request(entry, sentence(_READ))  # a decoder without an output over a vocabulary, such as CLIP's texts
    is_offered = chat_bar.is_offered(entry)  # asked first: turns that cannot be run are the page's refusal
    turns = chat_bar.turns(entry)
    if is_offered:
        form, left, right = st.columns([15, 55, 15], vertical_alignment="bottom", gap="small")
        with form:
            chat_editor.draw_choice(default_source())
    else:
        left, right = st.columns([70, 15], vertical_alignment="bottom", gap="small")
    with left:
        src = _prompt_or_turns(turns)
    asked, problems = read(_Prompt, persistent.texts(), {})
    current_page().add(*persistent.linked_problems(problems))
    with right:
        new = _count(asked.new, is_answered=bool(turns) and turns[-1].role == "assistant")
    return Request(entry, src, new=new, messages=turns)


def _prompt_or_turns(turns: tuple[Turn, ...]) -> str:
    """Draw the prompt's field and return the prompt; or draw the conversation's editor and return ""."""
    if not turns:
        return sentence(_PROMPT)
    chat_editor.draw(chat_bar.drafted_turns() or turns)
    return ""


def _count(value: int, *, is_answered: bool) -> int:
    """Draw the field for the number of tokens to write.

    It is disabled if the conversation ends with an assistant turn.
    """
    means = "The last turn belongs to the assistant, so the model writes nothing after it" if is_answered else FEW

    def draw(**more) -> int:
        return st.number_input("Tokens to write", 0, MAX_NEW, help=means, disabled=is_answered, **more)

    def take() -> None:
        persistent.write({"new": str(st.session_state["new-shown"])})

    return widgets.show("new-shown", value, {"value": value}, draw, take)


def _image(entry: Entry) -> Request:
    return Request(entry, "", image=image_field(entry.name))


_ASKED: dict[Inputs, Callable[[Entry], Request]] = {
    Inputs.TRANSLATION: _source_and_target,
    Inputs.SOURCE_AND_TARGET: _source_text_and_target,
    Inputs.PAIR: _two_texts(_PAIR),
    Inputs.PROMPT: _prompt_or_chat,
    Inputs.IMAGE: _image,
}


def _choice(key: str, label: str, titles: dict[str, str], *, on_change: Callable[[], None] = lambda: None) -> str:
    """Draw a list of `titles`, and return the key of the chosen title. The address holds that key as the text `key`."""
    options, linked, shown = list(titles), persistent.text(key), f"{key}-shown"
    value = linked if linked in titles else options[0]

    def draw(**more) -> str:
        return st.selectbox(label, options, format_func=titles.__getitem__, **more)

    def take() -> None:
        persistent.write({key: st.session_state[shown]})
        on_change()

    return widgets.show(shown, value, {"index": options.index(value)}, draw, take)


def _use_example() -> None:
    example = st.session_state["example"]
    if name := next((name for name, title in ALL_TITLES.items() if title == example), ""):
        persistent.write({"image": name})
    elif not chat_bar.use_example(example):
        persistent.write({"src": example, "tgt": None})


def _draw_facts_button() -> bool:
    """Draw the button that opens the facts about the model; return whether it was pressed."""
    return st.button("About this model", key="model-facts")


def _show_facts(entry: Entry) -> None:
    """Open the dialog with the facts about a model."""
    st.dialog(literal(entry.title), width="large", icon=":material/info:")(_draw_facts)(entry)


def _draw_facts(entry: Entry) -> None:
    try:
        loaded = traces.model(entry.name)
        found = _cached_facts(loaded.model_id, entry.name, loaded, facts_html)
    except ValueError as refusal:
        st.error(literal(str(refusal)), icon=":material/error:")
        return
    st.html(f"<div class='model-facts'>{found}</div>")


@st.cache_data(max_entries=64, show_spinner="Loading the model …")
def _cached_facts(weights: str, name: str, _model, _drawn) -> str:
    from attnviz.models.facts import any_input, sections

    to = _model.languages[0] if _model.languages else ""
    return _drawn(sections(_model, traces.run(_model, any_input(_model), to=to)))


def facts_html(sections: "Iterable[Section]") -> str:
    """Return the sections as HTML, each with a heading and its facts."""
    return "".join(f"<section><h3>{html.escape(one.title)}</h3><dl>{_facts(one)}</dl></section>" for one in sections)


def _facts(section: "Section") -> str:
    return "".join(
        f"<div><dt>{html.escape(name)}</dt><dd dir='auto'>{html.escape(said)}</dd></div>"
        for name, said in section.facts.items()
    )
