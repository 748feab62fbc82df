"""The tabs of the Heads page: which one is open, and what each of them shows. Only the open one is computed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.maps.options import MapOptions
from attnviz.pictures.fields import (
    MEAN,
    Problem,
    Say,
    choice,
    declared,
    flag,
    is_index,
    number,
    read,
    text,
    whole,
    write,
)
from attnviz.text.glossary import definition
from attnviz.ui import layout
from attnviz.ui.address import persistent
from attnviz.ui.address.widgets import segments
from attnviz.ui.heads.state import HeadsState
from attnviz.views.terms import term

if TYPE_CHECKING:
    from attnviz.tracing.trace import TraceLike

TABS = {
    "heads": "Heads", "links": "Links", "model": "Whole model", "row": "One row", "neuron": "Neuron",
    "alignment": "Alignment", "flow": "Flow",
}  # fmt: skip
WHOLE_TRACE = ("alignment", "flow")  # which need logits and hidden states
_ALIGNER = re.compile(r"[a-z-]+\.(\d{1,3}|all)\.(\d{1,3}|all)\.(out|in)")
WHOLE = "whole"
_SHOWN = "tabs-shown"
_TOKEN = re.compile("[qk](0|[1-9][0-9]{0,4})")
NO_HEADS = "none"  # in a link; an empty text means the head in focus


def heads_text(heads: tuple[tuple[int, int], ...]) -> str:
    """Heads as a link holds them: `1.3~2.0`."""
    return "~".join(f"{layer}.{head}" for layer, head in heads) or NO_HEADS


def _held(text: str, bound: object, default: str, say: Say) -> str:
    """The token that is held, such as q3 or k0; whether the text is as long as that, the picture knows."""
    if _TOKEN.fullmatch(text):
        return text
    say("it is a query or a key and its position, such as q3 or k0", "none")
    return default


def _lines(text: str, sizes: tuple[int, int], default: object, say: Say) -> tuple[tuple[int, int], ...]:
    """The heads that a link names."""
    heads, bad = [], ""
    for part in text.split("~")[: sizes[0] * sizes[1]] if text != NO_HEADS else ():
        layer, _, head = part.partition(".")
        if is_index(layer, sizes[0]) and is_index(head, sizes[1]):
            heads.append((int(layer), int(head)))
        elif not bad:
            say("a head is layer.head, such as 1.3", "without that head", bad := part)
    return tuple(dict.fromkeys(heads))


def _aligner(text: str, bound: object, default: str, say: Say) -> str:
    """A way of aligning, as it is written; whether the model has it, the tab knows."""
    if _ALIGNER.fullmatch(text):
        return text
    say("it is a method, a layer, a head and what a row is read as, such as attribution.1.all.out", "the best one")
    return default


def _by(text: str, bound: object, default: str, say: Say) -> str:
    """Flow's method."""
    if text in ("rollout", "alti"):
        return text
    say("it can be rollout, alti", "the one that aligns best")
    return default


@dataclass(frozen=True)
class TabsState:
    """The view of the Heads tab, and what the other tabs add to it.

    `tab` is the open one. Links: `lines`, the chosen heads as (layer, head), `held`, a token such as "q3" or "k0",
    `opacity` ("fixed" or "max") and `fit` ("read" or "fit"). Whole model: `mini` ("map" or "lines"). Neuron: `query`
    and `key`, positions of tokens (None: that of the view's row; the one of most weight), and `order` ("position" or
    "contribution").
    Alignment: `aligner`, the way in the notation of `ui/heads/alignment.py` ("": the best one that is known), `drawn`
    ("lines" or "matrix"), `null`, whether a word may have no source, `gold`, whether links by hand are drawn, and
    `against`, a language that these are in. Flow: `followed`, the row where it is not the pinned one (None: the pinned
    one, or the middle one), `by` ("rollout" or "alti"; "": the one that aligns best, as far as is known), `residual`,
    its share in hundredths, and `flow`, whether maximum flow is computed.
    `quadrant` is "whole", or one such as "0-1": queries of the first segment, keys of the second.
    """

    view: HeadsState
    tab: str = choice("heads", tuple(TABS))
    lines: tuple[tuple[int, int], ...] = declared((), _lines, heads_text)
    held: str = declared("", _held)
    opacity: str = choice("fixed", ("fixed", "max"))
    fit: str = choice("read", ("read", "fit"))
    mini: str = choice("map", ("map", "lines"))
    query: int | None = whole()
    key: int | None = whole()
    order: str = choice("position", ("position", "contribution"))
    aligner: str = declared("", _aligner)
    drawn: str = choice("lines", ("lines", "matrix"))
    null: bool = flag()
    gold: bool = flag(default=True)
    against: str = text(limit=20)
    followed: int | None = whole(used="the pinned row")
    by: str = declared("", _by)
    residual: int = number(50, 0, 100)
    flow: bool = flag()
    quadrant: str = declared(WHOLE, lambda text, there, default, say: text if text in there else default)

    def options(self, kind: str) -> MapOptions:
        """How the maps of a kind are asked for; a quadrant belongs to the kind that is looked at."""
        query, _, key = self.quadrant.partition("-")
        quadrant = (int(query), int(key)) if key and kind == self.view.kind else None
        return MapOptions(self.view.specials, self.view.words, quadrant)

    def to_params(self) -> dict[str, str]:
        """Every option as the text that a link carries."""
        return self.view.to_params() | write(self)


