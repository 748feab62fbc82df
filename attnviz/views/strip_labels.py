"""Labels of a map's rows and columns, told only where they are not simply the tokens of the sentences above the maps.

They are, until pieces are merged into words or special tokens are hidden, and then a sentence is written once, not
seven times.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnviz.tracing.long_shown import LongShown
    from attnviz.tracing.shown import Shown

Strip = dict[str, Any]
Row = list[str | None]


def packed_strip(strip: Strip) -> Strip:
    """A `sentence_strip` whose lines hold their texts in one list, and in another the places of special tokens."""
    lines = [
        {
            "name": line["name"],
            "tokens": [text for text, _ in line["tokens"]],
            "special": [at for at, (_, special) in enumerate(line["tokens"]) if special],
        }
        for line in strip["lines"]
    ]
    return {**strip, "lines": lines}


def labels(maps: "Shown | LongShown", strip: Strip) -> dict[str, Any]:
    """`rows`, each `[input, output]`, and `cols`, each a text; left out where `strip_labels` gives the same.

    `strip` is packed, here and below.
    """
    told = {"rows": [[row.input, row.output] for row in maps.rows], "cols": [col.text for col in maps.cols]}
    from_strip = strip_labels(maps.kind, strip, (len(maps.rows), len(maps.cols)))
    return {name: texts for name, texts in told.items() if texts != from_strip[name]}


def strip_labels(kind: str, strip: Strip, lengths: tuple[int, int]) -> dict[str, Any]:
    """The labels of a map whose row i and column i are token i of their axes; None where the strip has no such axes.

    The script of the component reads them in the same way.
    """
    axes = strip["axes"].get(kind)
    if axes is None:
        return {"rows": None, "cols": None}
    (query_line, output), (key_line, _) = axes["query"], axes["key"]
    queries, keys = (strip["lines"][line]["tokens"] for line in (query_line, key_line))
    if lengths[0] + output > len(queries) or lengths[1] > len(keys):
        return {"rows": None, "cols": None}
    rows: list[Row] = [[queries[at], queries[at + output] if output else None] for at in range(lengths[0])]
    return {"rows": rows, "cols": keys[: lengths[1]]}
