"""Picture of a whole tensor: heads and sentences as small multiples, the other two dimensions as rows and columns."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from attnviz.kit.views import colour
from attnviz.kit.views.labels import hover_name
from attnviz.kit.views.panels import DOWN, style_figure

Tokens = Mapping[str, Sequence[Sequence[str]]]

MOST_CELLS = 70_000
MOST_TOLD = 20_000  # maximum cells with tokens in tooltips
HEIGHT = 266  # pixels, so that a table and a picture fit into 720
GAP = 2  # gap in cells between small multiples


@dataclass(frozen=True, eq=False)
class Tiles:
    """Values `(batch, heads, rows, cols)`, the names of the last two dimensions, and a note on omitted parts.

    Only every `step`-th row and column is drawn. `item` is the noun for an entry of the batch.
    """

    numbers: np.ndarray
    row: str
    col: str
    batch: tuple[int, ...]
    heads: tuple[int, ...] | None
    note: str
    step: int = 1
    item: str = "sentence"


def tiles_of(tensor: np.ndarray, axes: tuple[str, ...], *, head: int = 0, item: str = "sentence") -> Tiles:
    """Move the dimensions "batch" and "heads" to the front. `item` is the noun for an entry of the batch.

    A tensor that is too large is reduced to one head, and then to every n-th cell. Raise ValueError if "batch" is
    missing, or if the number of names differs from the number of dimensions.
    """
    if "batch" not in axes or len(axes) != tensor.ndim:
        raise ValueError(f"A tensor of {tensor.ndim} axes needs {tensor.ndim} names, one of them 'batch', not {axes}.")
    rest = [axis for axis in axes if axis not in ("batch", "heads")]
    front = ["batch"] + (["heads"] if "heads" in axes else [])
    numbers = tensor.transpose([axes.index(axis) for axis in (*front, *rest)])
    numbers = numbers if "heads" in axes else numbers[:, None]
    heads = tuple(range(numbers.shape[1])) if "heads" in axes else None
    notes = []
    if numbers.size > MOST_CELLS and heads and len(heads) > 1:
        numbers, heads = numbers[:, head : head + 1], (head,)
        notes.append(f"only H{head} is drawn, because there are too many cells")
    step = math.ceil((numbers.size / MOST_CELLS) ** 0.5)
    if step > 1:
        numbers = numbers[..., ::step, ::step]
        notes.append(f"one in {step} rows and columns is drawn")
    batch = tuple(range(len(numbers)))
    return Tiles(numbers, rest[0], rest[1], batch, heads, "; ".join(notes), max(1, step), item)


def tensor_picture(
    tiles: Tiles,
    *,
    title: str,
    weights: bool = False,
    theme: str = "light",
    names: tuple[str, ...] = (),
    band: slice | None = None,
    tokens: Tokens | None = None,
) -> go.Figure:
    """Draw one heatmap of all small multiples, with sentences as rows and heads as columns.

    Without heads, sentences are side by side. `weights` are coloured from 0 to 1, other values around 0; −∞ is blank.
    `names` replace the head names above the tiles; `band` are rows of the first tile to outline. `tokens`, by dimension
    name a list for each sentence, appear in tooltips if there are not too many cells.
    """
    look = colour.theme(theme)
    numbers = tiles.numbers if tiles.heads else tiles.numbers.transpose(1, 0, 2, 3)
    sheet, where = _sheet(numbers.astype(np.float32), tiles.step)
    finite = np.abs(sheet[np.isfinite(sheet)])
    most = 1.0 if weights or not finite.size or not finite.max() else float(finite.max())
    figure = go.Figure(
        go.Heatmap(
            z=np.where(np.isfinite(sheet), sheet, np.nan),
            zmin=0 if weights else -most,
            zmax=most,
            colorscale=colour.plotly_scale(look.sequential if weights else look.diverging),
            colorbar={"thickness": 10, "outlinewidth": 0, "len": 0.9, "nticks": 5},
            **_hover_data(tiles, where, tokens or {}),
            hoverongaps=False,
            name="tensor",
        )
    )
    figure.update_xaxes(title=f"{tiles.col} →", showticklabels=False, ticks="", showgrid=False, zeroline=False)
    figure.update_yaxes(
        title=DOWN.format(tiles.row),
        showticklabels=False,
        ticks="",
        showgrid=False,
        zeroline=False,
        autorange="reversed",
    )
    _name_tiles(figure, names or _names(tiles), numbers.shape, look)
    if band is not None:
        rows = (band.start / tiles.step - 0.5, band.stop / tiles.step - 0.5)
        figure.add_shape(
            type="rect",
            x0=-0.5,
            x1=numbers.shape[3] - 0.5,
            y0=rows[0],
            y1=rows[1],
            line={"color": look.accent, "width": 3},
        )
    scale = "0 … 1" if weights else f"±{most:.3g}"
    scale += " · blank: −∞" if np.isneginf(numbers).any() else ""
    told = " · ".join(part for part in (scale, tiles.note) if part)
    said = f"{title}<br><span style='font-size:11px'>{told}</span>"
    return style_figure(figure, said, look).update_layout(
        height=HEIGHT, margin={"l": 36, "r": 6, "t": 62, "b": 30}, title_y=0.93, title_yanchor="top"
    )


def _sheet(numbers: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Arrange tiles on one sheet with gaps of NaN; also return (tile row, tile column, row, column) for each cell."""
    down, across, rows, cols = numbers.shape
    shape = (down * (rows + GAP) - GAP, across * (cols + GAP) - GAP)
    sheet, where = np.full(shape, np.nan, dtype=np.float32), np.zeros((*shape, 4), dtype=np.int16)
    row, col = np.meshgrid(np.arange(rows), np.arange(cols), indexing="ij")
    for y in range(down):
        for x in range(across):
            place = np.s_[y * (rows + GAP) : y * (rows + GAP) + rows, x * (cols + GAP) : x * (cols + GAP) + cols]
            sheet[place] = numbers[y, x]
            where[place] = np.stack([np.full_like(row, y), np.full_like(row, x), row * step, col * step], axis=-1)
    return sheet, where


