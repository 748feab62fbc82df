"""Charts of how a head's measures are distributed over sentences, and how often its strongest key has each role."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.kit.views import colour
from attnviz.kit.views.panels import style_figure

BINS = 16
_COLUMNS = 3


def edges(values: np.ndarray) -> np.ndarray:
    """Compute the edges of equal bins over all finite values, so that the histograms of all heads share them."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    return np.linspace(low, high if high > low else low + 1, BINS + 1)


def counts(values: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Count the finite values in each bin `(BINS,)`."""
    return np.histogram(values[np.isfinite(values)], along)[0]


def distribution_figure(
    measures: Mapping[str, tuple[np.ndarray, np.ndarray]], *, title: str, theme: str = "light"
) -> go.Figure:
    """Draw a small histogram of each measure over the sentences, with bin edges that all heads share.

    A measure that is undefined for this head is left out.
    """
    look = colour.theme(theme)
    measures = {name: each for name, each in measures.items() if np.isfinite(each[0]).any()}
    lines = max(1, -(-len(measures) // _COLUMNS))
    figure = make_subplots(lines, _COLUMNS, subplot_titles=list(measures), vertical_spacing=0.2)
    for place, (values, along) in enumerate(measures.values()):
        row, column = place // _COLUMNS + 1, place % _COLUMNS + 1
        bars = go.Bar(
            x=(along[:-1] + along[1:]) / 2,
            y=counts(values, along),
            width=np.diff(along),
            marker_color=look.accent,
            hovertemplate="%{x:.3g}: %{y} sentences<extra></extra>",
            showlegend=False,
        )
        figure.add_trace(bars, row=row, col=column)
        median = {"color": look.text, "dash": "dot"}
        figure.add_vline(float(np.nanmedian(values)), line=median, row=row, col=column)  # type: ignore[arg-type]
    figure.update_annotations(font_size=11)
    figure.update_xaxes(showgrid=False, nticks=4, color=look.muted)
    figure.update_yaxes(gridcolor=look.line, nticks=3, color=look.muted)
    return style_figure(figure, title, look).update_layout(
        height=140 * lines + 100, margin={"l": 40, "r": 8, "t": 92, "b": 30}
    )


def distribution_table(measures: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> pd.DataFrame:
    """Return the bars of the histograms as a table."""
    parts = [
        pd.DataFrame({"measure": name, "from": along[:-1], "to": along[1:], "sentences": counts(values, along)})
        for name, (values, along) in measures.items()
    ]
    return pd.concat(parts, ignore_index=True)


def roles_figure(shares: pd.DataFrame, *, title: str, theme: str = "light") -> go.Figure:
    """Draw each role's share as a bar, with a mark at the share that a random key would reach.

    `shares` has the columns role, share and "by lot".
    """
    look = colour.theme(theme)
    roles = list(shares["role"])[::-1]
    part = shares.set_index("role").loc[roles]
    bars = go.Bar(
        x=part["share"],
        y=roles,
        orientation="h",
        marker_color=look.accent,
        name="this head",
        hovertemplate="%{y}: %{x:.1%} of rows<extra></extra>",
    )
    lot = go.Scatter(
        x=part["by lot"],
        y=roles,
        mode="markers",
        marker={"symbol": "line-ns", "size": 14, "line": {"width": 3, "color": look.text}},
        name="a random key",
        hovertemplate="%{y}: %{x:.1%} by chance<extra></extra>",
    )
    figure = go.Figure([bars, lot])
    figure.update_xaxes(range=[0, 1], tickformat=".0%", gridcolor=look.line)
    figure.update_yaxes(showgrid=False, automargin=True)
    return style_figure(figure, title, look).update_layout(
        height=32 * len(roles) + 130,
        margin={"l": 10, "r": 10, "t": 50, "b": 60},
        legend={"orientation": "h", "y": -0.18, "yanchor": "top", "x": 0},
        bargap=0.35,
    )
