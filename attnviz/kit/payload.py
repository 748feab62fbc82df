"""The parts of a header that several pictures share: the open kind and its name, labels with their vocabulary entries
(read by `kit/js/tokens/entries.js`), and spans along the axes (read by `kit/js/spans/`).
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.kit.views import colour
from attnviz.kit.views.labels import KINDS
from attnviz.kit.wire import Blobs, Payload
from attnviz.text.entries import Entry, entries

if TYPE_CHECKING:
    from attnviz.maps.grouping import ColLabel, RowLabel
    from attnviz.text.tokens import Span, Token

Bands = list[dict[str, Any]]
LabelEntries = list[Entry]
_SCALES = ("SEQUENTIAL_LIGHT", "SEQUENTIAL_DARK", "DIVERGING_LIGHT", "DIVERGING_DARK")


def common_header(kind: str, kinds: Sequence[str], blobs: Blobs) -> dict[str, Any]:
    """Return the start of a header: the open kind in words, all kinds as `[kind, title]`, and the colour scales."""
    words = KINDS[kind]
    return {
        "kind": kind,
        "kinds": [[name, KINDS[name].name.removesuffix("-attention")] for name in kinds],
        "title": words.name,
        "question": words.question,
        "query_name": words.query,
        "key_name": words.key,
        "colour": {name.lower(): blobs.add(_scale(name)) for name in _SCALES},
    }


def payload_of(header: dict[str, Any], view: dict[str, Any], blobs: Blobs) -> Payload:
    """Make a payload from a header, blobs and a view.

    Its id is a hash of header and blobs, so that the browser recognises equal data.
    """
    name = blobs.digest(header)
    return Payload({**header, "base": name, "id": name, "view": view}, blobs.join())


def data_payload(kind: str, kinds: Sequence[str], data: Mapping[str, Any]) -> Payload:
    """Make a payload of named values, in the form that `drawn_picture.js` reads.

    Arrays are sent as float32, boolean arrays and arrays of bytes as bytes. Raise TypeError for a value that is neither
    an array nor valid JSON.
    """
    blobs, plain, arrays = Blobs(), {}, {}
    header = common_header(kind, kinds, blobs)
    for name, value in data.items():
        if not hasattr(value, "__array__"):
            plain[name] = value
            continue
        array = np.asarray(value)
        array = array.astype(np.uint8 if array.dtype in (bool, np.uint8) else np.float32)
        arrays[name] = {"offset": blobs.add(array), "shape": list(array.shape), "bytes": array.itemsize}
    return payload_of({**header, "data": plain, "arrays": arrays}, {}, blobs)


def _scale(name: str) -> np.ndarray:
    return np.asarray(getattr(colour, name), dtype=np.uint8).reshape(256, 3)


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
