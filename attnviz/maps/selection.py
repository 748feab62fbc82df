"""One kind's maps of a trace as a person asked to see them: special tokens hidden, pieces merged into words.

Figures, tables and metrics all read the same `Shown`, so that a label always belongs to its row. It runs no model.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.maps.grouping import (
    ColLabel,
    RowLabel,
    col_labels,
    groups,
    keyless,
    mean_of_visible,
    merged,
    of_part,
    row_labels,
)
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind

__all__ = ["ColLabel", "Maps", "RowLabel", "Specials", "mean_of_visible", "select"]

Specials = Literal["show", "hide", "renormalise"]


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
    *,
    specials: Specials = "show",
    words: bool = False,
    parts: tuple[int, int] | None = None,
    item: int = 0,
) -> Maps:
    """The maps of `kind`, with special tokens hidden and pieces merged as asked.

    Attention to a word is the sum over its pieces, from a word the mean over its pieces that see any key.
    Decoder rows are merged and hidden by the token that they put out, so that `<bos> → Un` stays. "hide" leaves
    the other weights as they are, "renormalise" lets rows sum to 1 again, after merging. `parts` keeps only queries
    of one part and keys of another (of a pair: 0 the first sentence, 1 the second; see `Token.part`).
    Raises ValueError for a kind that the trace does not have or an unknown `specials`.
    """
    if specials not in ("show", "hide", "renormalise"):
        raise ValueError(f"specials is 'show', 'hide' or 'renormalise', not {specials!r}.")
    if kind not in trace.kinds:
        raise ValueError(f"This trace has no {kind!r} maps; it has {', '.join(trace.kinds)}.")
    queries, keys = trace.query_tokens(kind, item=item), trace.key_tokens(kind, item=item)
    outputs = trace.output_tokens(kind, item=item)
    hide = specials != "show"
    row_groups = groups(queries if outputs is None else outputs, words=words, hide=hide)
    col_groups = groups(keys, words=words, hide=hide)
    if parts is not None:
        row_groups, col_groups = of_part(row_groups, queries, parts[0]), of_part(col_groups, keys, parts[1])
    attn = trace.attn(kind, item=item)
    full = _masks(trace, kind, item, attn.shape[0])
    attn, mask = merged(attn, full, (row_groups, col_groups))
    if specials == "renormalise":
        total = attn.sum(dim=-1, keepdim=True)
        attn = torch.where(total > 0, attn / total, attn)
    return Maps(
        kind=kind,
        attn=attn,
        mask=mask,
        rows=row_labels(row_groups, queries, outputs, words=words),
        cols=col_labels(col_groups, keys),
        renormalised=specials == "renormalise",
        keyless=keyless(full, row_groups) if hide or parts is not None else None,
        left_out=_left_out(specials, parts, sum(map(len, col_groups)) < len(keys)),
    )


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


def _left_out(specials: Specials, parts: tuple[int, int] | None, any_hidden: bool) -> str:
    what = (["special tokens"] if specials != "show" else []) + (["the other part"] if parts is not None else [])
    if not what or not any_hidden:
        return ""
    sums = "rows made to sum to 1 again" if specials == "renormalise" else "rows sum to less than 1"
    return f"{' and '.join(what)} hidden: {sums}"
