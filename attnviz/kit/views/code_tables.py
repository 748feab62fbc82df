"""HTML tables of code and shapes: two sources side by side, a diff, cells of memory. All text is escaped."""

import difflib
import html
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from attnviz.kit.views import colour


def source_diff(one: str, other: str, titles: tuple[str, str]) -> str:
    """Return two sources side by side; lines that differ are coloured and marked with − and +."""
    left, right = one.splitlines(), other.splitlines()
    rows = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        for at in range(max(b - a, d - c)):
            before = left[a + at] if a + at < b else None
            after = right[c + at] if c + at < d else None
            rows.append(f"<tr>{_line(before, tag != 'equal', '−')}{_line(after, tag != 'equal', '+')}</tr>")
    return _table("code-table diff", ("", titles[0], "", titles[1]), rows)


def code_change(wrong: str, right: str) -> str:
    """Return a unified diff: lines only in `wrong` are marked with −, lines only in `right` with +."""
    before, after = wrong.splitlines(), right.splitlines()
    rows = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            rows += [f"<tr>{_line(text, False, '')}</tr>" for text in before[a:b]]
            continue
        rows += [f"<tr>{_line(text, True, '−')}</tr>" for text in before[a:b]]
        rows += [f"<tr class=right>{_line(text, True, '+')}</tr>" for text in after[c:d]]
    return _table("code-table change", ("", "− wrong, + right"), rows)


def text_rows(rows: Mapping[str, str]) -> str:
    """Return a table with a name and a sentence in each line."""
    body = (f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in rows.items())
    return f"<div class='number-rows text'><table>{''.join(body)}</table></div>"


def small_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of a few lines, with numbers from the third column on."""
    return _rows(map(html.escape, heads), rows, "lines")


def word_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of a few lines; its headings are HTML, which may contain terms."""
    return _rows(heads, rows, "lines left")


def _rows(heads: Iterable[str], rows: Sequence[Sequence[str]], kind: str) -> str:
    top = "".join(f"<th>{head}</th>" for head in heads)
    body = ("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    return f"<div class='number-rows {kind}' tabindex=0><table><tr>{top}</tr>{''.join(body)}</table></div>"


def number_rows(rows: Mapping[str, Sequence[float]]) -> str:
    """Return a table with a row of numbers for each name."""
    body = (
        f"<tr><th>{html.escape(name)}</th>" + "".join(f"<td>{number:,}</td>" for number in numbers) + "</tr>"
        for name, numbers in rows.items()
    )
    return f"<div class='number-rows' tabindex=0><table>{''.join(body)}</table></div>"


def memory_cells(numbers: np.ndarray, places: np.ndarray, axes: Sequence[str], *, theme: str = "light") -> str:
    """Draw the elements of a small tensor with two or three dimensions, each with its position in memory, and below
    them the memory as one row of cells.

    The shade of a cell follows its position, so that the memory order is visible as an order of colours.
    """
    look = colour.theme(theme)
    blocks = numbers[None] if numbers.ndim == 2 else numbers
    where = places[None] if places.ndim == 2 else places
    drawn = []
    for at, (block, spots) in enumerate(zip(blocks, where, strict=True)):
        lines = "".join(
            "<tr>"
            + "".join(_cell(int(n), int(p), numbers.size, look) for n, p in zip(line, spot, strict=True))
            + "</tr>"
            for line, spot in zip(block, spots, strict=True)
        )
        caption = f"<caption>{html.escape(axes[0])} {at}</caption>" if numbers.ndim == 3 else ""
        drawn.append(f"<table>{caption}{lines}</table>")
    row = numbers.ravel()[places.ravel().argsort()]
    memory = "".join(_place(int(number), at, numbers.size, look) for at, number in enumerate(row))
    strip = f"<table class='strip'><tr><th>memory</th>{memory}</tr></table>"
    return f"<div class='memory-cells'>{''.join(drawn)}</div><div class='memory-cells'>{strip}</div>"


def memory_card(code: str, note: str, cells: str) -> str:
    """Return a tensor's line of code and a note, above its cells from `memory_cells`."""
    return f"<section><code>{html.escape(code)}</code><p>{html.escape(note)}</p>{cells}</section>"


def _cell(number: int, place: int, count: int, look: colour.Theme) -> str:
    return f"<td style='{_shade(place, count, look)}'>{number}<small>at {place}</small></td>"


def _place(number: int, place: int, count: int, look: colour.Theme) -> str:
    return f"<td style='{_shade(place, count, look)}'>{number}</td>"


def _shade(place: int, count: int, look: colour.Theme) -> str:
    shade = look.sequential[round(20 + place / max(1, count - 1) * 130)]
    return "background:#{:02x}{:02x}{:02x};color:{}".format(*shade, colour.ink_on(shade))


def _line(text: str | None, differs: bool, sign: str) -> str:
    if text is None:
        return "<td></td><td class=absent></td>"
    mark = sign if differs else ""
    return f"<td>{mark}</td><td{' class=differs' if differs else ''}><code>{html.escape(text) or '&nbsp;'}</code></td>"


def _table(kind: str, heads: Sequence[str], rows: Sequence[str]) -> str:
    top = "".join(f"<th>{html.escape(head)}</th>" for head in heads)
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f"<div class='{kind}' tabindex=0>{table}</div>"
