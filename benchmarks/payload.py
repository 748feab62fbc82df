"""The bytes that the overview of every head costs on its way to the browser, for each of its cells."""

from collections.abc import Iterator
from math import prod

from attnviz.analysis.metric_table import head_metrics
from attnviz.heads.payload import heads_payload
from attnviz.heads.sentences import sentence_strip
from attnviz.maps.selection import select
from benchmarks.model import text_of, translator
from benchmarks.report import Row


def rows() -> Iterator[Row]:
    """Measure the payload without its float32 maps, over the cells of all thumbnails, the browser's too."""
    for length in (16, 64, 256):
        text = text_of(length)
        trace = translator().trace(text, to="fr", tgt_text=text)
        maps = {kind: select(trace, kind) for kind in trace.kinds}
        payload = heads_payload(maps, head_metrics(maps, trace), view={}, strip=sentence_strip(trace))
        yield Row(
            f"payload without float32 maps, {length} tokens",
            _bytes_a_cell(payload.header, payload.pack()),
            "bytes a cell",
            1.15,
        )


def _bytes_a_cell(header: dict, packed: bytes) -> float:
    shapes = {kind["kind"]: kind["shape"] for kind in header["kinds"]}
    thumbnails = {kind["kind"]: kind["overview"] for kind in header["kinds"]}
    cells = sum(prod(shapes[kind][:2]) * view["height"] * view["width"] for kind, view in thumbnails.items())
    exact = sum(
        4 * entry.get("seen", prod(shapes[entry["kind"]][2 * ("layer" in entry) :])) for entry in header["exact"]
    )
    return (len(packed) - exact) / cells
