"""Plotly figures for notebooks: lines between tokens, and small maps of all heads. The page draws both on a canvas."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attnviz.guards.arguments import describe, reads_arguments
from attnviz.kit.views import colour
from attnviz.kit.views.labels import FONT, KINDS, escape_for_plotly, head_name, ticks
from attnviz.maps.lines import strongest_lines
from attnviz.maps.maps import Maps
from attnviz.maps.options import MapOptions, Merging, Specials
from attnviz.maps.selection import select
from attnviz.tracing.trace import TraceLike
from attnviz.transformer.probe import Kind

MOST_LINES = 6000  # because Plotly draws each line as a separate element
SHADES = 12
# The page's colours: neighbours differ with every kind of colour blindness.
HUES = {
    "light": ("#4b45d1", "#c2410c", "#0f766e", "#be185d", "#8a6508", "#0369a1", "#4d7c0f", "#6b7280"),
    "dark": ("#9a92ff", "#fb923c", "#2dd4bf", "#f472b6", "#eab308", "#38bdf8", "#a3e635", "#cbd5e1"),
}


@reads_arguments
def links(  # noqa: PLR0913 - heads by one or by several, and what any view takes
    trace: TraceLike,
    kind: Kind,
    heads: Sequence[tuple[int | str, int | str]] | tuple[int | str, int | str] | None = None,
    *,
    layer: int | str = "mean",
    head: int | str = "mean",
    specials: Specials = "show",
    words: Merging = False,
    theme: str = "light",
) -> go.Figure:
    """Draw query tokens on the left, key tokens on the right, and a line for each weight of the chosen heads.

    `layer` and `head` choose one map, as in `heatmap`; alternatively, `heads` is a list of (layer, head) pairs, each
    drawn in its own colour. Opacity is proportional to the weight. Raises ValueError for a kind, head or theme that
    does not exist, and if heads are given in both ways.
    """
    heads = _pairs(heads, (layer, head))
    look = colour.theme(theme)
    maps = select(trace, kind, MapOptions(specials, words))
    attn = np.stack([maps.weights(layer, head).numpy() for layer, head in heads])[None] if heads else None
    # Plotly draws an axis only with a trace, so the key axis gets an empty one.
    figure = go.Figure(go.Scatter(x=[None], y=[None], yaxis="y2", showlegend=False, hoverinfo="skip", name="keys"))
    if attn is not None:
        lines = strongest_lines(attn, MOST_LINES)
        rows = np.repeat(np.arange(len(lines.starts) - 1), np.diff(lines.starts.astype(np.int64)))
        for at, (layer, head) in enumerate(heads):
            own = rows // attn.shape[2] == at
            hue = HUES[theme][at % len(HUES[theme])]
            ends = rows[own] % attn.shape[2], lines.cols[own], lines.weights[own]
            figure.add_traces(_strokes(ends, head_name(layer, head), hue))
    figure.update_layout(_layout(maps, heads, look))
    return figure


def _pairs(heads: Any, one: tuple[int | str, int | str]) -> list[tuple[int | str, int | str]]:
    """Return the (layer, head) pair of each map to draw. Raise ValueError for a value that is not a pair."""
    if heads is None:
        return [one]
    if one != ("mean", "mean"):
        raise ValueError(
            "Please pass heads in one way only: either layer and head, or heads as a list of (layer, head) pairs."
        )
    pairs = [heads] if _is_pair(heads) else heads
    if not isinstance(pairs, list | tuple) or not all(map(_is_pair, pairs)):
        raise ValueError(f"heads must be a list of (layer, head) pairs, such as [(2, 5)], not {describe(heads)}.")
    return [(layer, head) for layer, head in pairs]


def _is_pair(given: Any) -> bool:
    return isinstance(given, list | tuple) and len(given) == 2 and all(isinstance(part, int | str) for part in given)


def _strokes(ends: tuple[np.ndarray, np.ndarray, np.ndarray], name: str, hue: str) -> list[go.Scatter]:
    """Return one Plotly trace per shade, whose lines run from (0, row) to (1, key)."""
    rows, cols, weights = ends
    shades = np.ceil(np.clip(weights, 0, 1) * SHADES).astype(int)
    traces = []
    for shade in np.unique(shades):
        chosen = shades == shade
        gap = np.full(chosen.sum(), np.nan)
        traces.append(
            go.Scatter(
                x=np.tile([0.0, 1.0, np.nan], chosen.sum()),
                y=np.stack([rows[chosen].astype(float), cols[chosen].astype(float), gap], axis=1).reshape(-1),
                mode="lines",
                line={"color": hue, "width": 1.5},
                opacity=float(shade) / SHADES,
                hoverinfo="skip",
                name=name,
                legendgroup=name,
                showlegend=bool(shade == shades.max()),
            )
        )
    return traces


def _layout(maps: Maps, heads: Sequence[tuple[int | str, int | str]], look: colour.Theme) -> dict:
    longest = max(len(maps.rows), len(maps.cols))
    words = KINDS[maps.kind]
    names = ", ".join(head_name(layer, head) for layer, head in heads) or "no head"
    side = {"showgrid": False, "zeroline": False, "range": [longest - 0.5, -0.5], "automargin": True}
    keys = {**side, **ticks([col.text for col in maps.cols]), "overlaying": "y", "side": "right"}
    return {
        "title": {"text": f"{words.name}, {names}: {words.question}", "font": {"size": 15}},
        "font": {"family": FONT, "color": look.text, "size": 12},
        "paper_bgcolor": look.panel,
        "plot_bgcolor": look.panel,
        "height": min(1200, max(260, 24 * longest + 110)),
        "xaxis": {"visible": False, "range": [0, 1]},
        "yaxis": {**side, **ticks([row.text for row in maps.rows]), "title": {"text": f"query ↓ ({words.query})"}},
        "yaxis2": {**keys, "title": {"text": f"key ({words.key})"}},
        "legend": {"orientation": "h"},
    }


@reads_arguments
def whole_model(trace: TraceLike, kind: Kind, *, side: int = 48, theme: str = "light") -> go.Figure:
    """Draw every head of a kind as a small map in one heatmap, with a row per layer and a column per head.

    Colours run from 0 to 1. Maps of long texts are downsampled to the largest weight of each block, in eight bits.
    Raises ValueError for a kind or theme that does not exist.
    """
    look = colour.theme(theme)
    maps = trace.thumbnails(kind, side=side).numpy().astype(np.float32) / 255
    layers, heads, rows, cols = maps.shape
    gap = max(1, round(max(rows, cols) / 16))
    padded = np.pad(maps, ((0, 0), (0, 0), (0, gap), (0, gap)), constant_values=np.nan)
    mosaic = padded.transpose(0, 2, 1, 3).reshape(layers * (rows + gap), heads * (cols + gap))
    figure = go.Figure(
        go.Heatmap(z=mosaic, zmin=0, zmax=1, colorscale=colour.plotly_scale(look.sequential), hoverongaps=False)
    )
    axis = {"showgrid": False, "zeroline": False}
    figure.update_layout(
        title={"text": f"{escape_for_plotly(KINDS[kind].name)}: every head", "font": {"size": 15}},
        font={"family": FONT, "color": look.text, "size": 12},
        paper_bgcolor=look.panel,
        plot_bgcolor=look.panel,
        height=min(1200, max(260, 90 * layers + 110)),
        xaxis={**axis, "side": "top", **_places("H", heads, cols, gap)},
        yaxis={**axis, "autorange": "reversed", **_places("L", layers, rows, gap)},
    )
    return figure


def _places(letter: str, count: int, length: int, gap: int) -> dict[str, list]:
    return {
        "tickvals": [at * (length + gap) + (length - 1) / 2 for at in range(count)],
        "ticktext": [f"{letter}{at}" for at in range(count)],
    }
