"""Widgets as components of Streamlit, and which scripts go along with which.

A message that the browser has is sent as a hash, but one with other data never is. So a large widget, and a small one
that every page has, is two components, which meet in a slot (`widgets/shared/js/slots.js`): one carries the script and
the styles, the same at every run; the other has the data and waits for the script. Which widget a page will draw its
layout knows before the model runs, and has it carried by `definitions`, so that the page has no component more.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from attnviz.ui.sending.remembered import by_content
from attnviz.widgets.bundle import WIDGETS, joined, source

# Characters of a script that is carried. A message of as many bytes Streamlit sends as a hash where the browser has it.
_LARGE = 10_000
_OF_EVERY_PAGE = ("screen", "rail", "copy_link")  # small widgets with other data in every run
_CARRIED = "_attnviz_carried"


@cache
def mounted(name: str) -> Callable[..., Any]:
    """The widget as a function that draws it; `key` and `data` are those of Streamlit's component."""
    widget = source(name)
    if not _is_carried(name):
        return component(f"attnviz_{name}", html=widget.html, css=widget.style or None, js=widget.script)
    drawing = component(f"attnviz_{name}", html=widget.html, css=_own_style(name) or None, js=_waiting(name))

    def draw(*, key: str, **given: Any) -> Any:
        carried: set[str] = st.session_state.get(_CARRIED, set())
        if name not in carried:
            _carrier(name)(key=f"carried-{key}")
        carried.discard(name)
        return drawing(key=key, **given)

    return draw


def _is_carried(name: str) -> bool:
    return name in _OF_EVERY_PAGE or len(source(name).script) >= _LARGE


def _own_style(name: str) -> str:
    """The styles that stay with the data, where there is something to see before the script is there."""
    return source(name).style if name in _OF_EVERY_PAGE else ""


@cache
def _carrier(name: str) -> Callable[..., Any]:
    script = _delivery(name) + "export default () => {};\n"
    return component(by_content(f"attnviz_{name}_script", script), html="<div></div>", js=script)


def _delivery(name: str) -> str:
    """A statement that puts a widget's script and styles into its slot."""
    widget, module = source(name), joined(WIDGETS / "shared/js/delivery.js")
    style = "" if _own_style(name) else widget.style
    return f"{module}.deliver({_slot(name)}, {json.dumps(style)}, () => {widget.module}.default);\n"


def _waiting(name: str) -> str:
    """The script of the component that has the data."""
    return f"export default {joined(WIDGETS / 'shared/js/slots.js')}.drawing({_slot(name)});\n"


def _slot(name: str) -> str:
    """The name of a widget's slot, as JavaScript."""
    return json.dumps(f"{name}-{source(name).digest}")


def definitions(data: str, *, key: str, on_go: Callable[[], None], carries: str = "") -> None:
    """Explain the `words` of `data`, each by its definition, wherever they stand on the page, while something points at
    them.

    It draws nothing by itself: it watches the buttons, list entries and labels of the page, Streamlit's and those in
    our widgets, and finds each by the text that it shows, or by its `data-term` (`attnviz.views.terms`). A widget that
    explains its own terms (`shared/js/definitions.js`) is left alone; both have one bubble and one look. Drawn once a
    page, by its layout; `data`, which is JSON, is part of the script, the same in every answer, so that Streamlit sends
    but a hash of it. `carries` names the large widget that is going to be drawn, if there is one: its script goes
    along, and those of every page. `on_go` is called when a link to one of `places` is followed, and finds the word in
    ``st.session_state[key]["go"]``.
    """
    carried = tuple(filter(None, (*_OF_EVERY_PAGE, carries if carries and _is_carried(carries) else "")))
    _definitions(data, carried)(key=key, on_go_change=on_go)
    st.session_state[_CARRIED] = set(carried)


@cache
def _definitions(data: str, carried: tuple[str, ...]) -> Callable[..., Any]:
    widget = source("definitions")
    drawing = f"export default (given) => {widget.module}.default({{ ...given, data: {data} }});\n"
    script = "".join(map(_delivery, carried)) + drawing
    name = by_content("_".join(("attnviz_definitions", *carried)), script)
    return component(name, html=widget.html, css=widget.style or None, js=script)
