"""The tabs of the Heads page: which one is open, and what each of them shows. Only the open one is computed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.ui import frame
from attnviz.ui.address import persistent
from attnviz.ui.choices import Reader, segments
from attnviz.ui.heads_link import View

if TYPE_CHECKING:
    from attnviz.tracing.trace import Trace

TABS = {"heads": "Heads", "links": "Links", "model": "Whole model", "neuron": "Neuron"}
FIELDS = ("tab", "part", "lines", "held", "opacity", "fit", "mini", "query", "key", "order")
WHOLE = "whole"
_SHOWN = "tabs-shown"
_TOKEN = re.compile("[qk](0|[1-9][0-9]{0,4})")
NO_HEADS = "none"  # in a link; an empty text means the head in focus


@dataclass(frozen=True)
class Tabbed:
    """The view of the Heads tab, and what the other tabs add to it.

    `tab` is the open one. Links: `lines`, the chosen heads as (layer, head), `held`, a token such as "q3" or "k0",
    `opacity` ("fixed" or "max") and `fit` ("read" or "fit"). Whole model: `mini` ("map" or "lines"). Neuron: `query`
    and `key`, positions of tokens (None: that of the view's row; the one of most weight), and `order` ("position" or
    "contribution").
    `part` is "whole", or a quadrant such as "0-1": queries of the first part, keys of the second.
    """

    view: View
    tab: str = "heads"
    lines: tuple[tuple[int, int], ...] = ()
    held: str = ""
    opacity: str = "fixed"
    fit: str = "read"
    mini: str = "map"
    query: int | None = None
    key: int | None = None
    order: str = "position"
    part: str = WHOLE

    @property
    def parts(self) -> tuple[int, int] | None:
        """The quadrant as numbers of parts, None for the whole map."""
        query, _, key = self.part.partition("-")
        return (int(query), int(key)) if key else None

    def to_params(self) -> dict[str, str]:
        """Every option as the text that stands in a link."""
        texts = {name: str(getattr(self, name)) for name in FIELDS}
        texts |= {name: "" if getattr(self, name) is None else texts[name] for name in ("query", "key")}
        return self.view.to_params() | texts | {"lines": heads_text(self.lines)}


def heads_text(heads: tuple[tuple[int, int], ...]) -> str:
    """Heads as a link holds them: `1.3~2.0`."""
    return "~".join(f"{layer}.{head}" for layer, head in heads) or NO_HEADS


def bar() -> Mapping[str, str]:
    """Draw the row of tabs; the texts that the address holds for them and for the Heads tab.

    It is sent before the model runs: the browser sees to it meanwhile, and has its hands free when the picture comes.
    """
    texts = persistent.texts()
    segments("tab", "View", TABS, texts["tab"] if texts["tab"] in TABS else "heads", hide_label=True)
    st.session_state["parts-slot"] = st.container(key="parts", width="content")
    return texts


def current(texts: Mapping[str, str], trace: "Trace", view: View) -> Tabbed:
    """What the texts ask for; what they ask wrongly is said above the picture."""
    reader = Reader(texts)
    tabbed = Tabbed(
        view=view,
        tab=(tab := reader.one_of("tab", tuple(TABS), "heads")),
        held=_held(reader),
        opacity=reader.one_of("opacity", ("fixed", "max"), "fixed"),
        fit=reader.one_of("fit", ("read", "fit"), "read"),
        mini=reader.one_of("mini", ("map", "lines"), "map"),
        order=reader.one_of("order", ("position", "contribution"), "position"),
        part=_part(texts["part"], trace, view, is_shown=tab != "neuron"),  # which shows every token
    )
    lines, problems = _heads_of(texts["lines"], trace.shape(view.kind), view)
    query, key = (
        int(texts[name]) if texts[name].isdecimal() and len(texts[name]) < 6 else None for name in ("query", "key")
    )
    frame.say(*reader.problems, *problems)
    tabbed = replace(tabbed, lines=lines, query=query, key=key)
    st.session_state[_SHOWN] = tabbed.to_params()
    return tabbed


def _held(reader: Reader) -> str:
    """The token that is held, such as q3 or k0; whether the text is as long as that, the picture knows."""
    text = reader.params.get("held", "")
    if not text or _TOKEN.fullmatch(text):
        return text
    reader.say("held", "it is a query or a key and its position, such as q3 or k0", "none")
    return ""


def _part(text: str, trace: "Trace", view: View, *, is_shown: bool) -> str:
    """Draw the choice of quadrants where a map has more than one: a pair's sentences, or a prompt and what follows."""
    from attnviz.tracing.parts import quadrants

    found = {f"{q.query_part}-{q.key_part}": q.name for q in quadrants(trace, view.kind)}
    if len(found) < 2:
        return WHOLE
    chosen = text if text in found else WHOLE
    if is_shown:
        _choose_part(found, chosen, is_pair=view.kind == "encoder_self")
    return chosen


def _choose_part(found: dict[str, str], chosen: str, *, is_pair: bool) -> None:
    with st.session_state["parts-slot"], st.container(horizontal=True, vertical_alignment="center", key="part-row"):
        st.caption("A, B: the two sentences" if is_pair else "A: the prompt, B: what was written", width="content")
        segments("part", "Part of the maps", {WHOLE: "A + B"} | found, chosen, hide_label=True)


def take(texts: Mapping[str, object]) -> None:
    """Take over a choice made in a component: it becomes the address. What is as it was stays untouched."""
    shown = st.session_state.get(_SHOWN, {})
    chosen = {name: "" if value is None else str(value) for name, value in texts.items()}
    persistent.write({name: text for name, text in chosen.items() if text != shown.get(name)})


def _heads_of(text: str, sizes: tuple[int, int], view: View) -> tuple[tuple[tuple[int, int], ...], list[str]]:
    """The heads that a link names; without any, the head in focus, and for a mean all that it is made of."""
    if text == NO_HEADS:
        return (), []
    if not text:
        chosen = [
            range(size) if at == "mean" else [int(at)] for at, size in zip((view.layer, view.head), sizes, strict=True)
        ]
        return tuple((layer, head) for layer in chosen[0] for head in chosen[1]), []
    heads, problems = [], []
    for part in text.split("~")[: sizes[0] * sizes[1]]:
        layer, _, head = part.partition(".")
        if _is_index(layer, sizes[0]) and _is_index(head, sizes[1]):
            heads.append((int(layer), int(head)))
        else:
            problems.append(f"The link asks for lines of head “{part[:40]}”, but a head is layer.head, such as 1.3.")
    return tuple(dict.fromkeys(heads)), problems[:1]


def _is_index(text: str, count: int) -> bool:
    return text.isdecimal() and len(text) < 6 and int(text) < count
