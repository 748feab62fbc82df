"""Vocabulary entries of the tokens of a map's labels, as a header holds them for `kit/js/tokens/entries.js`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attnviz.text.entries import Entry, entries

if TYPE_CHECKING:
    from attnviz.maps.grouping import ColLabel, RowLabel
    from attnviz.text.tokens import Token

LabelEntries = list[Entry]


def row_entries(rows: "Sequence[RowLabel]") -> list[list[LabelEntries]]:
    """List each row's entries, of its input tokens and of its output tokens; [] where no token is known."""
    found = [[entries(row.inputs), entries(row.outputs)] for row in rows]
    return found if any(part for both in found for part in both) else []


def col_entries(cols: "Sequence[ColLabel]") -> list[LabelEntries]:
    """List each column's entries; [] where no token is known."""
    return entries_of([col.keys for col in cols])


def entries_of(labels: "Sequence[Sequence[Token]]") -> list[LabelEntries]:
    """List the entries of each label, which may cover several tokens; [] where no token is known."""
    found = [entries(tokens) for tokens in labels]
    return found if any(found) else []
