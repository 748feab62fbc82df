"""One kind's maps of a trace as a person asked to see them: special tokens hidden, pieces merged into words.

Figures, tables and metrics all read the same `Shown`, so that a label always belongs to its row. It runs no model.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.maps.grouping import (
    ColLabel,
    Groups,
    RowLabel,
    col_labels,
    groups,
    keyless,
    mean_of_visible,
    merged,
    of_segment,
    row_labels,
)
from attnviz.maps.options import MapOptions, Specials
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind

__all__ = ["ColLabel", "MapOptions", "Maps", "RowLabel", "Specials", "mean_of_visible", "query_groups", "select"]

EVERY_TOKEN = MapOptions()


@dataclass(frozen=True, eq=False)
class Maps:
    """One kind's maps, with a label for every row and column.

    attn is float32 `(layers, heads, rows, cols)`; mask is bool, True = may attend, with 1 for layers or heads
    where it is the same for all of them. `left_out` is a sentence for the legend, "" when nothing is hidden.
    `keyless` says which rows see no key whatever is shown, hidden ones counted; None where nothing is hidden.
    """

    kind: Kind
    attn: Float[Tensor, "layers heads rows cols"]
    mask: Bool[Tensor, "_ _ rows cols"]
    rows: tuple[RowLabel, ...]
    cols: tuple[ColLabel, ...]
    renormalised: bool = False
    left_out: str = ""
    keyless: Bool[Tensor, "_ _ rows"] | None = None

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Layers, heads, rows and columns."""
        layers, heads, rows, cols = self.attn.shape
        return layers, heads, rows, cols

    @property
    def rows_with_keys_hidden(self) -> Bool[Tensor, " rows"]:
        """Rows that see keys, though none that is shown: the keys are special tokens, and these are hidden."""
        without = ~self.mask.any(dim=-1)
        return (without & ~(without if self.keyless is None else self.keyless)).flatten(0, 1).any(dim=0)

    def weights(self, layer: int | str, head: int | str) -> Float[Tensor, "rows cols"]:
        """One head's map; "mean" for layer or head averages over all of them. Raises ValueError out of range."""
        attn, mask = self.chosen(layer, head)
        return mean_of_visible(attn, mask, dims=(0, 1))

    def visible(self, layer: int | str, head: int | str) -> Bool[Tensor, "rows cols"]:
        """Where that map may attend: for a mean, where any of its heads may. Raises ValueError out of range."""
        return self.chosen(layer, head)[1].flatten(0, 1).any(dim=0)

    def chosen(self, layer: int | str, head: int | str) -> tuple[Tensor, Tensor]:
        """The heads that are meant, and where each may attend. Raises ValueError out of range."""
        layers, heads = (
            _chosen_range("layer", layer, self.attn.shape[0]),
            _chosen_range("head", head, self.attn.shape[1]),
        )
        mask = self.mask.expand(*self.attn.shape[:2], -1, -1)
        return self.attn[layers, heads], mask[layers, heads]


def select(
    trace: Trace,
    kind: Kind,
    options: MapOptions = EVERY_TOKEN,
    *,
    item: int = 0,
) -> Maps:
    """The maps of `kind`, with special tokens hidden and pieces merged as asked.

    Attention to a word is the sum over its pieces, from a word the mean over its pieces that see any key; rows are made
    to sum to 1 again after merging. Raises ValueError for a kind that the trace does not have.
    """
    if kind not in trace.kinds:
        raise ValueError(f"This trace has no {kind!r} maps; it has {', '.join(trace.kinds)}.")
    queries, keys = trace.query_tokens(kind, item=item), trace.key_tokens(kind, item=item)
    outputs = trace.output_tokens(kind, item=item)
    row_groups, col_groups = query_groups(trace, kind, options, item=item), groups(keys, options)
    if options.quadrant is not None:
        col_groups = of_segment(col_groups, keys, options.quadrant[1])
    attn = trace.attn(kind, item=item)
    full = _masks(trace, kind, item, attn.shape[0])
    attn, mask = merged(attn, full, (row_groups, col_groups))
    if options.specials == "renormalise":
        total = attn.sum(dim=-1, keepdim=True)
        attn = torch.where(total > 0, attn / total, attn)
    return Maps(
        kind=kind,
        attn=attn,
        mask=mask,
        rows=row_labels(row_groups, queries, outputs, words=options.words),
        cols=col_labels(col_groups, keys),
        renormalised=options.specials == "renormalise",
        keyless=keyless(full, row_groups) if options.hides_specials or options.quadrant is not None else None,
        left_out=_left_out(options, sum(map(len, col_groups)) < len(keys)),
    )


def query_groups(trace: Trace, kind: Kind, options: MapOptions, *, item: int = 0) -> Groups:
    """The query tokens of each row. Decoder rows are merged and hidden by the token that they put out, so that
    `<bos> → Un` stays.
    """
    queries, outputs = trace.query_tokens(kind, item=item), trace.output_tokens(kind, item=item)
    rows = groups(queries if outputs is None else outputs, options)
    return rows if options.quadrant is None else of_segment(rows, queries, options.quadrant[0])


def _chosen_range(name: str, choice: int | str, size: int) -> slice:
    if choice == "mean":
        return slice(None)
    if isinstance(choice, bool) or not isinstance(choice, int) or not 0 <= choice < size:
        raise ValueError(f"{name} is 0 to {size - 1} or 'mean', not {choice!r}.")
    return slice(choice, choice + 1)


def _masks(trace: Trace, kind: Kind, item: int, layers: int) -> Tensor:
    """`(layers or 1, heads or 1, q_len, k_len)`: kept once where every site has the same."""
    masks = [trace.layer_mask(kind, layer, item) for layer in range(layers)]
    first = masks[0][:1]
    # Heads that share a mask in memory are not compared with each other: at 16 tokens that costs as much as all maps.
    shared = [mask[:1] if mask.stride(0) == 0 else mask for mask in masks]
    if all(bool((mask == first).all()) for mask in shared):
        return first[None].contiguous()
    return torch.stack(masks)


def _left_out(options: MapOptions, any_hidden: bool) -> str:
    hidden = {"special tokens": options.hides_specials, "the other part": options.quadrant is not None}
    what = [name for name, is_hidden in hidden.items() if is_hidden]
    if not what or not any_hidden:
        return ""
    sums = "rows made to sum to 1 again" if options.specials == "renormalise" else "rows sum to less than 1"
    return f"{' and '.join(what)} hidden: {sums}"
