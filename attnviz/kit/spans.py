"""Spans along the axes of a picture, as a header holds them for `shared/js/spans/`."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnviz.maps.grouping import ColLabel, RowLabel
    from attnviz.text.spans import Span

Bands = list[dict[str, Any]]


def axis_spans(rows: "Sequence[RowLabel]", cols: "Sequence[ColLabel]") -> dict[str, Bands]:
    """Return `row_spans` and `spans` (of the columns) of labels; left out where an axis has none."""
    return spans_along([row.span for row in rows], [col.span for col in cols])


def spans_along(rows: "Sequence[Span | None]", cols: "Sequence[Span | None]") -> dict[str, Bands]:
    """Return the same of the span that holds each row and each column."""
    found = {"row_spans": _bands(rows), "spans": _bands(cols)}
    return {name: bands for name, bands in found.items() if bands}


def told_spans(spans: "Sequence[Span]") -> Bands:
    """Write spans as a header holds them, positions as they are."""
    return [_told(span, span.start, span.end) for span in spans]


def _bands(along: "Sequence[Span | None]") -> Bands:
    """Join neighbours of one span: where it begins, and where it ends, the latter excluded."""
    bands, at = [], 0
    for span, run in groupby(along):
        end = at + len(list(run))
        if span is not None:
            bands.append(_told(span, at, end))
        at = end
    return bands


def _told(span: "Span", start: int, end: int) -> dict[str, Any]:
    return {"name": span.name, "role": span.role, "start": start, "end": end}
