"""A small picture of a step beside its draft: the map of the head in focus, or its links."""

from typing import Any

import streamlit as st

from attnviz.app import charts
from attnviz.app.markdown import literal
from attnviz.heads.page.tabs import titles
from attnviz.lessons.lesson import Link
from attnviz.lessons.picture import LinkedPicture

_TALLEST = 400  # pixels
_DRAWN = ("heads", "links")


def draw(link: Link | None, shown: LinkedPicture | None) -> None:
    """Draw the picture of a step, and name the page on which the lesson opens it."""
    if link is None:
        st.caption("No picture: put a link into this step, or into one before it.")
        return
    name = link.texts.get("tab", "heads") if link.page == "Heads" else ""
    tab = titles().get(name, "")
    place = f"{link.page}, tab {tab}" if tab else link.page
    if shown is None:
        st.caption(f"The lesson opens {place}. The editor cannot draw this picture.")
        return
    try:
        charts.chart(_shrink(_figure(shown)), key="draft-step-chart")
    except ValueError as error:
        st.warning(literal(str(error)), icon=":material/error:")
        return
    is_it = name in _DRAWN
    st.caption(
        f"As the lesson opens it: {place}."
        if is_it
        else f"The lesson opens {place}. Here you see the map of the same head."
    )


def _figure(shown: LinkedPicture) -> Any:
    """Make the figure of the map in focus, or of the links if the step's link is to the tab Links."""
    from attnviz.heads.figures.heatmap import heatmap_of  # Plotly takes a while to import
    from attnviz.heads.figures.links import links
    from attnviz.heads.heads_state import HeadsState
    from attnviz.heads.page.state import read_page_state

    theme, texts = charts.theme(), shown.link.texts
    if shown.link.page != "Heads" or texts.get("tab") != "links":
        return heatmap_of(shown.maps, shown.layer, shown.head, theme=theme)
    state, _ = read_page_state(texts, shown.trace, HeadsState(shown.kind, shown.layer, shown.head))
    return links(
        shown.trace,
        shown.kind,
        state.states["links"].heads,
        specials=shown.options.specials,
        words=shown.options.words,
        theme=theme,
    )


def _shrink(made: Any) -> Any:
    """Shrink a figure to fit beside a text: remove axis names and colour scale, and shorten the title."""
    made.update_layout(height=min(made.layout.height, _TALLEST), title_text=made.layout.title.text.partition(":")[0])
    made.update_layout(margin_r=40)  # the last key's name leans over the edge
    made.update_xaxes(title_text="").update_yaxes(title_text="")
    return made.update_traces(showscale=False, selector={"type": "heatmap"})
