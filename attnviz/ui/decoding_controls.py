"""The Decoding page's controls. Each draws itself; together they are a `DecodingView`, kept in the address."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from attnviz.models.catalogue import Entry
from attnviz.text.glossary import definition
from attnviz.ui import frame
from attnviz.ui.components.told import NUMBER, SITE, told
from attnviz.ui.decoding_link import (
    CHOICES,
    DROPOUT,
    DTYPES,
    IDS,
    MASKS,
    MORE,
    NUMBERS,
    OF_CHOICE,
    PARAM,
    WAYS,
    DecodingView,
    link_problems,
    place,
)

COMPONENT = "stepper"
PLACE = {name: PARAM.get(name, name) for name in ("step", "layer", "head")}
LEAVING = "leaving-for-heads"
PLACE_SHOWN = "place-shown"  # step, layer and head as the component shows them
CODES = {"way": WAYS, "choose": CHOICES, "causal": MASKS, "dtype": DTYPES, "more": MORE}


def linked() -> None:
    """What the address says of step, head and codes, in inputs that nobody sees; what it asks wrongly is said above.

    A bound list would put its titles into the address, not the codes.
    """
    with st.container(key="link-state"):
        for name in (*PLACE.values(), *CODES):
            st.text_input(name, key=name, bind="query-params")
    frame.say(*link_problems(st.query_params))


def stepping(*, is_own: bool = True) -> dict[str, Any]:
    """How to step, how to choose, and what the training side is compared with. A checkpoint has no beam here, and its
    padding is its own.
    """
    bar = st.container(key="decoding-bar", horizontal=True, vertical_alignment="bottom", gap="xsmall")
    chosen: dict[str, Any] = {"way": _one_of("way", "Ways to step", bar, help=_defined(*WAYS.values()))}
    without = () if is_own else ("beam",)
    if st.session_state.get("choose") in without:
        frame.say("A beam is kept by attnviz's own translators only: here each step takes the likeliest token.")
    chosen["choose"] = _one_of("choose", "Next token", bar, without=without, help=_defined(*CHOICES.values()))
    for name, label in OF_CHOICE.get(chosen["choose"], {}).items():
        chosen[name] = _number(name, label, bar)
    chosen["seed"] = _number("seed", "Seed", bar)
    chosen["smoothing"] = _number("smoothing", "Smoothing", bar)
    if is_own:
        chosen["padding"] = _number("padding", "Padding", bar)
    return chosen


def breaking(*, is_own: bool = True) -> dict[str, Any]:
    """The switches that break it on purpose, for this visitor alone; they reach into models of our own only."""
    if not is_own:
        st.caption(
            "Break it: the switches change how attnviz's own translators compute. This checkpoint is run as it is; "
            "its mask can be changed on the Masks page."
        )
        return {}
    here = st.container(key="break-it", horizontal=True, vertical_alignment="center", gap="medium")
    here.markdown("**Break it**", width="content", help=_defined(*SWITCHES, first=definition("Break it")))
    return {
        "causal": _listed("causal", "Causal mask", here),
        "dtype": _listed("dtype", "Type that the steps run in", here),
        "dropout": here.toggle(
            f"Dropout {DROPOUT:g} left on", key="dropout", bind="query-params", help=definition("Dropout left on")
        ),
        "restart": here.toggle(
            "Positions restart in the cache",
            key="restart",
            bind="query-params",
            help=definition("Positions restart in the cache"),
        ),
    }


def more() -> dict[str, Any]:
    """What else is drawn below."""
    return {
        "more": st.segmented_control(
            "More",
            list(MORE),
            format_func=MORE.__getitem__,
            key=_shown("more"),
            on_change=_adopt_code,
            args=("more",),
            label_visibility="collapsed",
            help=_defined(*MORE.values()),
        )
    }


def experiment(shown: str | None) -> dict[str, Any]:
    """The untrained experiment's ids and seed, where it is shown."""
    if shown != "experiment":
        return {}
    columns = st.columns([3, 3, 2, 3], vertical_alignment="bottom")
    labels = {"ids_src": "Source ids", "ids_tgt": "Target ids"}
    chosen: dict[str, Any] = {
        name: column.text_input(labels[name], ids, key=name, bind="query-params")
        for column, (name, ids) in zip(columns, IDS.items(), strict=False)
    }
    seed = NUMBERS["ids_seed"]
    chosen["ids_seed"] = columns[2].number_input(
        "Seed of the weights", int(seed.low), int(seed.high), key="ids_seed", bind="query-params"
    )
    chosen["ids_causal"] = columns[3].toggle("Causal mask", value=True, key="ids_causal", bind="query-params")
    return chosen


