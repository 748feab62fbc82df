"""What the Heads page hands out besides its picture: the map in Plotly, the numbers as a table, the whole trace."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.analysis.tables import weights_table
from attnviz.ui.heads_link import View

if TYPE_CHECKING:
    from attnviz.tracing.trace import Trace

Whole = Callable[[], "Trace"]  # with what the picture does without: logits and hidden states


def below(whole: "Whole", maps, view: View) -> None:
    """The Plotly figure and the table, where they are asked for; the trace to download, always, made when asked for."""
    if view.plotly:
        from attnviz.views.heatmaps import heatmap_of  # Plotly takes a while to import

        theme = st.context.theme.type or "light"
        figure = heatmap_of(maps, view.layer, view.head, theme=theme, mask=view.mask)
        st.plotly_chart(figure, key="plotly", width="stretch", theme=None)
    if view.table:
        st.dataframe(weights_table(maps, view.layer, view.head), key="weights", height=320, hide_index=True)
    st.download_button(
        "Whole trace (npz)", lambda: npz(whole()), file_name="trace.npz", key="npz", on_click="ignore", width="content"
    )


def npz(trace: "Trace") -> bytes:
    """The trace as a file's content."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.npz"
        trace.save(path)
        return path.read_bytes()
