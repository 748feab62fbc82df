"""Charts of a mask's effect on a whole run: how much every map changes, and leaks from future tokens."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.kit.views import colour
from attnviz.kit.views.labels import FONT, KINDS, hover_name, shorten, ticks

_MOVED_MARGINS = 66 + 45  # pixels above and below the grids, with the title and the lowest axis
_MOST_NAMES = 20  # maximum tick labels of a map that do not overlap
FLOOR = 1e-4  # lower end of the logarithmic scale; exact zeros are left blank


def moved_figure(table: pd.DataFrame, *, theme: str = "light") -> go.Figure:
    """Draw how much every head's map changed, 0 to 1, as a grid of layers and heads for each kind.

    `table` has the columns kind, layer, head, moved, largest. NaN cells are grey. Raise ValueError for an unknown
    theme.
    """
    look = colour.theme(theme)
    kinds = list(dict.fromkeys(table["kind"]))
    grids = [_grids(table.loc[table["kind"] == kind]) for kind in kinds]
    layers = [len(grid) for grid, _ in grids]
    figure = _below_each_other(kinds, layers)
    for row, (grid, largest) in enumerate(grids, start=1):
        figure.add_trace(_distances(grid, largest), row=row, col=1)
        if np.isnan(grid).any():
            figure.add_trace(_nan_cells(grid, look), row=row, col=1)
    bar = _bar("share of a row")
    bar["title"]["side"] = "right"
    figure.update_coloraxes(cmin=0, cmax=1, colorscale=colour.plotly_scale(look.sequential), colorbar=bar)
    heads = max((grid.shape[1] for grid, _ in grids), default=1)
    figure.update_xaxes(dtick=-(-heads // 16), tickangle=0, **_axis(look))
    figure.update_xaxes(title="head", row=len(kinds))
    figure.update_yaxes(title="layer", dtick=-(-max(layers, default=1) // 8), autorange="reversed", **_axis(look))
    figure.update_annotations(font={"size": 12})
    figure.update_layout(_layout("How far each map changed: share of a row’s weight that moved", look))
    return figure.update_layout(height=_moved_height(layers), margin={"l": 50, "t": 66})


def _grids(part: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return `moved` and `largest` of one kind, each as an array `(layers, heads)`."""
    grids = (
        part.pivot_table(index="layer", columns="head", values=name, dropna=False) for name in ("moved", "largest")
    )
    moved, largest = (grid.to_numpy() for grid in grids)
    return moved, largest


def _below_each_other(kinds: Sequence[str], layers: Sequence[int]) -> go.Figure:
    """Make empty grids stacked vertically, with 30 pixels between two for the title of the lower grid."""
    names = [(KINDS[kind].name if kind in KINDS else kind).removesuffix("-attention") for kind in kinds]
    inside = _moved_height(layers) - _MOVED_MARGINS
    return make_subplots(
        len(kinds), 1, subplot_titles=names, row_heights=list(layers), shared_xaxes=True, vertical_spacing=30 / inside
    )


def _moved_height(layers: Sequence[int]) -> int:
    """Compute the figure's height in pixels: 24 per layer, fewer for a deep model."""
    total = max(sum(layers), 1)
    return _MOVED_MARGINS + 30 * (len(layers) - 1) + max(90, round(max(8, min(24, 420 / total)) * total))


