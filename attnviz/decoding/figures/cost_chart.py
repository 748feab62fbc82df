"""Charts of the cost of three ways to decode as the target gets longer: seconds, and multiply-adds."""

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.kit.views import colour
from attnviz.kit.views.labels import FONT

_NAMES = {"pass": "one pass", "recomputed": "recomputing the prefix", "cached": "with a KV cache"}
# The colours differ in lightness, and the lines in dashes and markers, so that no colour vision is needed.
_LOOKS = {
    "pass": ("#8a8fa3", "dot", "circle"),
    "recomputed": ("#d9772b", "dash", "square"),
    "cached": ("#5b5bd6", "solid", "diamond"),
}


@dataclass(frozen=True)
class _CostPanel:
    """One of the two panels: its column in the table, its title and its unit."""

    column: str
    title: str
    axis: str
    unit: str
    scale: float = 1


_PANELS = (
    _CostPanel("seconds", "Measured time of a whole target", "milliseconds", "ms", 1e3),
    _CostPanel("multiply_adds", "Counted multiply-adds of a whole target", "multiply-adds", "multiply-adds"),
)


def cost_chart(costs: pd.DataFrame, *, theme: str = "light") -> go.Figure:
    """Draw lines over target length: measured milliseconds on the left, counted multiply-adds on the right.

    `costs` has the columns way, length, multiply_adds, and seconds if they were measured; otherwise only the right
    panel is drawn.
    """
    look = colour.theme(theme)
    shown = [each for each in _PANELS if each.column in costs]
    figure = make_subplots(cols=len(shown), subplot_titles=[each.title for each in shown], horizontal_spacing=0.09)
    for way, part in costs.groupby("way", sort=False):
        shade, dash, symbol = _LOOKS[str(way)]
        for column, each in enumerate(shown, 1):
            figure.add_scatter(
                x=part["length"],
                y=each.scale * part[each.column],
                name=_NAMES[str(way)],
                mode="lines+markers",
                showlegend=column == 1,
                line={"color": shade, "dash": dash, "width": 2},
                marker={"symbol": symbol, "size": 7},
                legendgroup=way,
                zorder=1
                if way == "pass"
                else 0,  # the counts nearly coincide with the cache's, so both must stay visible
                hovertemplate=f"{_NAMES[str(way)]}, %{{x}} tokens: %{{y:,.4g}} {each.unit}<extra></extra>",
                row=1,
                col=column,
            )
    figure.update_xaxes(title_text="tokens in the target →", gridcolor=look.line, zeroline=False, rangemode="tozero")
    figure.update_yaxes(gridcolor=look.line, zeroline=False, rangemode="tozero")
    for column, each in enumerate(shown, 1):
        figure.update_yaxes(title_text=each.axis, col=column)
    figure.update_annotations(font_size=12)
    figure.update_layout(
        font={"family": FONT, "color": look.text, "size": 12},
        paper_bgcolor=look.panel,
        plot_bgcolor=look.panel,
        height=330,
        margin={"l": 60, "r": 20, "t": 50, "b": 45},
        legend={"orientation": "h", "y": 1.22, "x": 0},
    )
    return figure
