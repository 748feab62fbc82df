"""Charts of a class's answers, large enough for the last row of a room.

The answers are drawn on the map, beside the model's row, as bars, or as dots. All texts are escaped here. The right
answer is marked by a shape or a pattern and not by colour alone.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attnviz.heads.figures.heatmap import heatmap_of
from attnviz.kit.views import colour
from attnviz.kit.views.labels import escape_for_plotly, ticks
from attnviz.kit.views.panels import style_figure
from attnviz.maps.maps import Maps

Cell = tuple[int, int]  # row and column
CLASS = "#a3541a"  # the class's answers: amber, on which white letters are read
LETTERS = 16  # pixels
CELL, LEAST, MOST = (
    34.0,
    18.0,
    24.0,
)  # pixels: a cell of a map, and the smallest and largest disc, round which it is seen
_WIDEST, _MOST_LINES = 24, 3  # characters and lines of an option beside its bar
_BINS = 48  # places along a line where dots are stacked
PROJECTED_LETTERS, PROJECTED_LEAST = 20, 9  # pixels on a projector: of usual letters, and with many rows
_HIGH, _WIDE = 290, 700  # pixels for the rows of a map and for the keys of any figure on the projector
_LETTER_WIDTH = 0.62  # of a letter's size, on average
_SLANTED = 1.3  # of a letter's size: from one slanted name to the next


def clicks_on_map(
    shown: Maps, site: tuple[int | str, int | str], counts: Mapping[Cell, int], right: Sequence[Cell], *, theme: str
) -> go.Figure:
    """Draw the model's map of `site` (layer, head), with a disc and a count on each cell that was clicked.

    The right cells have a frame.
    """
    look = colour.theme(theme)
    figure = heatmap_of(shown, *site, theme=theme)
    clicked = [(cell, count) for cell, count in sorted(counts.items()) if count]
    most = max((count for _, count in clicked), default=1)
    figure.add_traces([_frames(right, look.panel, 8), _frames(right, look.text, 4)])
    figure.add_trace(
        go.Scatter(
            x=[col for (_, col), _ in clicked],
            y=[row for (row, _), _ in clicked],
            mode="markers+text",
            text=[str(count) for _, count in clicked],
            textfont={"color": "#ffffff", "size": 14},
            marker={
                "size": [LEAST + (MOST - LEAST) * math.sqrt(count / most) for _, count in clicked],
                "color": CLASS,
                "opacity": 1,
                "line": {"color": "#ffffff", "width": 2},
            },
            hovertemplate="%{text} of the class<extra></extra>",
            name="clicked",
            showlegend=False,
        )
    )
    figure.update_xaxes(title_font_size=13).update_yaxes(title_font_size=13)
    return figure.update_layout(font_size=14, height=max(440, int(len(shown.rows) * CELL) + 220))


def _frames(cells: Sequence[Cell], ink: str, width: int) -> go.Scatter:
    """Draw a frame around each cell.

    Callers draw two frames of different colour, so that one is visible on any cell.
    """
    x: list[float | None] = []
    y: list[float | None] = []
    for row, col in cells:
        x += [col - 0.48, col + 0.48, col + 0.48, col - 0.48, col - 0.48, None]
        y += [row - 0.48, row - 0.48, row + 0.48, row + 0.48, row - 0.48, None]
    line = {"color": ink, "width": width}
    return go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False, name="right")


def rows_compared(keys: Sequence[str], mean: Sequence[float], model: Sequence[float], *, theme: str) -> go.Figure:
    """Draw the mean of the class's rows, hatched, beside the model's row."""
    look = colour.theme(theme)
    hatched = {"color": CLASS, "pattern": _hatching("/")}
    figure = go.Figure(
        [
            _upright(mean, "the class, on average", hatched),
            _upright(model, "the model", {"color": look.accent}),
        ]
    )
    figure.update_xaxes({**ticks(list(keys)), "tickangle": -40 if len(keys) > 8 else 0})
    figure.update_yaxes(title="weight", rangemode="tozero", gridcolor=look.line)
    return _style_large(figure, look).update_layout(
        barmode="group", height=460, margin_t=60, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    )


def _upright(weights: Sequence[float], name: str, marker: dict) -> go.Bar:
    return go.Bar(
        x=np.arange(len(weights)),
        y=list(weights),
        name=name,
        marker=marker,
        hovertemplate=f"{name}: %{{y:.3f}}<extra></extra>",
    )


def bars_of_choices(options: Sequence[str], counts: Sequence[int], right: int | None, *, theme: str) -> go.Figure:
    """Draw a bar for each option with its count and share. The right option also has a tick."""
    look, total = colour.theme(theme), max(1, sum(counts))
    names = [
        "<br>".join(map(escape_for_plotly, wrap(option, _WIDEST, max_lines=_MOST_LINES, placeholder=" …")))
        for option in options
    ]
    figure = go.Figure(
        go.Bar(
            x=list(counts),
            y=np.arange(len(options)),
            orientation="h",
            text=[f"{count} · {count / total:.0%}" for count in counts],
            textposition="outside",
            textfont={"size": LETTERS},
            cliponaxis=False,
            marker={
                "color": [look.accent if at == right else CLASS for at in range(len(options))],
                "pattern": _hatching(["" if at == right else "/" for at in range(len(options))]),
            },
            customdata=[escape_for_plotly(option) for option in options],
            hovertemplate="%{customdata}: %{x}<extra></extra>",
        )
    )
    marked = [f"✓ {name}" if at == right else name for at, name in enumerate(names)]
    figure.update_yaxes(tickvals=list(range(len(options))), ticktext=marked, autorange="reversed", automargin=True)
    figure.update_yaxes(ticklabelstandoff=10)
    figure.update_xaxes(visible=False, range=[0, max(*counts, 1) * 1.6])
    return _style_large(figure, look).update_layout(height=80 + 62 * len(options))


def dots_on_a_line(values: Sequence[float], right: float, within: float, *, unit: str, theme: str) -> go.Figure:
    """Draw every answered number as a dot on an axis, equal numbers stacked, and the right number as a line.

    A number outside the axis is a triangle at its end; hovering shows the value.
    """
    look = colour.theme(theme)
    low, high = _span(values, right, within)
    x, y, symbols = _stack_dots(values, low, high)
    figure = go.Figure(
        go.Scatter(
            x=x,
            y=y,
            mode="markers",
            marker={"size": 16, "color": CLASS, "symbol": symbols, "line": {"color": "#ffffff", "width": 1}},
            customdata=list(values),
            hovertemplate=f"%{{customdata:.6g}} {escape_for_plotly(unit)}<extra></extra>",
            cliponaxis=False,
            showlegend=False,
        )
    )
    figure.add_vline(
        x=right,
        line={"color": look.accent, "width": 3},
        annotation={"text": f"the model: {right:.4g}", "font": {"size": LETTERS, "color": look.text}, "yshift": 22},
    )
    figure.update_yaxes(visible=False, range=[0, max(6, *y, 0) + 1])
    far = "▸ an answer beyond this axis" if len(set(symbols)) > 1 or "circle" not in symbols else ""
    said = " · ".join(filter(None, (unit, far)))
    figure.update_xaxes(title=escape_for_plotly(said), range=[low, high], gridcolor=look.line, zeroline=False)
    return _style_large(figure, look).update_layout(height=360, margin_t=50)


def _span(values: Sequence[float], right: float, within: float) -> tuple[float, float]:
    """Compute the ends of the axis, so that the right number and the answers near it use most of its length."""
    away = float(np.median(np.abs(np.array(values) - right))) if values else 0.0
    reach = max(4 * away, 4 * within, 0.1 * abs(right), 1e-9)
    near = [value for value in values if abs(value - right) <= reach] + [right]
    room = max(max(near) - min(near), reach / 4) * 0.08
    return min(near) - room, max(near) + room


def _stack_dots(values: Sequence[float], low: float, high: float) -> tuple[list[float], list[int], list[str]]:
    """Compute each dot's position on the axis, its height on a stack of equal dots, and its symbol."""
    seen: Counter[int] = Counter()
    x, y, symbols = [], [], []
    for value in values:
        place = min(max(value, low), high)
        at = round((place - low) / (high - low) * _BINS)
        seen[at] += 1
        x.append(place)
        y.append(seen[at])
        symbols.append("circle" if low <= value <= high else "triangle-left" if value < low else "triangle-right")
    return x, y, symbols


