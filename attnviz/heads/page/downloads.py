"""What the page Heads offers besides its picture: the Plotly figure, the table of weights, and the trace as a file."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from attnviz.app import captions, charts, hosting
from attnviz.app.address import persistent
from attnviz.app.mount import scroll_when_opened
from attnviz.heads.heads_state import HeadsState
from attnviz.kit.views.labels import MEASURES, map_title

if TYPE_CHECKING:
    from attnviz.heads.heads import HeadsPicture
    from attnviz.maps.maps import Maps
    from attnviz.tracing.external.weights import BareWeights
    from attnviz.tracing.trace import Trace

# Returns the trace with logits and hidden states, which the picture does not need.
Whole = Callable[[], "Trace | BareWeights"]

_TITLES = {"plotly": "The head in focus as a Plotly figure", "table": "The head in focus as a table"}


def draw_below(picture: "HeadsPicture | None") -> None:
    """Draw the Plotly figure and the table if they are switched on; None if they are not."""
    _part("plotly", picture, _figure)
    _part("table", picture, _table)


def is_open(picture: "HeadsPicture") -> bool:
    """Check whether the Plotly figure or the table is switched on."""
    return any(getattr(picture.state, name) for name in _TITLES)


def draw_download(whole: "Whole") -> None:
    """Draw the button that downloads the whole trace."""
    st.download_button(
        "Whole trace (npz)",
        hosting.file_in_turn(lambda: npz(whole())),
        file_name="trace.npz",
        key="npz",
        on_click="ignore",
        width="content",
    )


def _part(name: str, picture: "HeadsPicture | None", draw: "Callable[[tuple[Maps, str], HeadsState], Any]") -> None:
    """Draw the figure or table that a switch opens below the picture, scroll to it, and offer a button that
    closes it.
    """
    key, shown = f"below-{name}", picture if picture is not None and getattr(picture.state, name) else None
    scroll_when_opened(key, is_open=shown is not None)
    if shown is None:
        return
    with st.container(key=key, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"**{_TITLES[name]}**: {_site(shown.state)}")
            st.button("Close", key=f"{key}-close", icon=":material/close:", on_click=_close, args=(name,))
        draw(shown.drawn_maps(), shown.state)


def _site(view: HeadsState) -> str:
    return map_title(view.kind, view.layer, view.head).partition(":")[0]


def _close(name: str) -> None:
    persistent.write({name: "0"})


def _figure(drawn: "tuple[Maps, str]", view: HeadsState) -> None:
    from attnviz.heads.figures.heatmap import heatmap_of  # imported here because Plotly is slow to import

    (maps, measure), how = drawn, {"theme": charts.theme(), "mask": view.mask}
    if measure != "weight":
        how |= {"zmax": float(maps.weights(view.layer, view.head).max()) or 1.0, "measure": MEASURES[measure]}
    made = heatmap_of(maps, view.layer, view.head, **how)
    charts.show(made, key="map-figure", table=lambda: _numbers(drawn, view), caption=captions.lines(_site(view)))


def _table(drawn: "tuple[Maps, str]", view: HeadsState) -> None:
    st.dataframe(_numbers(drawn, view), key="weights", height=320, hide_index=True)


def _numbers(drawn: "tuple[Maps, str]", view: HeadsState):
    from attnviz.analysis.tables import weights_table  # imported here because pandas is slow to import

    maps, measure = drawn
    return weights_table(maps, view.layer, view.head).rename(columns={"weight": measure})


def npz(trace: "Trace | BareWeights") -> bytes:
    """Return the trace as the content of an npz file."""
    from attnviz.tracing.storage import save

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.npz"
        save(trace, path)
        return path.read_bytes()
