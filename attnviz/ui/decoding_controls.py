"""The Decoding page's controls. Each draws itself; together they are a `DecodingView`, kept in the address."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from attnviz.models.catalogue import Entry
from attnviz.ui import choices, frame
from attnviz.ui.address import persistent
from attnviz.ui.decoding_link import (
    CHOICES,
    DROPOUT,
    DTYPES,
    MASKS,
    MORE,
    NUMBERS,
    OF_CHOICE,
    WAYS,
    DecodingView,
    view_of,
)

COMPONENT = "stepper"
PLACE = {"step": "step", "layer": "map_layer", "head": "map_head"}  # in the address
PLACE_SHOWN = "place-shown"  # step, layer and head as the component shows them
CODES = {"way": WAYS, "choose": CHOICES, "causal": MASKS, "dtype": DTYPES, "more": MORE}


def linked(trace, entry: Entry) -> DecodingView:
    """The view that the address asks for; what it asks wrongly is said above."""
    start = {name: entry.start[name] for name in ("layer", "head") if name in entry.start}
    asked, problems = view_of(persistent.texts(), trace.n_layers, trace.n_heads, start)
    frame.say(*persistent.of_link(problems))
    return asked


def stepping(asked: DecodingView, *, is_own: bool = True) -> dict[str, Any]:
    """How to step, how to choose, and what the training side is compared with. A checkpoint has no beam here, and its
    padding is its own.
    """
    bar = st.container(key="decoding-bar", horizontal=True, vertical_alignment="bottom", gap="xsmall")
    chosen: dict[str, Any] = {"way": _one_of(asked, "way", "Ways to step", bar, help=_WAY_HELP)}
    without = () if is_own else ("beam",)
    if asked.choose in without:
        frame.say("A beam is kept by attnviz's own translators only: here each step takes the likeliest token.")
    chosen["choose"] = _one_of(asked, "choose", "Next token", bar, without=without, help=_CHOOSE_HELP)
    for name, label in OF_CHOICE.get(chosen["choose"], {}).items():
        chosen[name] = _number(asked, name, label, bar, help=_HELPS.get(name))
    chosen["seed"] = _number(
        asked, "seed", "Seed", bar, help="Of sampling and of dropout: the same seed, the same numbers."
    )
    chosen["smoothing"] = _number(asked, "smoothing", "Smoothing", bar, help=_SMOOTHING_HELP)
    if is_own:
        chosen["padding"] = _number(asked, "padding", "Padding", bar, help=_PADDING_HELP)
    return chosen


def breaking(asked: DecodingView, *, is_own: bool = True) -> dict[str, Any]:
    """The switches that break it on purpose, for this visitor alone; they reach into models of our own only."""
    if not is_own:
        st.caption(
            "Break it: the switches change how attnviz's own translators compute. This checkpoint is run as it is; "
            "its mask can be changed on the Masks page."
        )
        return {}
    here = st.container(key="break-it", horizontal=True, vertical_alignment="center", gap="medium")
    here.markdown("**Break it**", width="content", help=_BREAK_HELP)
    return {
        "causal": _listed(asked, "causal", "Causal mask", here),
        "dtype": _listed(asked, "dtype", "Type that the steps run in", here),
        "dropout": _switch(asked, "dropout", f"Dropout {DROPOUT:g} left on", here),
        "restart": _switch(asked, "restart", "Positions restart in the cache", here),
    }


def more(asked: DecodingView) -> dict[str, Any]:
    """What else is drawn below."""

    def draw(**more) -> str | None:
        titles = MORE.__getitem__
        return st.segmented_control("More", list(MORE), format_func=titles, label_visibility="collapsed", **more)

    choices.show("more-shown", asked.more, {"default": asked.more}, draw, lambda: _take("more", "more-shown"))
    return {"more": asked.more}


def experiment(asked: DecodingView) -> dict[str, Any]:
    """The untrained experiment's ids and seed, where it is shown."""
    if asked.more != "experiment":
        return {}
    columns = st.columns([3, 3, 2, 3], vertical_alignment="bottom")
    labels = {"ids_src": "Source ids", "ids_tgt": "Target ids"}
    chosen: dict[str, Any] = {
        name: _text(asked, name, label, column) for column, (name, label) in zip(columns, labels.items(), strict=False)
    }
    chosen["ids_seed"] = _number(asked, "ids_seed", "Seed of the weights", columns[2], width="stretch")
    chosen["ids_causal"] = _switch(asked, "ids_causal", "Causal mask", columns[3])
    return chosen


