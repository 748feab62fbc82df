"""Several maps side by side that share the row axis, for example a map, another one, and their difference."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.kit.views import colour
from attnviz.kit.views.labels import FONT, hover_name, ticks
from attnviz.text.entries import columns_of

Scale = Literal["weights", "signed"]
MOST_GAPS = 60  # maximum cells along a map with gaps; for more, the gaps would hide the cells
NAME, MOST_NAMES = 14, 17  # height of a label in pixels, and maximum labels along a map
DOWN = "← {}"  # the axis title is rotated, so this arrow points down on screen


@dataclass(frozen=True, eq=False)
class Panel:
    """One map `(rows, cols)`: "weights" are coloured from 0 to 1, "signed" values on the diverging scale around 0."""

    title: str
    z: np.ndarray
    scale: Scale = "weights"


def panels_figure(
    panels: Sequence[Panel], rows: Sequence[str], cols: Sequence[str], *, title: str, theme: str = "light"
) -> go.Figure:
    """Draw maps of the same tokens, with exact values in tooltips.

    NaN cells are crossed, and the title says so. `rows` and `cols` are displayable texts, escaped here. Raise
    ValueError for an unknown theme.
    """
    look = colour.theme(theme)
    figure = make_subplots(
        1,
        len(panels),
        subplot_titles=[_panel_title(panel) for panel in panels],
        shared_yaxes=True,
        horizontal_spacing=0.03,
    )
    for column, panel in enumerate(panels, start=1):
        figure.add_trace(_heatmap(panel, look, rows=rows, cols=cols), row=1, col=column)
        if np.isnan(panel.z).any():
            figure.add_trace(_not_numbers(panel, look), row=1, col=column)
    axis = {"showgrid": False, "zeroline": False, "color": look.muted, "linecolor": look.line}
    figure.update_xaxes(
        **ticks(list(cols), most=MOST_NAMES), tickangle=-90, title={"text": "key →", "standoff": 4}, **axis
    )
    figure.update_xaxes(automargin=True, ticklen=2)
    figure.update_yaxes(**ticks(list(rows), most=MOST_NAMES), autorange="reversed", ticklen=2, **axis)
    figure.update_yaxes(title={"text": DOWN.format("query"), "standoff": 4}, automargin=True, row=1, col=1)
    figure.update_annotations(font_size=12)
    figure = style_figure(figure, title, look)
    height = min(max(len(rows), 8), MOST_NAMES) * NAME
    return figure.update_layout(height=height + 130, margin={"t": 56, "b": 44, "r": 8})


def panels_table(panels: Sequence[Panel], rows: Sequence[str], cols: Sequence[str]) -> pd.DataFrame:
    """Return a table with one row per cell: its row and key with their positions from 0, the value in each
    panel, and, if known, the piece and id of row and key.
    """
    cells = pd.DataFrame(
        {
            "row": np.repeat(np.arange(len(rows)), len(cols)),
            "query": np.repeat(np.array(list(map(str, rows)), dtype=object), len(cols)),
            "key_position": np.tile(np.arange(len(cols)), len(rows)),
            "key": list(map(str, cols)) * len(rows),
        }
    )
    found = cells.assign(**{panel.title: panel.z.ravel() for panel in panels})
    of_rows = {name: np.repeat(values, len(cols)) for name, values in columns_of("query", rows).items()}
    return found.assign(
        **of_rows, **{name: np.tile(values, len(rows)) for name, values in columns_of("key", cols).items()}
    )


def style_figure(figure: go.Figure, title: str, look: colour.Theme) -> go.Figure:
    """Give a figure the page's colours and fonts, and space for a title of two lines."""
    return figure.update_layout(
        title={"text": title, "font": {"size": 14}, "x": 0, "xref": "container", "xanchor": "left", "pad": {"l": 12}},
        font={"family": FONT, "size": 12, "color": look.text},
        paper_bgcolor=look.panel,
        plot_bgcolor=look.panel,
        margin={"l": 70, "r": 20, "t": 78, "b": 60},
    )


def _panel_title(panel: Panel) -> str:
    if np.isnan(panel.z).all():
        return f"{panel.title} · NaN everywhere"
    nans = " · × is NaN" if np.isnan(panel.z).any() else ""
    if panel.scale == "signed" and not nans and not panel.z.any():
        return f"{panel.title} · 0 in every cell"
    if panel.scale == "weights":
        return f"{panel.title} · 0 … 1{nans}"
    return f"{panel.title} · ±{_largest_magnitude(panel.z):.3g}{nans}"


def _largest_magnitude(z: np.ndarray) -> float:
    finite = np.abs(z[np.isfinite(z)])
    return float(finite.max()) if finite.size and finite.max() > 0 else 1.0


def _not_numbers(panel: Panel, look: colour.Theme) -> go.Scatter:
    """Draw a cross on each NaN cell, because a blank cell would look like 0."""
    rows, cols = np.nonzero(np.isnan(panel.z))
    return go.Scatter(
        x=cols,
        y=rows,
        mode="markers",
        marker={"symbol": "x-thin", "size": 7, "line": {"width": 1.5, "color": look.text}},
        hovertemplate="NaN<extra></extra>",
        showlegend=False,
        name="NaN",
    )


def _heatmap(panel: Panel, look: colour.Theme, *, rows: Sequence[str], cols: Sequence[str]) -> go.Heatmap:
    signed = panel.scale == "signed"
    most = _largest_magnitude(panel.z) if signed else 1.0
    gap = int(max(panel.z.shape) <= MOST_GAPS)
    down, across = ([hover_name(label) for label in labels] for labels in (rows, cols))
    names = np.array([[[row, col] for col in across] for row in down], dtype=object)
    return go.Heatmap(
        z=np.where(np.isfinite(panel.z), panel.z, np.nan).astype(np.float32),
        zmin=-most if signed else 0,
        zmax=most,
        colorscale=colour.plotly_scale(look.diverging if signed else look.sequential),
        showscale=False,
        customdata=names,
        hovertemplate="%{customdata[0]}<br>%{customdata[1]}<br>%{z:.6g}<extra></extra>",
        xgap=gap,
        ygap=gap,
        name=panel.title,
    )
