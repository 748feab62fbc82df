"""Scatter chart with one mark per head: two measures on the axes, a third as colour."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from attnviz.kit.views import colour
from attnviz.kit.views.labels import KINDS, head_name
from attnviz.kit.views.panels import style_figure

# One symbol per kind, so that kinds can be told apart without colour.
SYMBOLS = {"encoder_self": "circle", "decoder_self": "square", "cross": "diamond"}
_FAINTEST = 0.18  # start of the colour scale; the first colours are too close to the panel's


@dataclass(frozen=True)
class Axis:
    """A measure of heads: its title, which includes the unit, and its column in the table."""

    title: str
    column: str


def head_scatter(
    table: pd.DataFrame,
    axes: tuple[Axis, Axis, Axis],
    *,
    chosen: tuple[str, int, int] | None = None,
    theme: str = "light",
) -> go.Figure:
    """Draw one mark for each row of a table that has the columns kind, layer and head.

    `axes` are the measures on the x axis, on the y axis and for the colour. A head without a value on the x or y axis
    is left out, and the title says how many are. Each mark's `customdata` starts with kind, layer and head. The mark of
    the head `chosen` gets a ring.
    """
    look, (along, up, shade) = colour.theme(theme), axes
    asked = table.assign(**{axis.column: np.nan for axis in axes if axis.column not in table})
    known = asked.dropna(subset=[along.column, up.column])
    values = known[shade.column].to_numpy(float)
    low, high = (float(np.nanmin(values)), float(np.nanmax(values))) if np.isfinite(values).any() else (0.0, 1.0)
    figure = go.Figure()
    for _, part in known.groupby("kind", sort=False):
        figure.add_trace(_marks(part, axes, look, (low, high if high > low else low + 1)))
    if chosen is not None:
        kind, layer, head = chosen
        mark = known.loc[(known["kind"] == kind) & (known["layer"] == layer) & (known["head"] == head)]
        figure.add_trace(_ring(mark, along, up, look))
    without = len(table) - len(known)
    left_out = f"<br>{without} heads without these measures are left out" if without else ""
    figure.update_xaxes(title=along.title, gridcolor=look.line, zeroline=False)
    figure.update_yaxes(title=up.title, gridcolor=look.line, zeroline=False)
    return style_figure(figure, f"Every head by two measures{left_out}", look).update_layout(
        height=430,
        margin={"l": 60, "r": 10, "t": 64, "b": 90},
        legend={"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0},
    )


def _marks(part: pd.DataFrame, axes: Sequence[Axis], look: colour.Theme, scale: tuple[float, float]) -> go.Scatter:
    along, up, shade = axes
    kind = str(part["kind"].iloc[0])
    places = part[["kind", "layer", "head"]].to_numpy(dtype=object)
    known = part[shade.column].notna().to_numpy()
    stops = colour.plotly_scale(look.sequential[int(_FAINTEST * len(look.sequential)) :])
    names = [head_name(layer, head) for _, layer, head in places]
    third = [f"{value:.4g}" if has else "nothing" for value, has in zip(part[shade.column], known, strict=True)]
    return go.Scatter(
        x=part[along.column],
        y=part[up.column],
        mode="markers",
        name=KINDS[kind].tab,
        customdata=np.column_stack([places, names, third]),
        hovertemplate=f"{KINDS[kind].tab} %{{customdata[3]}}<br>{along.title} %{{x:.4g}}<br>{up.title} %{{y:.4g}}"
        f"<br>{shade.title} %{{customdata[4]}}<extra></extra>",
        marker={
            "symbol": SYMBOLS.get(kind, "circle"),
            "size": 11,
            "color": np.where(known, part[shade.column], scale[0]),
            "cmin": scale[0],
            "cmax": scale[1],
            "colorscale": stops,
            "line": {"width": 1, "color": look.muted},
            "showscale": True,
            "colorbar": {"title": {"text": shade.title, "side": "right"}, "thickness": 10, "len": 0.9},
        },
    )


def _ring(mark: pd.DataFrame, along: Axis, up: Axis, look: colour.Theme) -> go.Scatter:
    return go.Scatter(
        x=mark[along.column],
        y=mark[up.column],
        mode="markers",
        marker={"symbol": "circle-open", "size": 20, "line": {"width": 2, "color": look.text}},
        hoverinfo="skip",
        showlegend=False,
        name="chosen",
    )
