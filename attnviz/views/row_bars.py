"""One row of a map as bars: what one token, or one step of the decoder, looks at, with the exact weights."""

import numpy as np
import plotly.graph_objects as go

from attnviz.tracing.shown import Shown
from attnviz.views import colour
from attnviz.views.labels import FONT, escaped, head_name, ticks

BAR, SHORTEST, TALLEST = 24, 200, 860  # pixels


def row_bars_of(shown: Shown, layer: int | str, head: int | str, row: int, *, theme: str = "light") -> go.Figure:
    """The weights of one row over its keys, in the order of the sentence, and their sum.

    A masked key has no bar and says so. Raises ValueError for a layer, head, row or theme that there is not.
    """
    if not 0 <= row < len(shown.rows):
        raise ValueError(f"row is 0 to {len(shown.rows) - 1}, not {row!r}.")
    look = colour.theme(theme)
    weights = shown.weights(layer, head)[row].numpy().astype(np.float32)
    visible = shown.visible(layer, head)[row].numpy()
    figure = go.Figure(_bars(shown, weights, visible, look))
    label = escaped(shown.rows[row].text)
    notes = [f"sum {weights.sum():.3f}" if visible.any() else "no keys: this row may see none of these", shown.left_out]
    figure.update_layout(
        title={
            "text": f"{label} looks at",
            "subtitle": {"text": " · ".join([head_name(layer, head), *filter(None, notes)])},
        },
        font={"family": FONT, "color": look.text, "size": 12},
        paper_bgcolor=look.panel,
        plot_bgcolor=look.panel,
        height=int(min(max(len(weights) * BAR + 130, SHORTEST), TALLEST)),
        margin={"l": 20, "r": 50, "t": 80, "b": 40},
        xaxis={"title": {"text": "weight"}, "range": [0, 1.08], "tickvals": [0, 0.5, 1], "gridcolor": look.line},
        yaxis={
            **ticks([col.text for col in shown.cols]),
            "title": {"text": "key ↓"},
            "range": [len(weights) - 0.5, -0.5],
            "automargin": True,
        },
    )
    return figure


def _bars(shown: Shown, weights: np.ndarray, visible: np.ndarray, look: colour.Theme) -> go.Bar:
    shades = np.array(look.sequential)[(weights.clip(0, 1) * (len(look.sequential) - 1)).round().astype(int)]
    return go.Bar(
        x=weights,
        y=np.arange(len(weights)),
        orientation="h",
        marker={
            "color": [f"rgb({r},{g},{b})" for r, g, b in shades],
            "line": {"color": look.line, "width": 1},
        },
        text=[f"{weight:.3f}" if seen else "masked" for weight, seen in zip(weights, visible, strict=True)],
        textposition="outside",
        cliponaxis=False,
        customdata=[escaped(col.text) for col in shown.cols],
        hovertemplate="%{customdata}<br>weight %{x:.6g}<extra></extra>",
        name="attn",
    )