def view_of(chosen: Mapping[str, Any], trace, entry: Entry) -> DecodingView:
    """All options as one, with the step and head that the address asks for."""
    texts = {name: st.session_state.get(key) or "" for name, key in PLACE.items()}
    start = {name: entry.start.get(name, "mean") for name in ("layer", "head")}
    found, problems = place(texts, trace.n_layers, trace.n_heads, start=start)
    frame.say(*problems)
    return DecodingView(**chosen, **found)  # type: ignore[arg-type]


def adopt() -> None:
    """Take over what was chosen in the component: it becomes the address. What is as it was stays untouched."""
    chosen = told(COMPONENT, "view", {"step": NUMBER, "layer": SITE, "head": SITE}) or {}
    shown = st.session_state.get(PLACE_SHOWN, {})
    # Each text that changes is an entry in the browser's history.
    news = {name: chosen[name] for name in PLACE if name in chosen and chosen[name] != shown.get(name)}
    for name, value in news.items():
        st.session_state[PLACE[name]] = str(value)
    st.session_state[PLACE_SHOWN] = shown | news


def _shown(name: str) -> str:
    """The key of the widget that people see, set to what the address says; what it cannot be is the first choice."""
    key, known, code = f"{name}-shown", CODES[name], st.session_state.get(name)
    st.session_state[key] = code if code in known else None if name == "more" else next(iter(known))
    return key


def _adopt_code(name: str) -> None:
    st.session_state[name] = st.session_state[f"{name}-shown"] or ""


def _one_of(name: str, label: str, where, *, without: Sequence[str] = (), **options) -> str:
    known = {code: title for code, title in CODES[name].items() if code not in without}
    changed: dict[str, Any] = {"key": _shown(name), "on_change": _adopt_code, "args": (name,)}
    if st.session_state[changed["key"]] in without:
        st.session_state[changed["key"]] = next(iter(known))
    return where.segmented_control(
        label, list(known), format_func=known.__getitem__, required=True, **changed, **options
    )


def _listed(name: str, label: str, where) -> str:
    known = CODES[name]
    changed: dict[str, Any] = {"key": _shown(name), "on_change": _adopt_code, "args": (name,)}
    return where.selectbox(
        label, list(known), format_func=known.__getitem__, label_visibility="collapsed", width=170, **changed
    )


def _number(name: str, label: str, where) -> float:
    number = NUMBERS[name]
    whole = number.step == 1
    low, high, default, step = (
        (int(n) if whole else float(n)) for n in (number.low, number.high, number.default, number.step)
    )
    return where.number_input(
        label,
        low,
        high,
        default,
        step,
        key=name,
        bind="query-params",
        width=_WIDTHS.get(name, 68),
        help=definition(label),
    )


_WIDTHS = {"smoothing": 94, "temperature": 76, "padding": 78, "beam": 76}  # pixels; a label stands on one line
SWITCHES = ("Causal mask", "Type that the steps run in", "Dropout left on", "Positions restart in the cache")


def _defined(*terms: str, first: str = "") -> str:
    """A paragraph for each term of a widget, its name in front."""
    return "\n\n".join([*([first] if first else []), *(f"**{term}**: {definition(term)}" for term in terms)])