def _hover_data(tiles: Tiles, where: np.ndarray, tokens: Tokens) -> dict[str, object]:
    """Return the data and template of tooltips: sentence, head, row and column with their tokens, and the value."""
    sentence = where[..., 0 if tiles.heads else 1]
    found = [(axis, at) for at, axis in ((2, tiles.row), (3, tiles.col)) if axis in tokens]
    if not found or where.size > 4 * MOST_TOLD:
        return {"customdata": where, "hovertemplate": _hover(tiles, {})}
    names = [_names_at(tokens[axis], sentence, where[..., at]) for axis, at in found]
    places = {at: 4 + place for place, (_, at) in enumerate(found)}
    return {"customdata": np.dstack([where.astype(object), *names]), "hovertemplate": _hover(tiles, places)}


def _names_at(sentences: Sequence[Sequence[str]], sentence: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return, for each cell, the token at its position in its sentence, for tooltips."""
    table = np.full((len(sentences), max(map(len, sentences))), "", dtype=object)
    for item, texts in enumerate(sentences):
        table[item, : len(texts)] = [hover_name(text) for text in texts]
    return table[sentence % len(table), np.minimum(place, table.shape[1] - 1)]


def _hover(tiles: Tiles, names: dict[int, int]) -> str:
    """Return the template of a tooltip.

    `names` maps a dimension (2 for rows, 3 for columns) to the index of its token in a cell's data.
    """
    first = "%{customdata[0]}, H%{customdata[1]}" if tiles.heads else "%{customdata[1]}"
    if tiles.heads and len(tiles.heads) == 1:
        first = f"%{{customdata[0]}}, H{tiles.heads[0]}"
    lines = [
        f"{axis} %{{customdata[{at}]}}" + (f": %{{customdata[{names[at]}]}}" if at in names else "")
        for at, axis in ((2, tiles.row), (3, tiles.col))
    ]
    return "<br>".join((f"{tiles.item} {first}", *lines, "%{z:.6g}<extra></extra>"))


def _names(tiles: Tiles) -> tuple[str, ...]:
    if tiles.heads is None:
        return tuple(f"{tiles.item} {number}" for number in tiles.batch)
    return tuple(f"H{head}" for head in tiles.heads)


def _name_tiles(figure: go.Figure, names: tuple[str, ...], shape: tuple[int, ...], look: colour.Theme) -> None:
    cols = shape[3]
    for place, name in enumerate(names):
        figure.add_annotation(
            x=place * (cols + GAP) + (cols - 1) / 2,
            y=1,
            yref="paper",
            yanchor="bottom",
            text=name,
            showarrow=False,
            font={"color": look.muted, "size": 11},
        )
