"""Maps side by side as HTML tables, for places without Plotly's script: the same panels that `panels_figure` draws."""

import html
from collections.abc import Sequence

import numpy as np

from attnviz.kit.views.panels import Panel

MOST_WRITTEN = 14  # maximum columns with values written in the cells


def panel_tables(panels: Sequence[Panel], rows: Sequence[str], cols: Sequence[str]) -> str:
    """Draw maps of the same tokens. Style sheets colour a cell by its `--share` of the largest value, from -1 to 1."""
    return map_tables([(panel.title, _cells(panel)) for panel in panels], rows, cols)


def map_tables(maps: Sequence[tuple[str, Sequence[Sequence[str]]]], rows: Sequence[str], cols: Sequence[str]) -> str:
    """Return maps with the same rows and columns side by side; each is a title and lines of `cell`."""
    return f"<div class='maps' tabindex=0>{''.join(_map(*one, rows, cols) for one in maps)}</div>"


def cell(share: float, exact: str, written: str) -> str:
    """Return a cell with the shade of its share, from -1 to 1; `exact` is its tooltip."""
    return f"<td style='--share:{share:.3f}' title='{html.escape(exact)}'>{html.escape(written)}</td>"


def _map(title: str, lines: Sequence[Sequence[str]], rows: Sequence[str], cols: Sequence[str]) -> str:
    top = "".join(f"<th scope=col><span>{html.escape(col)}</span></th>" for col in cols)
    drawn = (
        f"<tr><th scope=row>{html.escape(row)}</th>{''.join(line)}</tr>" for row, line in zip(rows, lines, strict=True)
    )
    return f"<table><caption>{html.escape(title)}</caption><tr><td></td>{top}</tr>{''.join(drawn)}</table>"


def _cells(panel: Panel) -> list[list[str]]:
    finite = np.abs(panel.z[np.isfinite(panel.z)])
    most = float(finite.max()) if panel.scale == "signed" and finite.size and finite.max() > 0 else 1.0
    return [[_cell(float(number), most, len(line)) for number in line] for line in panel.z]


def _cell(number: float, most: float, n_cols: int) -> str:
    if not np.isfinite(number):
        return "<td>×</td>"
    written = f"{number:.2f}".replace("0.", ".", 1).replace("-", "−")
    return cell(number / most, f"{number:.4g}", written if n_cols <= MOST_WRITTEN else "")