def leak_figure(
    changes: Sequence[tuple[str, np.ndarray]], tokens: Sequence[str], position: int, *, theme: str = "light"
) -> go.Figure:
    """Draw max |Δ| of the decoder output at every position, one map per case, with a row per layer.

    The first row is the embedding. `changes` are (title, `(layers + 1, length)`). The scale is logarithmic from 1e-4
    and shared by all maps; a cell that is bitwise unchanged is blank. Raise ValueError for an unknown theme.
    """
    look = colour.theme(theme)
    figure = make_subplots(
        1,
        len(changes),
        subplot_titles=[title for title, _ in changes],
        horizontal_spacing=0.05,
        shared_yaxes=True,
    )
    for column, (_, change) in enumerate(changes, start=1):
        figure.add_trace(_leak(change, tokens), row=1, col=column)
    top = max(float(change.max()) for _, change in changes)
    powers = range(-4, max(-3, int(np.ceil(np.log10(max(top, FLOOR))))) + 1)
    told = powers[:: -(-len(powers) // 5)]  # the colour bar has space for five ticks
    bar = _bar("max |Δ|") | {"tickvals": list(told), "ticktext": [f"1e{power}" for power in told]}
    figure.update_coloraxes(cmin=-4, cmax=max(powers), colorscale=colour.plotly_scale(look.sequential), colorbar=bar)
    names = ["embedding", *(f"L{layer}" for layer in range(len(changes[0][1]) - 1))]
    marks = _name_ticks(tokens, position)
    figure.update_xaxes(
        title={"text": "target position", "standoff": 8},
        tickangle=-50,
        **marks,
        **_axis(look),
    )
    figure.update_yaxes(tickvals=list(range(len(names))), ticktext=names, autorange="reversed", **_axis(look))
    figure.update_annotations(font={"size": 12})
    figure.add_vline(x=position - 0.5, line={"color": look.accent, "width": 1.5, "dash": "dot"})
    figure.update_layout(
        _layout("Change in each position’s output (the token right of the dotted line was replaced)", look)
    )
    return figure.update_layout(height=170 + 30 * len(names), margin={"l": 84, "b": 92})


def _name_ticks(tokens: Sequence[str], position: int) -> dict:
    """Return axis ticks at evenly spaced positions that have room for their names and include the replaced position."""
    every = -(-len(tokens) // _MOST_NAMES)
    every_name = ticks([shorten(token, 12) for token in tokens], most=len(tokens))["ticktext"]
    places = [place for place in range(len(tokens)) if (place - position) % every == 0]
    return {"tickvals": places, "ticktext": [every_name[place] for place in places]}


def leak_table(changes: Sequence[tuple[str, np.ndarray]], tokens: Sequence[str]) -> pd.DataFrame:
    """Return the values of `leak_figure` as a table with one row per cell: mask, layer, position, token, max_delta."""
    rows = [
        (title, "embedding" if index == 0 else f"L{index - 1}", position, token, float(change[index, position]))
        for title, change in changes
        for index in range(len(change))
        for position, token in enumerate(tokens)
    ]
    return pd.DataFrame(rows, columns=["mask", "layer", "position", "token", "max_delta"])


def _distances(grid: np.ndarray, largest: np.ndarray) -> go.Heatmap:
    return go.Heatmap(
        z=grid.astype(np.float32),
        customdata=largest.astype(np.float32),
        hovertemplate="L%{y} H%{x}<br>moved %{z:.4g}<br>largest |Δ| %{customdata:.4g}<extra></extra>",
        coloraxis="coloraxis",
        xgap=2,
        ygap=2,
        name="moved",
    )


def _nan_cells(grid: np.ndarray, look: colour.Theme) -> go.Heatmap:
    """Draw NaN cells in grey, as in every map on the page."""
    return go.Heatmap(
        z=np.where(np.isnan(grid), 1, np.nan).astype(np.float32),
        hovertemplate="L%{y} H%{x}<br>NaN<extra></extra>",
        colorscale=[[0, look.muted], [1, look.muted]],
        showscale=False,
        xgap=2,
        ygap=2,
        name="NaN",
    )


def _leak(change: np.ndarray, tokens: Sequence[str]) -> go.Heatmap:
    with np.errstate(divide="ignore"):
        shown = np.where(change > 0, np.log10(np.maximum(change, FLOOR)), np.nan)
    names = [hover_name(token) for token in tokens]
    said = [
        [[f"{value:.3g}" if value else "0, bitwise equal", name] for value, name in zip(line, names, strict=True)]
        for line in change
    ]
    return go.Heatmap(
        z=shown.astype(np.float32),
        customdata=np.array(said, dtype=object),
        hovertemplate="position %{x}: %{customdata[1]}<br>max |Δ| %{customdata[0]}<extra></extra>",
        hoverongaps=True,
        coloraxis="coloraxis",
        xgap=2,
        ygap=2,
        name="leak",
    )


def _bar(title: str) -> dict:
    return {"title": {"text": title}, "thickness": 10, "outlinewidth": 0, "len": 0.9}


def _axis(look: colour.Theme) -> dict:
    return {"showgrid": False, "zeroline": False, "color": look.muted, "linecolor": look.line}


def _layout(title: str, look: colour.Theme) -> dict:
    return {
        "title": {
            "text": title,
            "font": {"size": 14},
            "x": 0,
            "xref": "container",
            "xanchor": "left",
            "pad": {"l": 12},
        },
        "font": {"family": FONT, "size": 12, "color": look.text},
        "paper_bgcolor": look.panel,
        "plot_bgcolor": look.panel,
        "margin": {"l": 76, "r": 20, "t": 62, "b": 45},
    }