def bar() -> Mapping[str, str]:
    """Draw the row of tabs; the texts that the address holds for them and for the Heads tab.

    It is sent before the model runs: the browser sees to it meanwhile, and has its hands free when the picture comes.
    """
    texts = persistent.texts()
    segments("tab", "View", TABS, texts["tab"] if texts["tab"] in TABS else "heads", hide_label=True)
    st.html(f"<div class='views'>{term('Views')}</div>", width="content")
    st.session_state["parts-slot"] = st.container(key="parts", width="content")
    return texts


def current(texts: Mapping[str, str], trace: "TraceLike", view: HeadsState) -> TabsState:
    """What the texts ask for; what they ask wrongly is said above the picture."""
    quadrants = _quadrants(trace, view)
    tabbed, problems = asked_for(texts, trace, view, quadrants)
    layout.note(*persistent.of_link(problems))
    if quadrants and tabbed.tab in ("heads", "links", "model"):  # others show every token
        _choose_quadrant(quadrants, tabbed.quadrant, is_pair=view.kind == "encoder_self")
    st.session_state[_SHOWN] = tabbed.to_params()
    return tabbed


def asked_for(
    texts: Mapping[str, str], trace: "TraceLike", view: HeadsState, quadrants: Mapping[str, str] = MappingProxyType({})
) -> tuple[TabsState, tuple[Problem, ...]]:
    """What texts ask for on a trace that has these quadrants, and what they ask wrongly."""
    sizes = trace.shape(view.kind)
    start = replace(TabsState(view), lines=_in_focus(view, sizes))
    return read(TabsState, texts, {"lines": sizes, "quadrant": quadrants}, start, view=view)


def _quadrants(trace: "TraceLike", view: HeadsState) -> dict[str, str]:
    """Names of the quadrants where a map has more than one: a pair's sentences, or a prompt and what follows."""
    from attnviz.maps.quadrants import quadrants

    found = {f"{q.query_segment}-{q.key_segment}": q.name for q in quadrants(trace, view.kind)}
    return found if len(found) > 1 else {}


def _in_focus(view: HeadsState, sizes: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """The head in focus, and for a mean all that it is made of."""
    layers, heads = (
        range(size) if at == MEAN else [int(at)] for at, size in zip((view.layer, view.head), sizes, strict=True)
    )
    return tuple((layer, head) for layer in layers for head in heads)


def _choose_quadrant(found: dict[str, str], chosen: str, *, is_pair: bool) -> None:
    with st.session_state["parts-slot"], st.container(horizontal=True, vertical_alignment="center", key="part-row"):
        said = "A, B: the two sentences" if is_pair else "A: the prompt, B: what was written"
        st.caption(said, width="content", help=definition("Quadrants"))
        segments("quadrant", "Quadrant of the maps", {WHOLE: "A + B"} | found, chosen, hide_label=True)


def take(texts: Mapping[str, object]) -> None:
    """Take over a choice made in a component: it becomes the address. What is as it was stays untouched."""
    shown = st.session_state.get(_SHOWN, {})
    chosen = {name: "" if value is None else str(value) for name, value in texts.items()}
    news = {name: text for name, text in chosen.items() if text != shown.get(name)}
    persistent.write(({"followed": ""} if "row" in news else {}) | news)  # Flow follows the row that is pinned last
