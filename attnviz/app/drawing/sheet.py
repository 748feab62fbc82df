"""The drawing of the model, which opens over a page, and the explanations of a page's words at the pointer.

A key or a button opens the drawing (`widgets/screen`); nothing is computed before that. Each explanation has a link to
a page where the visitor can try the thing it explains.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from attnviz.app import mount
from attnviz.app.address import navigation, persistent
from attnviz.app.components import widget
from attnviz.app.drawing.drawing_data import PLACES, Pictured
from attnviz.app.markdown import literal
from attnviz.app.reports import TEXT, reported_value
from attnviz.kit.glossary import TryPlace, places_of, words_of

if TYPE_CHECKING:
    from attnviz.app.address.share import Linkable
    from attnviz.app.request import Request
    from attnviz.tracing.trace_like import TraceLike

_ASKED = "_attnviz_drawing_asked"
_PAGE = "_attnviz_drawing_of"
_KEY = "definitions"


def ask() -> None:
    """Open the drawing in the next run. Buttons use this as their callback."""
    st.session_state[_ASKED] = True


def begin(page: str, request: "Request | None") -> None:
    """Note the page's title and request before the model runs, so that the drawing can open even if the run is
    refused.
    """
    st.session_state[_PAGE] = Pictured(page, request)


def open_if_asked(view: "Linkable | None" = None, own: "TraceLike | None" = None) -> None:
    """Open the drawing at the end of a page's run, if the visitor has asked for it.

    `view` is the page's state. `own` is the trace of the visitor's own weights, if the page shows those.
    """
    if st.session_state.pop(_ASKED, False):
        _sheet(replace(st.session_state[_PAGE], view=view, own=own))


@st.dialog("The model", width="large", icon=":material/account_tree:")
def _sheet(shown: Pictured) -> None:
    with st.container(key="drawing-sheet"):
        if shown.own is None and shown.request is None:
            st.caption("This page runs models of its own. The drawing shows the model that the other pages run.")
        draw(shown, key="drawing-in-sheet")
        if shown.page:
            _words(shown.page)


def _words(page: str) -> None:
    from attnviz.kit.views.terms import words_html

    def address(place: TryPlace) -> str:
        return f"{place.page.lower()}?{urlencode(place_address(place))}"

    with st.expander("Words on this page, and where to try them", icon=":material/dictionary:"):
        st.html(words_html(page, address))


def draw(shown: Pictured, *, key: str) -> None:
    """Draw the model; a click on a part opens its page. If no model can be drawn, the reason is shown instead."""
    from attnviz.app.drawing.drawing_data import payload

    try:
        made = payload(shown)
    except ValueError as why:
        st.info(literal(str(why)), icon=":material/info:")
        return
    mount.model_drawing(made, key=key, on_go=lambda: _go(key))
    if navigation.is_going():
        st.rerun(scope="app")


def _go(key: str) -> None:
    """Open the page of the part that was clicked, in the next run."""
    place = reported_value(key, "go", {"page": TEXT, "query": TEXT})
    if place is not None and place["page"] in PLACES:
        navigation.send(place["page"], dict(parse_qsl(place["query"])))


def explain_words(page: str) -> None:
    """Explain each word of the page's glossary while the pointer or the keyboard focus is on it.

    The component draws nothing itself. It watches buttons, list entries and labels, both Streamlit's and those of our
    widgets, and recognizes them by their text or their `data-term` (`attnviz.kit.views.terms`). It skips widgets that
    explain their own terms (`kit/js/definitions.js`). Those widgets show their explanations in the same kind of bubble.
    """
    widget(_KEY)(key=_KEY, data=_words_data(page), on_go_change=lambda: _go_to_place(page))


def _words_data(page: str) -> dict[str, Any]:
    """Return the explanations of a page's words, and for each word the page and tab where the visitor can try it."""
    places = {term: (place.page, place.tab, place.title) for term, place in places_of(page).items()}
    return {"words": dict(words_of(page)), "places": places}


def place_address(place: TryPlace) -> dict[str, str]:
    """Return the address of a place to try a word: the page as this visitor left it, with the place's tab."""
    texts = {name: text for name, text in persistent.address(place.page).items() if name != "tab"}
    return texts | ({"tab": place.tab} if place.tab else {})


def _go_to_place(page: str) -> None:
    """Open the place to try the word whose link was clicked, in the next run."""
    asked = reported_value(_KEY, "go", {"word": TEXT})
    place = places_of(page).get(asked["word"]) if asked is not None else None
    if place is not None:
        navigation.send(place.page, place_address(place))
