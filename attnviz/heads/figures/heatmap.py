"""One head's map as a Plotly figure, for notebooks and for pages that show a single map in detail."""

import html
import math
import unicodedata
from collections.abc import Iterator

import numpy as np
import plotly.graph_objects as go

from attnviz.guards.arguments import reads_arguments
from attnviz.kit.views import colour
from attnviz.kit.views.labels import FONT, KINDS, hover_name, map_title, ticks
from attnviz.maps.maps import Maps
from attnviz.maps.options import MapOptions, Merging, Specials
from attnviz.maps.selection import select
from attnviz.text.entries import TokenText
from attnviz.tracing.trace import TraceLike
from attnviz.transformer.probe import Kind

CELL, SHORTEST, TALLEST = 30, 250, 900  # pixels
SLANT, MOST_KEYS = 40, 24  # angle of slanted key labels in degrees, and how many fit half a page
MOST_UPRIGHT = 14  # number of upright key labels that fit a phone
_TITLES = 118  # height in pixels of title and axis title
_LEGEND = 16  # height in pixels of the legend's line
SQUARE_UP_TO = 4  # largest aspect ratio with square cells
# Aligned with the top of the map, because the title would otherwise overlap the last key's label.
COLOUR_BAR = {
    "title": {"text": "weight"},
    "thickness": 10,
    "len": 0.6,
    "y": 1,
    "yanchor": "top",
    "outlinewidth": 0,
}
_HOVER = "%{customdata[0]}<br>looks at %{customdata[1]}<br>weight %{z:.6g}%{customdata[2]}<extra></extra>"


@reads_arguments
def heatmap(
    trace: TraceLike,
    kind: Kind,
    *,
    layer: int | str = "mean",
    head: int | str = "mean",
    specials: Specials = "show",
    words: Merging = False,
    **options,
) -> go.Figure:
    """Draw one map of a trace as a Plotly figure; "mean" for layer or head averages over them.

    `specials` ("show", "hide", "renormalise") and `words` are described at `attnviz.maps.options.MapOptions`, and
    `options` (`theme`, `mask`, `zmax`) at `heatmap_of`. Raises ValueError for a kind, layer, head or option that does
    not exist.
    """
    return heatmap_of(select(trace, kind, MapOptions(specials, words)), layer, head, **options)


@reads_arguments
def heatmap_of(
    shown: Maps, layer: int | str, head: int | str, *, theme: str = "light", mask: bool = True, zmax: float = 1.0,
    measure: str = "weight",
) -> go.Figure:  # fmt: skip
    """Draw one map as a Plotly figure. Colours run from 0 to `zmax` for every head.

    `theme` is "light" or "dark". With `mask`, cells that the mask hides are hatched. Tooltips name the row, the key and
    the weight, or the quantity that `measure` names. Raises ValueError for a layer, head or theme that does not exist.
    """
    look = colour.theme(theme)
    weights = shown.weights(layer, head).numpy()
    hidden = ~shown.visible_cells(layer, head).numpy()
    figure = go.Figure(_cells(shown, weights, hidden, look, zmax))
    if measure != "weight":
        figure.update_traces(colorbar_title_text=measure, hovertemplate=_HOVER.replace("weight", measure))
    hatched = mask and hidden.any()
    if hatched:
        figure.add_trace(_hatching(hidden, look))
    legend = " · ".join(filter(None, (shown.left_out, "hatched: may not be seen (mask)" if hatched else "")))
    figure.update_layout(_layout(shown, map_title(shown.kind, layer, head), legend, look))
    return figure


def heatmap_of_any_width(shown: Maps, layer: int | str, head: int | str, *, theme: str = "light") -> go.Figure:
    """Draw a map like `heatmap_of`, in a layout that also fits a phone.

    Cells stretch to the width. Key labels are upright and thinned out so that they do not overlap.
    """
    figure = heatmap_of(shown, layer, head, theme=theme)
    names = ticks([col.text for col in shown.cols], most=MOST_UPRIGHT)
    longer = round(max(map(_width, names["ticktext"]), default=0)) + _TITLES - _top(shown)
    figure.update_xaxes({"tickangle": -90, "tickfont_size": 11, **names})
    figure.update_yaxes(scaleanchor=None, constraintoward=None)
    margin, height = figure.layout.margin.t, figure.layout.height
    return figure.update_layout(margin_t=margin + longer, height=height + longer)


def _cells(shown: Maps, weights: np.ndarray, hidden: np.ndarray, look: colour.Theme, zmax: float) -> go.Heatmap:
    return go.Heatmap(
        z=weights.astype(np.float32),
        x=np.arange(len(shown.cols)),
        y=np.arange(len(shown.rows)),
        zmin=0,
        zmax=zmax,
        colorscale=colour.plotly_scale(look.sequential),
        colorbar={**COLOUR_BAR, "nticks": 5},
        customdata=_hover_texts(shown, hidden),
        hovertemplate=_HOVER,
        xgap=1 if weights.size <= 64 * 64 else 0,
        ygap=1 if weights.size <= 64 * 64 else 0,
        name="attn",
    )


