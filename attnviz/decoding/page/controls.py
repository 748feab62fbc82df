"""The controls of the page Decoding. Together they give a `DecodingState`, which is stored in the address."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app import layout
from attnviz.app.address import persistent, widgets
from attnviz.app.address.widgets import segments
from attnviz.app.cache import traces
from attnviz.app.reports import reported_view
from attnviz.decoding.decoding import (
    CHOICES,
    DROPOUT,
    DTYPES,
    MASKS,
    MORE,
    NUMBERS,
    OF_CHOICE,
    WAYS,
    DecodingState,
    view_of,
)
from attnviz.kit.fields import write_view
from attnviz.kit.glossary import definition
from attnviz.models.catalogue import Entry

TABS = {"steps": "Step by step", "reply": "Reply"}
COMPONENT = "stepper"
PLACE = ("step", "layer", "head")
PLACE_SHOWN = "place-shown"  # session key of the step, layer and head that the component shows
CODES = {"way": WAYS, "choose": CHOICES, "causal": MASKS, "dtype": DTYPES, "more": MORE}


def current_state(trace, entry: Entry) -> DecodingState:
    """Return the options in the address. Invalid values are reported above the picture."""
    start = {name: entry.start[name] for name in ("layer", "head") if name in entry.start}
    asked, problems = view_of(persistent.texts(), trace.n_layers, trace.n_heads, start)
    layout.note(*persistent.linked_problems(problems))
    return asked


def draw_stepping(asked: DecodingState, *, is_own: bool = True) -> dict[str, Any]:
    """Draw the options of stepping, of choosing tokens, and of the loss.

    A checkpoint has no beam search, and its own padding.
    """
    bar = _fold("How it steps", is_open=not asked.is_plain).container(
        key="decoding-bar", horizontal=True, vertical_alignment="bottom", gap="xsmall"
    )
    chosen: dict[str, Any] = {"way": draw_one_of(asked, "way", "Ways to step", bar, help=_definitions(*WAYS.values()))}
    without = () if is_own else ("beam",)
    if asked.choose in without:
        layout.note("Only attnviz's own translators can use a beam. Here each step takes the most likely token.")
    chosen["choose"] = draw_one_of(
        asked, "choose", "Next token", bar, without=without, help=_definitions(*CHOICES.values())
    )
    for name, label in OF_CHOICE.get(chosen["choose"], {}).items():
        chosen[name] = draw_number(asked, name, label, bar)
    chosen["seed"] = draw_number(asked, "seed", "Seed", bar)
    chosen["smoothing"] = draw_number(asked, "smoothing", "Smoothing", bar)
    if is_own:
        chosen["padding"] = draw_number(asked, "padding", "Padding", bar)
    return chosen


def draw_switches(asked: DecodingState, *, is_own: bool = True) -> dict[str, Any]:
    """Draw the switches that break the decoding on purpose, for this visitor only. They work only on our own models."""
    fold = _fold("Break it", is_open=bool(asked.broken_switches) and is_own)
    if not is_own:
        fold.caption(
            "The switches under “Break it” work only with attnviz's own translators. This checkpoint "
            "runs unchanged. You can change its mask on the Masks page."
        )
        return {}
    here = fold.container(key="break-it", horizontal=True, vertical_alignment="center", gap="medium")
    here.markdown("What each does", width="content", help=_definitions(*SWITCHES, first=definition("Break it")))
    return {
        "causal": _list(asked, "causal", "Causal mask", here),
        "dtype": _list(asked, "dtype", "Precision (dtype) of the steps", here),
        "dropout": _switch(asked, "dropout", f"Dropout {DROPOUT:g} left on", here, help=definition("Dropout left on")),
        "restart": _switch(
            asked,
            "restart",
            "Positions restart in the cache",
            here,
            help=definition("Positions restart in the cache"),
        ),
    }


def draw_part_choice(asked: DecodingState) -> dict[str, Any]:
    """Draw the choice of the part that is shown at the bottom of the page: costs, experiment, tables or nothing."""

    def draw(**more) -> str | None:
        look: dict[str, Any] = {"label_visibility": "collapsed", "help": _definitions(*MORE.values())}
        return st.segmented_control("More", list(MORE), format_func=MORE.__getitem__, **look, **more)

    widgets.show("more-shown", asked.more, {"default": asked.more}, draw, lambda: _take("more", "more-shown"))
    return {"more": asked.more}


def experiment(asked: DecodingState) -> dict[str, Any]:
    """Draw the controls of the untrained experiment (ids, seed and causal mask), if the experiment is shown."""
    if asked.more != "experiment":
        return {}
    columns = st.columns([3, 3, 2, 3], vertical_alignment="bottom")
    labels = {"ids_src": "Source ids", "ids_tgt": "Target ids"}
    chosen: dict[str, Any] = {
        name: _text(asked, name, label, column) for column, (name, label) in zip(columns, labels.items(), strict=False)
    }
    chosen["ids_seed"] = draw_number(asked, "ids_seed", "Seed of the weights", columns[2], width="stretch")
    chosen["ids_causal"] = _switch(asked, "ids_causal", "Causal mask", columns[3])
    return chosen


def join_choices(asked: DecodingState, chosen: Mapping[str, Any]) -> DecodingState:
    """Combine the options of the drawn controls with the step, layer and head in the address."""
    return DecodingState(**chosen, **{name: getattr(asked, name) for name in PLACE})  # type: ignore[arg-type]


def adopt() -> None:
    """Write what was newly chosen in the component into the address."""
    chosen = reported_view(COMPONENT, DecodingState) or {}
    shown = st.session_state.get(PLACE_SHOWN, {})
    news = {name: value for name, value in chosen.items() if value != shown.get(name)}
    persistent.write(write_view(DecodingState, news))
    st.session_state[PLACE_SHOWN] = shown | news


def _fold(label: str, *, is_open: bool) -> DeltaGenerator:
    """Draw an expander, closed at first unless a link sets something in it."""
    key = f"fold-{label.lower().replace(' ', '-')}"
    if not persistent.is_drawn(key):
        st.session_state[key] = is_open
    return st.expander(label, expanded=st.session_state[key])


def draw_one_of(asked: Any, name: str, label: str, where, *, without: Sequence[str] = (), **options) -> str:
    """Draw a row of choices for one field of the state."""
    known = {code: title for code, title in CODES[name].items() if code not in without}

    def draw(**more) -> str:
        titles = known.__getitem__
        return where.segmented_control(label, list(known), format_func=titles, required=True, **options, **more)

    value, key = getattr(asked, name), f"{name}-shown"
    value = value if value in known else next(iter(known))
    return widgets.show(key, value, {"default": value}, draw, lambda: _take(name, key))


def _list(asked: DecodingState, name: str, label: str, where) -> str:
    known, value, key = CODES[name], getattr(asked, name), f"{name}-shown"

    def draw(**more) -> str:
        look: dict[str, Any] = {"label_visibility": "collapsed", "width": 170}
        return where.selectbox(label, list(known), format_func=known.__getitem__, **look, **more)

    return widgets.show(key, value, {"index": list(known).index(value)}, draw, lambda: _take(name, key))


def draw_number(asked: Any, name: str, label: str, where, **options) -> float:
    """Draw a number input for one field of the state."""
    number, value = NUMBERS[name], getattr(asked, name)
    low, high, step = (type(value)(n) for n in (number.low, number.high, number.step))
    options = {"width": _WIDTHS.get(name, 68), "help": definition(label)} | options

    def draw(**more) -> float:
        return where.number_input(label, low, high, step=step, **options, **more)

    return widgets.show(name, value, {"value": value}, draw, lambda: _take(name, name))


def _switch(asked: DecodingState, name: str, label: str, where, **options) -> bool:
    def draw(**more) -> bool:
        return where.toggle(label, **options, **more)

    value = getattr(asked, name)
    return widgets.show(name, value, {"value": value}, draw, lambda: _take(name, name))


def _text(asked: DecodingState, name: str, label: str, where) -> str:
    value = getattr(asked, name)
    return widgets.show(
        name, value, {"value": value}, lambda **more: where.text_input(label, **more), lambda: _take(name, name)
    )


def _take(name: str, key: str) -> None:
    value = st.session_state[key]
    persistent.write({name: str(int(value)) if isinstance(value, bool) else None if value is None else str(value)})


_WIDTHS = {"smoothing": 94, "temperature": 82, "padding": 78, "beam": 76}  # pixels, so that each label fits on one line
SWITCHES = ("Causal mask", "Precision (dtype) of the steps", "Dropout left on", "Positions restart in the cache")


def _definitions(*terms: str, first: str = "") -> str:
    """Return a paragraph with the definition of each term, for a widget's help text."""
    return "\n\n".join([*([first] if first else []), *(f"**{term}**: {definition(term)}" for term in terms)])


def draw_bar(entry: Entry) -> str:
    """Draw the row of tabs, and return the name of the open one.

    The row is omitted for a model that writes no replies, unless a link asks for the tab Reply.
    """
    chosen = persistent.text("tab")
    shown = chosen if chosen in TABS else "steps"
    if shown == "steps" and not writes_replies(entry):
        return shown
    means = "\n\n".join(f"**{title}**: {definition(title)}" for title in TABS.values())
    segments("tab", "View", TABS, shown, hide_label=True, means=means)
    return shown


def writes_replies(entry: Entry) -> bool:
    """Return whether a model continues a text or a conversation, as decoders do."""
    return traces.inputs(entry).is_prompt
