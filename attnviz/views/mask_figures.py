"""Figures of what a mask does to a whole run: how far every map moved, and what leaks back from the future."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.views import colour
from attnviz.views.labels import FONT, KINDS, escaped, shortened, ticks

FLOOR = 1e-4  # where the logarithmic scale begins; exact zeros are left blank


def moved_figure(table: pd.DataFrame, *, theme: str = "light") -> go.Figure:
    """How far every head's map moved, a grid of layers and heads for each kind, 0 to 1.

    `table` has columns kind, layer, head, moved, largest; NaN cells are left blank. Raises ValueError for a theme that
    there is not.
    """
    look = colour.theme(theme)
    kinds = list(dict.fromkeys(table["kind"]))
    titles = [(KINDS[kind].name if kind in KINDS else kind).removesuffix("-attention") for kind in kinds]
    figure = make_subplots(1, len(kinds), subplot_titles=titles, horizontal_spacing=0.06)
    for column, kind in enumerate(kinds, start=1):
        part = table[table["kind"] == kind]
        grid = part.pivot_table(index="layer", columns="head", values="moved", dropna=False).to_numpy()
        largest = part.pivot_table(index="layer", columns="head", values="largest", dropna=False).to_numpy()
        figure.add_trace(_moved(grid, largest), row=1, col=column)
    figure.update_coloraxes(
        cmin=0, cmax=1, colorscale=colour.plotly_scale(look.sequential), colorbar=_bar("moved, 0 to 1")
    )
    figure.update_xaxes(title="head", dtick=1, constrain="domain", **_axis(look))
    figure.update_yaxes(dtick=1, autorange="reversed", **_axis(look))
    figure.update_yaxes(title="layer", col=1)
    figure.update_annotations(font={"size": 12})
    figure.update_layout(_layout("How far every map moved: share of a row that goes elsewhere", look))
    return figure.update_layout(height=270, margin={"l": 50})


def leak_figure(
    changes: Sequence[tuple[str, np.ndarray]], tokens: Sequence[str], position: int, *, theme: str = "light"
) -> go.Figure:
    """max |Δ| of every position's decoder output, one map a case: rows are layers, the embedding first.

    `changes` are (title, `(layers + 1, length)`); the scale is logarithmic from 1e-4, the same for all; cells that did
    not change by a single bit are blank. Raises ValueError for a theme that there is not.
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
    bar = _bar("max |Δ|") | {"tickvals": list(powers), "ticktext": [f"1e{power}" for power in powers]}
    figure.update_coloraxes(cmin=-4, cmax=max(powers), colorscale=colour.plotly_scale(look.sequential), colorbar=bar)
    names = ["embedding", *(f"L{layer}" for layer in range(len(changes[0][1]) - 1))]
    marks = ticks(list(tokens))
    figure.update_xaxes(title="target position", **marks, **_axis(look))
    figure.update_yaxes(tickvals=list(range(len(names))), ticktext=names, autorange="reversed", **_axis(look))
    figure.update_annotations(font={"size": 12})
    figure.add_vline(x=position - 0.5, line={"color": look.accent, "width": 1.5, "dash": "dot"})
    figure.update_layout(_layout("How far each position's output moved when the token right of the line changed", look))
    return figure.update_layout(height=150 + 30 * len(names))


def leak_table(changes: Sequence[tuple[str, np.ndarray]], tokens: Sequence[str]) -> pd.DataFrame:
    """The numbers of `leak_figure`, a row a cell: mask, layer, position, token, max_delta."""
    rows = [
        (title, "embedding" if index == 0 else f"L{index - 1}", position, token, float(change[index, position]))
        for title, change in changes
        for index in range(len(change))
        for position, token in enumerate(tokens)
    ]
    return pd.DataFrame(rows, columns=["mask", "layer", "position", "token", "max_delta"])


def _moved(grid: np.ndarray, largest: np.ndarray) -> go.Heatmap:
    return go.Heatmap(
        z=grid.astype(np.float32),
        customdata=largest.astype(np.float32),
        hovertemplate="L%{y} H%{x}<br>moved %{z:.4g}<br>largest |Δ| %{customdata:.4g}<extra></extra>",
        coloraxis="coloraxis",
        xgap=2,
        ygap=2,
        name="moved",
    )


def _leak(change: np.ndarray, tokens: Sequence[str]) -> go.Heatmap:
    with np.errstate(divide="ignore"):
        shown = np.where(change > 0, np.log10(np.maximum(change, FLOOR)), np.nan)
    names = [escaped(shortened(token)) for token in tokens]
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
