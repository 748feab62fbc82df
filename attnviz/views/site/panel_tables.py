"""Maps side by side as HTML tables, for where no script of Plotly's is: the same panels as `panels_figure` draws."""

import html
from collections.abc import Sequence

import numpy as np

from attnviz.views.site.panels import Panel

MOST_WRITTEN = 14  # columns whose cells have room for their number


def panel_tables(panels: Sequence[Panel], rows: Sequence[str], cols: Sequence[str]) -> str:
    """Draw maps of the same tokens; styles colour a cell by its `--share` of the largest number, from -1 to 1."""
    return f"<div class='maps' tabindex=0>{''.join(_map(panel, rows, cols) for panel in panels)}</div>"


def _map(panel: Panel, rows: Sequence[str], cols: Sequence[str]) -> str:
    finite = np.abs(panel.z[np.isfinite(panel.z)])
    most = float(finite.max()) if panel.scale == "signed" and finite.size and finite.max() > 0 else 1.0
    top = "".join(f"<th scope=col><span>{html.escape(col)}</span></th>" for col in cols)
    cells = ("".join(_cell(float(number), most, len(cols)) for number in line) for line in panel.z)
    lines = (f"<tr><th scope=row>{html.escape(row)}</th>{line}</tr>" for row, line in zip(rows, cells, strict=True))
    caption = f"<caption>{html.escape(panel.title)}</caption>"
    return f"<table>{caption}<tr><td></td>{top}</tr>{''.join(lines)}</table>"


def _cell(number: float, most: float, n_cols: int) -> str:
    if not np.isfinite(number):
        return "<td>×</td>"
    said = f"{number:.2f}".replace("0.", ".", 1).replace("-", "−")
    text = said if n_cols <= MOST_WRITTEN else f"<i>{said}</i>"
    return f"<td style='--share:{number / most:.3f}' title='{number:.4g}'>{text}</td>"
