"""Chart of the verdict: each difference between steps and pass as a share of its rounding tolerance, on a log scale."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.kit.views import colour
from attnviz.kit.views.labels import FONT, hover_name, ticks

LOWEST, HIGHEST = -3, 6  # powers of ten; above 0 the tolerance is exceeded, and exact zeros are blank
ROW, LEAST_HEIGHT, MOST_HEIGHT = 1.3, 204, 620  # pixels
MOST_TICKS = 28  # maximum slanted labels below both panels in half a page
TALL = 6  # height of an output or logits row in head rows, so that its label fits
_STACKS = {"encoder": "Encoder: source positions", "decoder": "Decoder: steps, input → next token"}
_QUANTITIES = {"encoder_self": "self", "decoder_self": "self", "output": "out"}
_HOVER = (
    "%{customdata[0]}<br>%{customdata[1]}<br>|Δ| %{customdata[2]}, allowed %{customdata[3]}: "
    "%{customdata[4]} of it<extra></extra>"
)
_OVER = "#e0662b"


@dataclass(frozen=True)
class _StackPanel:
    """One stack's part of the verdict table: differences, tolerances, shares, and whether they exceed the tolerance.

    All arrays are `(lines, positions)`, and `lines` has the table's record for each line.
    """

    deltas: np.ndarray
    allowed: np.ndarray
    shares: np.ndarray
    breaks: np.ndarray
    lines: Sequence[Mapping[str, object]]
    labels: Sequence[str]

    @property
    def edges(self) -> np.ndarray:
        """The y coordinates of the edges between lines, `(lines + 1,)`."""
        heights = [1 if line["head"] == line["head"] and line["head"] is not None else TALL for line in self.lines]
        return np.concatenate([[0], np.cumsum(heights)]).astype(float)

    @property
    def middles(self) -> np.ndarray:
        """The y coordinate of the middle of each line, `(lines,)`."""
        return (self.edges[1:] + self.edges[:-1]) / 2


def verdict_map(table: pd.DataFrame, labels: Mapping[str, Sequence[str]], *, theme: str = "light") -> go.Figure:
    """Draw a heatmap for each stack: a row for every head and output in the order of computation, a column per
    position.

    `table` is `Verdict.table()`; `labels` are the names of the positions in each stack. Cells whose difference exceeds
    the rounding tolerance are crossed. Raise ValueError for an unknown theme.
    """
    look = colour.theme(theme)
    records = table.to_dict("records")
    stacks = [stack for stack in _STACKS if any(record["stack"] == stack for record in records)]
    panels = [_panel([record for record in records if record["stack"] == stack], labels[stack]) for stack in stacks]
    figure = make_subplots(
        cols=len(stacks),
        column_widths=[float(max(4, panel.deltas.shape[1])) for panel in panels],
        horizontal_spacing=0.13,
        subplot_titles=[_STACKS[stack] for stack in stacks] if len(stacks) > 1 else None,
    )
    for column, panel in enumerate(panels, start=1):
        figure.add_trace(_cells(panel, look, scale=column == len(panels)), row=1, col=column)
        figure.add_trace(_crosses(panel), row=1, col=column)
        share = panel.deltas.shape[1] / sum(each.deltas.shape[1] for each in panels)
        _label_axes(figure, column, panel, most=max(4, round(MOST_TICKS * share)))
    rows = max(panel.edges[-1] for panel in panels)
    _lay_out(figure, look, min(max(int(rows * ROW) + 90, LEAST_HEIGHT), MOST_HEIGHT), top=20 if len(stacks) > 1 else 6)
    return figure


def _panel(records: Sequence[Mapping], labels: Sequence[str]) -> _StackPanel:
    lines = [record for record in records if record["position"] == 0]
    shape = (len(lines), -1)
    deltas, allowed, shares, breaks = (
        np.array([record[name] for record in records], dtype=kind).reshape(shape)
        for name, kind in (("delta", float), ("allowed", float), ("share", float), ("breaks", bool))
    )
    return _StackPanel(deltas, allowed, shares, breaks, lines, labels)


def _cells(panel: _StackPanel, look: colour.Theme, *, scale: bool) -> go.Heatmap:
    with np.errstate(divide="ignore"):
        powers = np.log10(panel.shares)
    shown = np.where(panel.deltas == 0, np.nan, np.clip(powers, LOWEST, HIGHEST))
    return go.Heatmap(
        z=shown.astype(np.float32),
        y=panel.edges,
        zmin=LOWEST,
        zmax=HIGHEST,
        colorscale=colour.plotly_scale(look.sequential),
        customdata=_hover_texts(panel),
        hovertemplate=_HOVER,
        showscale=scale,
        colorbar={
            "title": {"text": "share", "side": "top"},
            "tickvals": [-3, 0, 3, 6],
            "ticktext": ["≤ 10⁻³", "1", "10³", "≥ 10⁶"],
            "thickness": 9,
            "outlinewidth": 0,
        },
        xgap=1,
        name="share",
    )


def _hover_texts(panel: _StackPanel) -> np.ndarray:
    """Return tooltip texts `(lines, positions, 5)`: place, position, difference, tolerance, and share of the
    tolerance.
    """
    texts = np.empty((*panel.deltas.shape, 5), dtype=object)
    texts[..., 0] = np.array([line["place"] for line in panel.lines], dtype=object)[:, None]
    texts[..., 1] = np.array([hover_name(label, f" ({at})") for at, label in enumerate(panel.labels)], dtype=object)
    texts[..., 2] = np.vectorize("{:.3g}".format)(panel.deltas)
    texts[..., 3] = np.vectorize("{:.2g}".format)(panel.allowed)
    texts[..., 4] = np.vectorize("{:.2g}".format)(panel.shares)
    return texts


def _crosses(panel: _StackPanel) -> go.Scatter:
    rows, columns = panel.breaks.nonzero()
    marker = {"symbol": "x-thin", "size": 4, "line": {"width": 1, "color": _OVER}}
    return go.Scatter(
        x=columns,
        y=panel.middles[rows],
        mode="markers",
        marker=marker,
        hoverinfo="skip",
        showlegend=False,
        name="more than rounding allows",
    )


def _label_axes(figure: go.Figure, column: int, panel: _StackPanel, *, most: int) -> None:
    """Label each block of heads at its middle, and at most `most` positions with their tokens."""
    blocks = [_block(line) for line in panel.lines]
    starts = [at for at, block in enumerate(blocks) if at == 0 or block != blocks[at - 1]]
    ends = [*starts[1:], len(blocks)]
    shared = {"showgrid": False, "zeroline": False, "ticks": "", "tickfont": {"size": 10}}
    rows = {
        "tickvals": [(panel.edges[start] + panel.edges[end]) / 2 for start, end in zip(starts, ends, strict=True)],
        "ticktext": [blocks[start] for start in starts],
        "range": [panel.edges[-1], 0],  # reversed explicitly, because the panel may have no cells
    }
    columns = [-0.5, panel.deltas.shape[1] - 0.5]
    figure.update_yaxes(rows | shared, row=1, col=column)
    figure.update_xaxes(
        ticks(list(panel.labels), most=most) | shared | {"tickangle": -40, "range": columns}, row=1, col=column
    )


def _block(line: Mapping[str, object]) -> str:
    quantity, layer = str(line["quantity"]), line["layer"]
    if quantity == "logits":
        return "logits"
    return "embedding" if layer == -1 else f"L{layer} {_QUANTITIES.get(quantity, quantity)}"


def _lay_out(figure: go.Figure, look: colour.Theme, height: int, *, top: int) -> None:
    figure.update_annotations(font_size=11, font_color=look.muted)
    figure.update_layout(
        font={"family": FONT, "color": look.text, "size": 11},
        paper_bgcolor=look.panel,
        plot_bgcolor=look.panel,
        height=height,
        margin={"l": 60, "r": 10, "t": top, "b": 66},
    )