def _hatching(shape: str | list[str]) -> dict[str, Any]:
    """Return Plotly's settings for a pattern of white lines over a bar's colour."""
    return {"shape": shape, "fillmode": "overlay", "fgcolor": "#ffffff", "fgopacity": 0.55, "solidity": 0.2}


def _style_large(figure: go.Figure, look: colour.Theme) -> go.Figure:
    """Style a figure without a title, since the page shows the question above it, and a saved file below it."""
    return style_figure(figure, "", look).update_layout(font_size=LETTERS, margin={"t": 20, "b": 50})


def enlarge_for_projector(figure: go.Figure) -> go.Figure:
    """Give a figure letters that the last row of a room can read, and let it fill its container.

    *Present* (attnviz/app/widgets/screen) enlarges the figure further by at least a half.
    """
    figure.update_layout(height=None, font_size=PROJECTED_LETTERS)
    parts: Any = figure.data
    if parts[0].type == "heatmap":
        return _enlarge_map(figure, parts)
    if isinstance(parts[0], go.Bar) and parts[0].orientation != "h":
        _fit_keys(figure)
    return figure.update_traces(textfont_size=PROJECTED_LETTERS, selector={"type": "bar"})


def _fit_keys(figure: go.Figure) -> None:
    """Slant and shrink the names of the keys if they would overlap otherwise."""
    layout: Any = figure.layout
    names = [re.sub(r"&\S+?;", "x", name) for name in layout.xaxis.ticktext]
    place = _WIDE / max(1, len(names))
    is_slanted = max(map(len, names), default=0) * PROJECTED_LETTERS * _LETTER_WIDTH > place
    letters = min(PROJECTED_LETTERS, max(PROJECTED_LEAST, int(place / _SLANTED))) if is_slanted else PROJECTED_LETTERS
    figure.update_xaxes(tickangle=-40 if is_slanted else 0, tickfont_size=letters)


