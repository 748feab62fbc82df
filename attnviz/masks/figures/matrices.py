"""Small matrices and masks as HTML, with the actual values. All texts are escaped here."""

import html
import math
from collections.abc import Sequence

Numbers = Sequence[Sequence[float]]

MOST_CELLS = 32  # maximum rows or columns that are drawn


def matrix(name: str, values: Numbers, *, rows: Sequence[str] = (), quiet: Sequence[tuple[int, int]] = ()) -> str:
    """Draw a matrix with a title and row names; the cells in `quiet` (row, column) look masked."""
    body = "".join(
        "<tr>"
        + (f"<th>{html.escape(rows[row])}</th>" if rows else "")
        + "".join(_cell(value, masked=(row, column) in quiet) for column, value in enumerate(line))
        + "</tr>"
        for row, line in enumerate(values)
    )
    return f"<figure class='matrix'><figcaption>{html.escape(name)}</figcaption><table>{body}</table></figure>"


def equation(*parts: str) -> str:
    """Draw matrices and signs on one line."""
    return (
        "<div class='equation' tabindex='0'>"
        + "".join(part if part.startswith("<") else f"<span class='sign'>{html.escape(part)}</span>" for part in parts)
        + "</div>"
    )


def vector(name: str, values: Sequence[float], *, rest: int = 0, changed: bool = False) -> str:
    """Draw a vector on one line. `rest` is the number of values not shown, and `changed` highlights the vector."""
    shown = "  ".join(format_number(value) for value in values) + (f"  … {rest} more" if rest > 0 else "")
    kind = " changed" if changed else ""
    return f"<div class='vector{kind}'><span>{html.escape(name)}</span><code>{html.escape(shown)}</code></div>"


def cells(mask: Sequence[Sequence[bool]], *, labels: Sequence[str] = (), note: str = "") -> str:
    """Draw a mask as a small picture: visible cells are filled, masked cells hatched.

    Of a mask with more than `MOST_CELLS` rows or columns only the first ones are drawn, and the note says so.
    """
    if max(len(mask), *map(len, mask)) > MOST_CELLS:
        mask = [line[:MOST_CELLS] for line in mask[:MOST_CELLS]]
        note = f"{note}; its first {MOST_CELLS} rows and columns are drawn"
    lines = "".join(
        "<tr>" + "".join(f"<td class='{'sees' if seen else 'masked'}'></td>" for seen in line) + "</tr>"
        for line in mask
    )
    title = f" title='{html.escape(', '.join(labels), quote=True)}'" if labels else ""
    return f"<figure class='cells'{title}><table>{lines}</table><figcaption>{html.escape(note)}</figcaption></figure>"


def format_number(value: float) -> str:
    """Format a number with four decimals and a real minus sign."""
    if math.isnan(value):
        return "NaN"
    return f"{value:.4f}".replace("-", "−") if abs(value) < 1e4 else f"{value:.3g}".replace("-", "−")


def _cell(value: float, *, masked: bool) -> str:
    return f"<td{' class=masked' if masked else ''}>{format_number(value)}</td>"
