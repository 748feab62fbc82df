"""The drawing of the model over a page: a key or a button opens it (`widgets/screen`), and nothing is made before."""

import streamlit as st

from attnviz.ui import mount
from attnviz.ui.drawing.drawn import PLACES, Pictured
from attnviz.ui.lessons import going
from attnviz.ui.markdown import literal
from attnviz.ui.reported import reported

_ASKED = "_attnviz_drawing_asked"
_PAGE = "_attnviz_drawing_of"
_MOST_TEXTS = 40  # of a place; nobody's address holds as many


def ask() -> None:
    """To be called when the button is pressed: the run that follows opens the sheet."""
    st.session_state[_ASKED] = True


def begin(shown: Pictured) -> None:
    """What this page would draw, as far as is known before its run; a page that is refused draws that."""
    st.session_state[_PAGE] = shown


def open_if_asked(shown: Pictured | None = None) -> None:
    """Call at the end of a page, once it is known what it draws."""
    if st.session_state.pop(_ASKED, False):
        _sheet(shown or st.session_state.get(_PAGE) or Pictured())


@st.dialog("The model", width="large", icon=":material/account_tree:")
def _sheet(shown: Pictured) -> None:
    with st.container(key="drawing-sheet"):
        draw(shown, key="drawing-in-sheet")


def draw(shown: Pictured, *, key: str) -> None:
    """The drawing; a click on a part opens its page. Where there is nothing to draw, a sentence says why."""
    from attnviz.ui.drawing.drawn import payload

    try:
        made = payload(shown)
    except ValueError as why:
        st.info(literal(str(why)), icon=":material/info:")
        return
    mount.model_drawing(made, key=key, on_go=lambda: _go(key))
    if going.is_going():
        st.rerun(scope="app")


def _go(key: str) -> None:
    """The run that follows opens the place that was clicked."""
    place = reported(key, "go", {"page": str, "texts": dict})
    if place is not None and place["page"] in PLACES:
        going.go_to(place["page"], place["texts"])