def _enlarge_map(figure: go.Figure, parts: Any) -> go.Figure:
    """Let a map's cells fill the figure, square or not, and move the head's name to the axis of the keys."""
    cells = parts[0]
    layout: Any = figure.layout
    keys = f"{layout.title.text} · {layout.xaxis.title.text}"
    figure.update_xaxes(title={"text": keys, "font": {"size": PROJECTED_LETTERS - 4}}, automargin=True)
    figure.update_yaxes(title=None, scaleanchor=None)
    figure.update_traces(
        colorbar={"len": 1, "title": {"font": {"size": PROJECTED_LETTERS - 4}}}, selector={"type": "heatmap"}
    )
    low, wide = sorted((_HIGH / len(cells.y), _WIDE / len(cells.x)))
    share = low / CELL  # size of a cell on the projector, relative to a cell on a page
    disc = max(share, min(1.1 * low, 0.5 * wide) / MOST)  # a long cell stays visible beside a disc of its height
    for part in parts:
        if part.name == "clicked":
            part.marker.size = [size * disc for size in part.marker.size]
            part.textfont.size = max(PROJECTED_LEAST, min(PROJECTED_LETTERS, 14 * disc))
        elif part.name == "right":
            part.line.width = max(1, part.line.width * min(1, share))
    letters = min(PROJECTED_LETTERS, max(PROJECTED_LEAST, _HIGH // len(cells.y)))
    _fit_keys(figure)
    return figure.update_layout(title=None, font_size=letters, margin={"l": 6, "r": 6, "t": 6, "b": 6})
