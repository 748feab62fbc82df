"""Chart of a model's log-probability and BLEU against the number of removed heads, one line per pruning order."""

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.kit.views import colour
from attnviz.kit.views.charts import DASHES, LINES
from attnviz.kit.views.panels import style_figure

_SCORES = {"log_probability": "nats per target token", "bleu": "BLEU of the model's text"}


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
