"""Select one kind's maps of a trace with the chosen options: special tokens hidden, pieces merged into words.

Figures, tables and metrics all read the same `Maps`, so that a label always belongs to its row. This file runs no
model.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from attnviz.maps.grouping import (
    ColLabel,
    Groups,
    RowLabel,
    col_labels,
    folded_col_labels,
    folded_row_labels,
    groups,
    merge_groups,
    row_labels,
    rows_without_keys,
    select_segment,
)
from attnviz.maps.maps import EagerMaps
from attnviz.maps.options import MapOptions
from attnviz.maps.spans import FOLDED, key_spans, move_spans, query_spans
from attnviz.tracing.trace import TraceLike
from attnviz.transformer.probe import Kind

EVERY_TOKEN = MapOptions()
Axes = tuple[tuple[RowLabel, ...], tuple[ColLabel, ...]]


def select(
    trace: TraceLike,
    kind: Kind,
    options: MapOptions = EVERY_TOKEN,
    *,
    item: int = 0,
    labelled: Axes | None = None,
    numbers: Tensor | None = None,
) -> EagerMaps:
    """Compute the maps of `kind` with the chosen options: special tokens hidden, pieces merged.

    The weight to a word or span is the sum over its pieces; the weight from a word or span is the mean over its pieces
    that see any key. Rows are renormalised, if asked, after merging. `labelled` is the result of `labels`, if the
    caller already has it. `numbers` `(layers, heads, q_len, k_len)` replace the weights and are not renormalised.
    Raises ValueError for a kind that the trace does not have.
    """
    if kind not in trace.kinds:
        raise ValueError(f"This trace has no {kind!r} maps; it has {', '.join(trace.kinds)}.")
    rows, cols = labelled or labels(trace, kind, options, item=item)
    row_groups, col_groups = tuple(row.tokens for row in rows), tuple(col.tokens for col in cols)
    attn = trace.attn(kind, item=item) if numbers is None else numbers
    full = _masks(trace, kind, item, attn.shape[0])
    attn, mask = merge_groups(attn, full, (row_groups, col_groups))
    if options.specials == "renormalise" and numbers is None:
        total = attn.sum(dim=-1, keepdim=True)
        attn = torch.where(total > 0, attn / total, attn)
    return EagerMaps(
        kind=kind,
        attn=attn,
        mask=mask,
        rows=rows,
        cols=cols,
        keyless=rows_without_keys(full, row_groups) if options.hides_specials or options.quadrant is not None else None,
        **said_of(trace, kind, options, cols, item=item),
    )


def said_of(
    trace: TraceLike, kind: Kind, options: MapOptions, cols: Sequence[ColLabel], *, item: int = 0
) -> dict[str, Any]:
    """Return the sentences `left_out` and `to_sink` of `MapLabels` for maps with these columns."""
    shown = sum(len(col.tokens) for col in cols)
    any_hidden = shown < len(trace.key_tokens(kind, item=item)) or options.specials == "renormalise"
    notes = _notes(trace, kind, options, any_hidden=any_hidden, item=item)
    return {
        "left_out": "; ".join(filter(None, notes)),
        "to_sink": trace.has_sinks(kind) and not any_hidden,
    }


def labels(trace: TraceLike, kind: Kind, options: MapOptions = EVERY_TOKEN, *, item: int = 0) -> Axes:
    """Return the labels of the rows and columns of `select`'s maps, without computing the maps."""
    queries, keys = trace.query_tokens(kind, item=item), trace.key_tokens(kind, item=item)
    of_queries, of_keys = query_spans(trace, kind, item), key_spans(trace, kind, item)
    col_groups = groups(keys, options, of_keys)
    if options.quadrant is not None:
        col_groups = select_segment(col_groups, keys, options.quadrant[1])
    row_groups = query_groups(trace, kind, options, item=item)
    outputs = trace.output_tokens(kind, item=item)
    merges_words = options.merges_words
    return (
        folded_row_labels(row_groups, queries, of_queries)
        if options.folds and of_queries
        else row_labels(row_groups, queries, outputs, words=merges_words, spans=of_queries),
        folded_col_labels(col_groups, keys, of_keys)
        if options.folds and of_keys
        else col_labels(col_groups, keys, of_keys),
    )


def query_groups(trace: TraceLike, kind: Kind, options: MapOptions, *, item: int = 0) -> Groups:
    """Return the positions of each row's query tokens.

    Decoder rows are merged and hidden by the token that they output, so that `<bos> → Un` stays. If tokens are folded
    into spans, decoder rows are merged by the input token.
    """
    queries, outputs = trace.query_tokens(kind, item=item), trace.output_tokens(kind, item=item)
    spans = query_spans(trace, kind, item)
    if options.folds and spans:
        return groups(queries, options, spans)
    merged, of_merged = (queries, spans) if outputs is None else (outputs, move_spans(spans, -1, len(outputs)))
    rows = groups(merged, options, of_merged)
    return rows if options.quadrant is None else select_segment(rows, queries, options.quadrant[0])


def _masks(trace: TraceLike, kind: Kind, item: int, layers: int) -> Tensor:
    """Stack the masks to `(layers or 1, heads or 1, q_len, k_len)`, with size 1 if every layer and head has
    the same.
    """
    masks = [trace.layer_mask(kind, layer, item) for layer in range(layers)]
    first = masks[0][:1]
    # Heads that share a mask in memory are not compared: for 16 tokens the comparison takes as long as all maps.
    shared = [mask[:1] if mask.stride(0) == 0 else mask for mask in masks]
    if all(bool((mask == first).all()) for mask in shared):
        return first[None].contiguous()
    return torch.stack(masks)


def _notes(trace: TraceLike, kind: Kind, options: MapOptions, *, any_hidden: bool, item: int) -> tuple[str, ...]:
    """Return what the legend says about the maps' rows and columns; texts may be empty."""
    is_folded = options.folds and bool(query_spans(trace, kind, item) or key_spans(trace, kind, item))
    hidden = _left_out_note(options, any_hidden, trace.has_sinks(kind))
    indexed = (
        "some cells are hidden by the indexer, which chooses the keys of each row" if trace.has_indexer(kind) else ""
    )
    return FOLDED if is_folded else "", hidden, indexed, trace.attending_layers(kind)


def _left_out_note(options: MapOptions, any_hidden: bool, has_sinks: bool) -> str:
    """Write the legend's sentence about hidden columns. A sink is always left out, because it has no column."""
    hidden = {"special tokens": options.hides_specials, "the other part": options.quadrant is not None}
    what = [name for name, is_hidden in hidden.items() if is_hidden]
    if not what or not any_hidden:
        return "rows sum to less than 1: the rest goes to the head’s sink, which is not a token" if has_sinks else ""
    what = [*what, "the sink"] if has_sinks else what
    sums = "rows made to sum to 1 again" if options.specials == "renormalise" else "rows sum to less than 1"
    return f"{' and '.join(what)} hidden: {sums}"
