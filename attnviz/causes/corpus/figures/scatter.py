"""Figures of a study of many sentences: every head as a mark, the distributions of one head, and the pruning curve."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.kit.views import colour
from attnviz.kit.views.charts import DASHES, LINES
from attnviz.kit.views.labels import KINDS, head_name
from attnviz.kit.views.panels import style_figure

BINS = 16
_COLUMNS = 3
_SCORES = {"log_probability": "nats per target token", "bleu": "BLEU of the model's text"}
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


def pruning_chart(table: pd.DataFrame, *, title: str, theme: str = "light") -> go.Figure:
    """Draw a `PruningCurve.table`, with random seeds merged or separate; bands show the confidence intervals."""
    look = colour.theme(theme)
    figure = make_subplots(1, 2, subplot_titles=list(_SCORES.values()), horizontal_spacing=0.09)
    for place, (order, part) in enumerate(table.groupby("order", sort=False)):
        shade, dash = LINES[place % len(LINES)], DASHES[place % len(DASHES)]
        for column, name in enumerate(_SCORES, 1):
            if not part.dropna(subset=[name]).empty:
                figure.add_trace(_band(part, name, shade, str(order)), row=1, col=column)
                figure.add_trace(_line(part, name, (shade, dash), str(order), column == 1), row=1, col=column)
    figure.update_xaxes(title="heads removed", gridcolor=look.line, zeroline=False)
    figure.update_yaxes(gridcolor=look.line, zeroline=False)
    figure.update_annotations(font_size=12)
    return style_figure(figure, title, look).update_layout(
        height=440,
        margin={"l": 40, "r": 10, "t": 84, "b": 110},
        legend={"orientation": "h", "y": -0.3, "x": 0, "yanchor": "top"},
    )


def _line(part: pd.DataFrame, name: str, look: tuple[str, str], order: str, is_first: bool) -> go.Scatter:
    shade, dash = look
    return go.Scatter(
        x=part["removed"],
        y=part[name],
        mode="lines+markers",
        name=order,
        legendgroup=order,
        showlegend=is_first,
        line={"color": shade, "dash": dash, "width": 2},
        marker={"size": 5},
        customdata=part[[f"{name}_low", f"{name}_high"]],
        hovertemplate=f"%{{x}} heads removed: %{{y:.4g}} (%{{customdata[0]:.4g}} to %{{customdata[1]:.4g}})<extra>"
        f"{order}</extra>",
    )


def _band(part: pd.DataFrame, name: str, shade: str, order: str) -> go.Scatter:
    low, high = part[f"{name}_low"], part[f"{name}_high"]
    red, green, blue = (int(shade[at : at + 2], 16) for at in (1, 3, 5))
    return go.Scatter(
        x=[*part["removed"], *part["removed"][::-1]],
        y=[*high, *low[::-1]],
        fill="toself",
        fillcolor=f"rgba({red},{green},{blue},0.10)",
        line={"width": 0},
        hoverinfo="skip",
        legendgroup=order,
        showlegend=False,
        name=f"{order}, interval",
    )


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
