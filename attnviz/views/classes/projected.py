"""A figure of a class's answers for the projector. Present (attnviz/widgets/screen) magnifies it half again or more."""

from typing import Any

import plotly.graph_objects as go

LETTERS, LEAST = 20, 9  # pixels, where there is room for them, and where there are many rows
_MAP = 290  # pixels that a map's rows have
_DISC, _MANY = 0.7, 8  # how large discs are beside those of a page; from how many rows or keys on they are smaller


def projected(figure: go.Figure) -> go.Figure:
    """Give the figure letters that the last row can read, and the height of its place."""
    figure.update_layout(height=None, font_size=LETTERS)
    parts: Any = figure.data
    if parts[0].type == "heatmap":
        return _projected_map(figure, parts)
    return figure.update_traces(textfont_size=LETTERS, selector={"type": "bar"})


def _projected_map(figure: go.Figure, parts: Any) -> go.Figure:
    """Cells fill the place, square or not; the head's name stands with the axis of the keys."""
    cells = parts[0]
    layout: Any = figure.layout
    keys = f"{layout.title.text} · {layout.xaxis.title.text}"
    figure.update_xaxes(title={"text": keys, "font": {"size": LETTERS - 4}}, automargin=True)
    figure.update_yaxes(title=None, scaleanchor=None)
    figure.update_traces(colorbar={"len": 1, "title": {"font": {"size": LETTERS - 4}}}, selector={"type": "heatmap"})
    share = min(_DISC, _MANY / max(len(cells.x), len(cells.y)))
    for discs in (part for part in parts if part.name == "clicked"):
        discs.marker.size = [size * share for size in discs.marker.size]
        discs.textfont.size = LETTERS * share
    letters = min(LETTERS, max(LEAST, _MAP // len(cells.y)))
    return figure.update_layout(title=None, font_size=letters, margin={"l": 6, "r": 6, "t": 6, "b": 6})
