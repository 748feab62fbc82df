"""Spans along the axes of a picture, in the form that `shared/js/spans/` reads."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnviz.maps.grouping import ColLabel, RowLabel
    from attnviz.text.spans import Span

Bands = list[dict[str, Any]]


def axis_spans(rows: "Sequence[RowLabel]", cols: "Sequence[ColLabel]") -> dict[str, Bands]:
    """Return the `row_spans` and the `spans` (of the columns) of labels; an axis without spans is left out."""
    return spans_along([row.span for row in rows], [col.span for col in cols])


def spans_along(rows: "Sequence[Span | None]", cols: "Sequence[Span | None]") -> dict[str, Bands]:
    """Return `row_spans` and `spans`, given the span of each row and of each column."""
    found = {"row_spans": _bands(rows), "spans": _bands(cols)}
    return {name: bands for name, bands in found.items() if bands}


def told_spans(spans: "Sequence[Span]") -> Bands:
    """Return spans in the form used in a header, with unchanged positions."""
    return [_told(span, span.start, span.end) for span in spans]


def _bands(along: "Sequence[Span | None]") -> Bands:
    """Merge neighbours with the same span into one band with start and end, the end excluded."""
    bands, at = [], 0
    for span, run in groupby(along):
        end = at + len(list(run))
        if span is not None:
            bands.append(_told(span, at, end))
        at = end
    return bands


def _told(span: "Span", start: int, end: int) -> dict[str, Any]:
    return {"name": span.name, "role": span.role, "start": start, "end": end}
