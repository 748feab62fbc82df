"""The sentences above the maps: their tokens, and which token each row or column of a kind's map stands for."""

from typing import TYPE_CHECKING, Any

from attnviz.kit.payload import col_entries, row_entries, told_spans
from attnviz.text.display import display_token
from attnviz.text.entries import entry

if TYPE_CHECKING:
    from attnviz.maps.maps import Maps
    from attnviz.text.tokens import Token
    from attnviz.tracing.trace import TraceLike
    from attnviz.transformer.probe import Kind

# Which sentence is on a kind's query axis and key axis.
_AXES: "dict[Kind, tuple[str, str]]" = {
    "encoder_self": ("source", "source"), "decoder_self": ("target", "target"), "cross": ("target", "source"),
}  # fmt: skip


def sentence_strip(trace: "TraceLike") -> dict[str, Any]:
    """Return the sentences that the Heads component draws above the maps, one line each.

    `lines` has for each sentence its name, its tokens (`[text, special, entry]`, see `attnviz.text.entries`) and, for a
    conversation, its turns (`spans`). `axes` has for each kind the lines of its query and key axes, and the offset of
    the axis's token 0 in that line: a decoder row stands for the token that it outputs, one position to the right of
    its input token.
    """
    source, target = _first_kind(trace, "encoder_self", "cross"), _first_kind(trace, "decoder_self", "cross")
    sentences: dict[str, tuple[Token, ...]] = {}
    output = 0
    if source:
        sentences["source"] = trace.key_tokens(source)
    if target:
        outputs = trace.output_tokens(target)
        output = int(outputs is not None)
        sentences["target"] = trace.query_tokens(target) + (outputs or ())[-1:]
    at = {name: line for line, name in enumerate(sentences)}
    lines: list[dict[str, Any]] = [
        {"name": name if len(sentences) > 1 else "text", "tokens": [_token_entry(token) for token in tokens]}
        for name, tokens in sentences.items()
    ]
    axes = {
        kind: {"query": [at[queries], output * (queries == "target")], "key": [at[keys], 0]}
        for kind, (queries, keys) in _AXES.items()
        if kind in trace.kinds
    }
    if target and (spans := trace.sentences[0].spans):
        lines[at["target"]]["spans"] = told_spans(spans)
    return {"lines": lines, "axes": axes}


def _first_kind(trace: "TraceLike", *kinds: "Kind") -> "Kind | None":
    return next(filter(trace.kinds.__contains__, kinds), None)


def _token_entry(token: "Token") -> list[Any]:
    return [display_token(token), token.is_special, entry(token)]


Strip = dict[str, Any]
Row = list[str | None]


def packed_strip(strip: Strip) -> Strip:
    """Return a `sentence_strip` in compact form: each line has separate lists of texts, positions of special
    tokens and, if known, vocabulary entries.
    """
    return {**strip, "lines": [_pack_line(line) for line in strip["lines"]]}


def _pack_line(line: dict[str, Any]) -> dict[str, Any]:
    found = [token[2] if len(token) > 2 else None for token in line["tokens"]]
    return {
        "name": line["name"],
        "tokens": [token[0] for token in line["tokens"]],
        "special": [at for at, token in enumerate(line["tokens"]) if token[1]],
        **({"entries": found} if any(found) else {}),
        **({"spans": line["spans"]} if "spans" in line else {}),
    }


def labels(maps: "Maps", strip: Strip) -> dict[str, Any]:
    """Return the labels of a map: `rows`, each `[input, output]`, and `cols`, each a text.

    Their pieces and ids are in `row_entries` and `col_entries`. Labels that `strip_labels` would return too are
    omitted. `strip` is packed, here and below.
    """
    told = {"rows": [[row.input, row.output] for row in maps.rows], "cols": [col.text for col in maps.cols]}
    from_strip = strip_labels(maps.kind, strip, (len(maps.rows), len(maps.cols)))
    own = {name: texts for name, texts in told.items() if texts != from_strip[name]}
    found: dict[str, Any] = {}
    if "rows" in own:
        found["row_entries"] = row_entries(maps.rows)
    if "cols" in own:
        found["col_entries"] = col_entries(maps.cols)
    return own | {name: entries for name, entries in found.items() if entries}


def strip_labels(kind: str, strip: Strip, lengths: tuple[int, int]) -> dict[str, Any]:
    """Return the labels of a map whose row i and column i are token i of their axes, as taken from the strip.

    They are None if the strip has no such axes. The component's script computes the same labels.
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