def shown(asked: DecodingView, chosen: Mapping[str, Any]) -> DecodingView:
    """All options as one: what the controls that are drawn say, and the step and head that the address asks for."""
    return DecodingView(**chosen, **{name: getattr(asked, name) for name in PLACE})  # type: ignore[arg-type]


def adopt() -> None:
    """Take over what was chosen in the component: it becomes the address. What is as it was stays untouched."""
    chosen = (st.session_state.get(COMPONENT) or {}).get("view") or {}
    shown = st.session_state.get(PLACE_SHOWN, {})
    news = {name: chosen[name] for name in PLACE if name in chosen and chosen[name] != shown.get(name)}
    persistent.write({PLACE[name]: str(value) for name, value in news.items()})
    st.session_state[PLACE_SHOWN] = shown | news


def _one_of(asked: DecodingView, name: str, label: str, where, *, without: Sequence[str] = (), **options) -> str:
    known = {code: title for code, title in CODES[name].items() if code not in without}

    def draw(**more) -> str:
        titles = known.__getitem__
        return where.segmented_control(label, list(known), format_func=titles, required=True, **options, **more)

    value, key = getattr(asked, name), f"{name}-shown"
    value = value if value in known else next(iter(known))
    return choices.show(key, value, {"default": value}, draw, lambda: _take(name, key))


def _listed(asked: DecodingView, name: str, label: str, where) -> str:
    known, value, key = CODES[name], getattr(asked, name), f"{name}-shown"

    def draw(**more) -> str:
        look: dict[str, Any] = {"label_visibility": "collapsed", "width": 170}
        return where.selectbox(label, list(known), format_func=known.__getitem__, **look, **more)

    return choices.show(key, value, {"index": list(known).index(value)}, draw, lambda: _take(name, key))


def _number(asked: DecodingView, name: str, label: str, where, **options) -> float:
    number, value = NUMBERS[name], getattr(asked, name)
    low, high, step = (type(value)(n) for n in (number.low, number.high, number.step))
    options = {"width": _WIDTHS.get(name, 68)} | options

    def draw(**more) -> float:
        return where.number_input(label, low, high, step=step, **options, **more)

    return choices.show(name, value, {"value": value}, draw, lambda: _take(name, name))


def _switch(asked: DecodingView, name: str, label: str, where) -> bool:
    value = getattr(asked, name)
    return choices.show(
        name, value, {"value": value}, lambda **more: where.toggle(label, **more), lambda: _take(name, name)
    )


def _text(asked: DecodingView, name: str, label: str, where) -> str:
    value = getattr(asked, name)
    return choices.show(
        name, value, {"value": value}, lambda **more: where.text_input(label, **more), lambda: _take(name, name)
    )


def _take(name: str, key: str) -> None:
    value = st.session_state[key]
    persistent.write({name: str(int(value)) if isinstance(value, bool) else None if value is None else str(value)})


_WIDTHS = {"smoothing": 94, "temperature": 76, "padding": 78, "beam": 76}  # pixels; a label stands on one line
_HELPS = {
    "top_k": "Only this many likeliest tokens can be drawn; 0: all.",
    "top_p": "Only the likeliest tokens that together hold this much probability can be drawn; 1: all.",
}
_BREAK_HELP = "Each switch changes the real computation of your own runs, and of nobody else's."
_WAY_HELP = (
    "KV cache: keys and values of earlier tokens are kept, a step computes one row. Recompute: the whole prefix goes "
    "in again at every step. Teacher's prefix: what training reads (its inputs, left) is fed, whatever the model would "
    "choose itself; where a model continues a prompt, that is the prompt and what follows it (a continuation of your "
    "own stands in the prompt)."
)
_CHOOSE_HELP = "Greedy takes the likeliest token, sampled draws one, a beam keeps several sentences and the best wins."
_SMOOTHING_HELP = (
    "Label smoothing: with ε the label is asked for 1 − ε and every entry of the vocabulary for its share of ε: it "
    "does not pay to be too sure."
)
_PADDING_HELP = "How many <pad> fill the target up, as when it stands in a batch with a longer one."
