"""Charts of the pages Anatomy and Implementations: agreement, cost, spectrum, histograms."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.kit.views import colour
from attnviz.kit.views.panels import style_figure

FLOOR, CEILING = -8.0, -3.0  # range of the colour scale in powers of ten
# Each colour is combined with a dash style.
LINES = ("#4f46e5", "#bf6d2b", "#0f8a7e", "#b23a6f", "#6b7080", "#7aa32a", "#2f9be0")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "solid", "dash")


def agreement_figure(
    grids: Mapping[str, pd.DataFrame], titles: Mapping[str, str], *, theme: str = "light"
) -> go.Figure:
    """Draw max |Δ| between each pair of implementations, a square for each entry of `grids`.

    `titles` are the names of the implementations.
    """
    look = colour.theme(theme)
    figure = make_subplots(1, len(grids), subplot_titles=list(grids), shared_yaxes=True, horizontal_spacing=0.03)
    for column, grid in enumerate(grids.values(), start=1):
        values = grid.to_numpy(dtype=float)
        with np.errstate(divide="ignore"):
            shades = np.clip(np.log10(values), FLOOR, CEILING)
        texts = [["none" if np.isnan(v) else "0" if v == 0 else f"{v:.0e}" for v in line] for line in values]
        names = [titles[name] for name in grid.index]
        figure.add_trace(
            go.Heatmap(
                z=shades,
                x=names,
                y=names,
                zmin=FLOOR,
                zmax=CEILING,
                text=texts,
                texttemplate="%{text}",
                customdata=values,
                hovertemplate="%{y}<br>%{x}<br>max |Δ| %{customdata:.3g}<extra></extra>",
                colorscale=colour.plotly_scale(look.sequential),
                showscale=False,
                xgap=2,
                ygap=2,
                name="agreement",
            ),
            row=1,
            col=column,
        )
    figure.update_xaxes(tickangle=-30, showgrid=False, color=look.muted)
    figure.update_yaxes(autorange="reversed", showgrid=False, color=look.muted)
    figure.update_annotations(font_size=12)
    title = "max |Δ| between each pair of implementations · shades from 1e-8 to 1e-3"
    return style_figure(figure, title, look).update_layout(height=370, margin={"l": 170, "r": 20, "t": 62, "b": 100})


def cost_figure(table: pd.DataFrame, titles: Mapping[str, str], *, theme: str = "light") -> go.Figure:
    """Draw time and peak memory against length, both axes logarithmic.

    `table` has the columns way, length, seconds, nbytes.
    """
    look = colour.theme(theme)
    figure = make_subplots(1, 2, subplot_titles=["milliseconds per pass", "peak memory, MB"], horizontal_spacing=0.08)
    for place, way in enumerate(dict.fromkeys(table["way"])):
        part = table[table["way"] == way]
        line = {"color": LINES[place % len(LINES)], "dash": DASHES[place % len(DASHES)], "width": 2}
        for column, values in ((1, part["seconds"] * 1e3), (2, part["nbytes"] / 1e6)):
            figure.add_trace(
                go.Scatter(
                    x=part["length"],
                    y=values,
                    name=titles[way],
                    mode="lines+markers",
                    line=line,
                    showlegend=column == 1,
                    hovertemplate="%{x} tokens: %{y:.4g}<extra>" + titles[way] + "</extra>",
                ),
                row=1,
                col=column,
            )
    figure.update_xaxes(type="log", title="tokens", tickvals=sorted(set(table["length"])), gridcolor=look.line)
    figure.update_yaxes(type="log", dtick="D2", gridcolor=look.line)  # labels at 1, 2 and 5, because more would overlap
    figure.update_annotations(font_size=12)
    return style_figure(figure, "What each implementation costs as the sentence grows", look).update_layout(
        height=400, margin={"l": 50, "r": 10, "t": 62, "b": 40}
    )


def spectrum_figure(spectrum: Sequence[float], d_model: int, *, theme: str = "light") -> go.Figure:
    """Draw the singular values of a head's bilinear form as bars, largest first."""
    look = colour.theme(theme)
    bars = go.Bar(
        x=list(range(len(spectrum))),
        y=list(spectrum),
        marker_color=look.accent,
        hovertemplate="number %{x}: %{y:.5g}<extra></extra>",
        name="spectrum",
    )
    figure = go.Figure(bars)
    figure.update_xaxes(title="singular value, largest first", showgrid=False)
    figure.update_yaxes(title="size", gridcolor=look.line)
    title = f"Spectrum of W_Q W_Kᵀ: {len(spectrum)} of {d_model} singular values, the others are exactly 0"
    return style_figure(figure, title, look).update_layout(height=210, margin={"l": 50, "r": 10, "t": 40, "b": 40})


Histograms = Mapping[str, Mapping[str, np.ndarray]]
"""Title of a count -> its groups -> the numbers of each."""


def histogram_figure(counted: Histograms, *, title: str, theme: str = "light") -> go.Figure:
    """Draw a column of histograms for each entry of `counted`.

    The groups of a column are stacked and share one axis, so that their widths can be compared. Bars are shares of all
    values.
    """
    look = colour.theme(theme)
    names = list(dict.fromkeys(name for groups in counted.values() for name in groups))
    figure = make_subplots(
        len(names),
        len(counted),
        shared_xaxes=True,
        subplot_titles=[name for name in names for _ in counted],
        vertical_spacing=0.16,
        horizontal_spacing=0.08,
    )
    for column, (what, groups) in enumerate(counted.items(), start=1):
        for row, (edges, shares) in enumerate(_shares(groups).values(), start=1):
            figure.add_trace(
                go.Bar(
                    x=(edges[:-1] + edges[1:]) / 2,
                    y=shares,
                    width=np.diff(edges),
                    marker_color=look.accent,
                    hovertemplate="%{x:.3g}: %{y:.2%}<extra></extra>",
                    showlegend=False,
                ),
                row=row,
                col=column,
            )
        figure.update_xaxes(title={"text": what, "standoff": 4}, row=len(names), col=column)
    figure.update_annotations(font_size=12)
    figure.update_yaxes(tickformat=".0%", gridcolor=look.line, nticks=4)
    figure.update_xaxes(showgrid=False)
    return style_figure(figure, title, look).update_layout(height=290, margin={"l": 46, "r": 10, "t": 62, "b": 40})


def histogram_table(counted: Histograms) -> pd.DataFrame:
    """Return the bars as a table: the entry, the group, the edges from and to, and the share of the group's values."""
    parts = [
        pd.DataFrame({"of": what, "group": name, "from": edges[:-1], "to": edges[1:], "share": shares})
        for what, groups in counted.items()
        for name, (edges, shares) in _shares(groups).items()
    ]
    return pd.concat(parts, ignore_index=True)


def _shares(groups: Mapping[str, np.ndarray]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Compute bin edges that all groups share, and the share of each group's values in each bin."""
    everything = np.concatenate([values[np.isfinite(values)] for values in groups.values()])
    edges = np.linspace(everything.min(), everything.max() + 1e-9, 61)
    counts = {name: np.histogram(values, edges)[0] for name, values in groups.items()}
    return {name: (edges, count / max(1, count.sum())) for name, count in counts.items()}
