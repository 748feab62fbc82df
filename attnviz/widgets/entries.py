"""What the vocabulary has for the tokens of a map's labels, as widgets are told it (`shared/js/tokens/entries.js`)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attnviz.text.entries import Entry, entries

if TYPE_CHECKING:
    from attnviz.maps.grouping import ColLabel, RowLabel
    from attnviz.text.tokens import Token

LabelEntries = list[Entry]


def row_entries(rows: "Sequence[RowLabel]") -> list[list[LabelEntries]]:
    """For each row what is known of the tokens that go in and of those that come out; [] where nobody said."""
    found = [[entries(row.inputs), entries(row.outputs)] for row in rows]
    return found if any(part for both in found for part in both) else []


def col_entries(cols: "Sequence[ColLabel]") -> list[LabelEntries]:
    """For each column; [] where nobody said."""
    return entries_of([col.keys for col in cols])


def entries_of(labels: "Sequence[Sequence[Token]]") -> list[LabelEntries]:
    """For each label, whatever tokens it stands for; [] where nobody said."""
    found = [entries(tokens) for tokens in labels]
    return found if any(found) else []
