"""Vocabulary entries for the tokens in a map's labels, in the form that `kit/js/tokens/entries.js` reads."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attnviz.text.entries import Entry, entries

if TYPE_CHECKING:
    from attnviz.maps.grouping import ColLabel, RowLabel
    from attnviz.text.tokens import Token

LabelEntries = list[Entry]


def row_entries(rows: "Sequence[RowLabel]") -> list[list[LabelEntries]]:
    """Return the entries of each row's input tokens and output tokens; [] if no token has an entry."""
    found = [[entries(row.inputs), entries(row.outputs)] for row in rows]
    return found if any(part for both in found for part in both) else []


def col_entries(cols: "Sequence[ColLabel]") -> list[LabelEntries]:
    """Return the entries of each column; [] if no token has an entry."""
    return entries_of([col.keys for col in cols])


def entries_of(labels: "Sequence[Sequence[Token]]") -> list[LabelEntries]:
    """Return the entries of each label, which may cover several tokens; [] if no token has an entry."""
    found = [entries(tokens) for tokens in labels]
    return found if any(found) else []