def _hover_texts(shown: Maps, hidden: np.ndarray) -> np.ndarray:
    """Return tooltip texts `(rows, cols, 3)`: row and key, each with pieces and ids, and a note for masked cells."""
    texts = np.empty((*hidden.shape, 3), dtype=object)
    rows = [hover_name(TokenText(row.text, *row.inputs, *row.outputs)) for row in shown.rows]
    texts[..., 0] = np.array(rows, dtype=object)[:, None]
    texts[..., 1] = np.array([hover_name(TokenText(col.text, *col.keys)) for col in shown.cols], dtype=object)[None]
    texts[..., 2] = np.where(hidden, " (masked)", "")
    blind, keys_hidden = hidden.all(axis=1), shown.rows_with_keys_hidden.numpy()
    texts[blind, :, 2] = " (no keys: this row may not see any of them)"
    texts[blind & keys_hidden, :, 2] = " (this row sees only special tokens, which are hidden)"
    return texts


def _hatching(hidden: np.ndarray, look: colour.Theme) -> go.Scatter:
    """Draw hatched boxes over the masked cells, so that they differ from small weights without relying on colour."""
    x: list[float | None] = []
    y: list[float | None] = []
    for top, bottom, left, right in _boxes(hidden):
        x += [left - 0.5, right + 0.5, right + 0.5, left - 0.5, left - 0.5, None]
        y += [top - 0.5, top - 0.5, bottom + 0.5, bottom + 0.5, top - 0.5, None]
    pattern = {"shape": "/", "size": 6, "solidity": 0.15, "fgcolor": look.muted, "bgcolor": "rgba(0,0,0,0)"}
    return go.Scatter(
        x=x,
        y=y,
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillpattern=pattern,
        hoverinfo="skip",
        showlegend=False,
        name="masked",
    )


def _boxes(hidden: np.ndarray) -> Iterator[tuple[int, int, int, int]]:
    """Merge masked cells into few rectangles, each (first row, last row, first column, last column)."""
    top, last = 0, len(hidden) - 1
    for row in range(len(hidden)):
        if row < last and (hidden[row + 1] == hidden[row]).all():
            continue
        edges = np.flatnonzero(np.diff(np.pad(hidden[row].astype(np.int8), 1)))
        yield from ((top, row, int(left), int(right) - 1) for left, right in edges.reshape(-1, 2))
        top = row + 1


def _layout(shown: Maps, title: str, legend: str, look: colour.Theme) -> dict:
    top = _top(shown) + (_LEGEND if legend else 0)
    name, question = title.split(": ", 1)
    place = {"yref": "container", "y": 1, "yanchor": "top", "pad": {"t": 14}}
    subtitle = {"text": "<br>".join(filter(None, (question, legend))), "font": {"color": look.muted, "size": 12}}
    return {
        "title": {"text": name, "font": {"size": 15}, "subtitle": subtitle, **place},
        "font": {"family": FONT, "color": look.text, "size": 12},
        "paper_bgcolor": look.panel,
        "plot_bgcolor": look.panel,
        "height": min(max(len(shown.rows) * CELL, SHORTEST) + top + 20, TALLEST),
        "margin": {"l": 20, "r": 20, "t": top, "b": 20},
        **_axes(shown, look),
    }


def _axes(shown: Maps, look: colour.Theme) -> dict[str, dict]:
    rows, cols, words = len(shown.rows), len(shown.cols), KINDS[shown.kind]
    square = 1 / SQUARE_UP_TO <= rows / max(cols, 1) <= SQUARE_UP_TO
    both = {"showgrid": False, "zeroline": False, "constrain": "domain", "linecolor": look.line}
    keys = {"title": {"text": f"key → ({words.key})"}, "range": [-0.5, cols - 0.5], "side": "top", "tickangle": -SLANT}
    queries = {"title": {"text": f"query ↓ ({words.query})"}, "range": [rows - 0.5, -0.5], "automargin": True}
    return {
        "xaxis": {**both, **keys, **_key_ticks(shown)},
        "yaxis": {
            **both,
            **queries,
            **ticks([row.text for row in shown.rows]),
            **({"scaleanchor": "x", "constraintoward": "top"} if square else {}),
        },
    }


def _key_ticks(shown: Maps) -> dict[str, list]:
    return ticks([col.text for col in shown.cols], most=MOST_KEYS)


def _top(shown: Maps) -> int:
    """Return the height in pixels that title, axis title and labels need above the map, because Plotly lets
    them overlap.
    """
    labels = _key_ticks(shown)["ticktext"]
    return round(_TITLES + max(map(_width, labels), default=0) * math.sin(math.radians(SLANT)))


def _width(text: str) -> float:
    """Estimate the width of a label in pixels at font size 12."""
    return sum(12 if unicodedata.east_asian_width(character) in "WF" else 7.2 for character in html.unescape(text))
