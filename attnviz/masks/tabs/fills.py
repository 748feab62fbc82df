"""The tab "All fills" of Masks: one row of attention under every fill."""

import pandas as pd
import torch

from attnviz.analysis.mask_spec import fit_mask
from attnviz.masks.figures.tables import fill_table, three_answers
from attnviz.masks.mask_lab import FILL_NAMES
from attnviz.masks.masks import MaskBench, painting_to_text
from attnviz.masks.numbers.findings import comparison

LABEL = "Row"
NO_KEYS = "A row without keys"


def telling_row(bench: MaskBench) -> int:
    """Return the row to show: the pinned row, or the first row without keys, with paint, or with some keys masked."""
    pinned = pinned_row(bench)
    if pinned is not None:
        return pinned
    shut, painted = ~bench.mask.any(dim=-1), (bench.mask != bench.rules).any(dim=-1)
    misses_some = bench.mask.any(dim=-1) & ~bench.mask.all(dim=-1)
    return next((int(rows.int().argmax()) for rows in (shut, painted, misses_some) if bool(rows.any())), 0)


def pinned_row(bench: MaskBench) -> int | None:
    """Return the pinned row, or None if there is none in this map."""
    row = bench.view.row
    return row if row is not None and row < bench.shape[0] else None


def row_names(bench: MaskBench) -> list[str]:
    """Return a name for every row: its position and its tokens."""
    return [f"{at}: {' → '.join(filter(None, names))}" for at, names in enumerate(bench.rows)]


def row_to_shut(bench: MaskBench) -> int:
    """Return the row that the button “A row without keys” masks completely: the pinned row, or else the third."""
    row = pinned_row(bench)
    return min(2, bench.shape[0] - 1) if row is None else row


def paint_row(bench: MaskBench, row: int, *, sees: bool) -> str:
    """Return the paint, as text, with a whole row shown or hidden."""
    before = bench.recipe.painted
    paint = torch.ones(bench.shape, dtype=torch.bool) if before is None else fit_mask(before, *bench.shape)
    paint[row] = sees
    return painting_to_text(paint.numpy())


def every_fill(bench: MaskBench, row: int) -> pd.DataFrame:
    """Return a table with the weights of one row under every fill value and dtype, with the chosen dtype first."""
    table = comparison(bench.call, bench.mask, row, bench.view.number)
    return table.sort_values("dtype", key=lambda names: names != bench.view.dtype, kind="stable")


def answers(bench: MaskBench, table: pd.DataFrame, row: int) -> str:
    """Return HTML cards of the three possible results for a row that sees no key; "" for any other row."""
    if bool(bench.mask[row].any()):
        return ""
    return three_answers(table.loc[table["dtype"] == bench.view.dtype], FILL_NAMES, row=f"Row {row}")


def lines(table: pd.DataFrame, row: int) -> str:
    """Return the table of fills as HTML."""
    return fill_table(table, FILL_NAMES, row=f"Row {row}")
