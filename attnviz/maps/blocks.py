"""Maps as they are shown, in blocks of rows: tokens are hidden, pieces merged and rows rescaled as the options say."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from attnviz.maps.grouping import ColLabel, Groups, RowLabel
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import EVERY_TOKEN, Axes, labels, said_of
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.masks import VisibleKeys
from attnviz.transformer.probe import Kind
from attnviz.transformer.row_blocks import RowBlock


@dataclass(frozen=True, eq=False)
class ShownMaps:
    """The maps of one kind in a trace, with the options applied; read layer by layer and block by block."""

    trace: TraceLike
    kind: Kind
    axes: Axes
    options: MapOptions
    item: int = 0

    @cached_property
    def lengths(self) -> tuple[int, int]:
        """The numbers of query tokens and key tokens, before any are hidden or merged."""
        sentence = self.trace.sentences[self.item]
        return len(sentence.queries(self.kind)), len(sentence.keys(self.kind))

    @classmethod
    def of_trace(cls, trace: TraceLike, kind: Kind, options: MapOptions = EVERY_TOKEN, *, item: int = 0) -> "ShownMaps":
        """Make the shown maps of a kind, with labels. Raises ValueError if the trace does not have the kind."""
        return cls(trace, kind, labels(trace, kind, options, item=item), options, item)

    @cached_property
    def shape(self) -> tuple[int, int, int, int]:
        """The numbers of layers, heads per layer, rows and columns."""
        return *self.trace.shape(self.kind), len(self.axes[0]), len(self.axes[1])

    @property
    def rows(self) -> tuple[RowLabel, ...]:
        """The labels of the rows."""
        return self.axes[0]

    @property
    def cols(self) -> tuple[ColLabel, ...]:
        """The labels of the columns."""
        return self.axes[1]

    @cached_property
    def left_out(self) -> str:
        """The legend's sentence about the weight that the shown columns leave out."""
        return said_of(self.trace, self.kind, self.options, self.cols, item=self.item)["left_out"]

    @cached_property
    def keeps_tokens(self) -> bool:
        """Whether the rows and columns are all the single tokens: none merged, hidden or rescaled."""
        return self.lengths == (len(self.axes[0]), len(self.axes[1])) and self.options.specials != "renormalise"

    def token_blocks(self, layer: int, *, informs: bool = False, rows: range | None = None) -> Iterator[RowBlock]:
        """Yield blocks of the weights between tokens, before tokens are hidden or merged."""
        return self.trace.row_blocks(self.kind, layer, item=self.item, informs=informs, rows=rows)

    def blocks(self, layer: int, *, informs: bool = False) -> Iterator[RowBlock]:
        """Yield blocks of the weights as they are shown."""
        if self.keeps_tokens:
            return self.token_blocks(layer, informs=informs)
        return self._merge(self.token_blocks(layer), self.visible(layer))

    def stripes(self, layer: int) -> Iterator[tuple[slice, Float[Tensor, "heads rows cols"]]]:
        """Yield the weights of all heads on all columns as they are shown, for some hundred rows at a time."""
        _, heads, _, cols = self.shape
        whole = torch.zeros(0)
        for block in self.blocks(layer):
            if block.heads.start == 0:
                whole = torch.zeros(heads, block.rows.stop - block.rows.start, cols)
            whole[block.heads, :, block.keys] = block.attn.cpu()
            if block.heads.stop == heads:
                yield block.rows, whole

    def one_row(self, layer: int, row: int) -> Tensor:
        """Compute one shown row for each head of a layer, `(heads, cols)`."""
        tokens = self.axes[0][row].tokens
        rows = range(tokens[0], tokens[-1] + 1)
        blocks = self.token_blocks(layer, rows=rows)
        if not self.keeps_tokens:
            blocks = self._merge(blocks, self.visible(layer), rows.stop)
        found = torch.zeros(self.shape[1], self.shape[3])
        for block in blocks:
            found[block.heads, block.keys] = block.attn[:, row - block.rows.start].cpu()
        return found

    def visible(self, layer: int) -> VisibleKeys:
        """Return the keys that each row of tokens may see in a layer."""
        return self.trace._visible(self.kind, layer, item=self.item)

    def mask(self, layer: int) -> Bool[Tensor, "maps rows cols"]:
        """Return which shown cells of a layer may be attended to; one map if it is the same for all heads."""
        seen = self.visible(layer)
        known = next((made for one, made in self._masks if one.is_of(seen.mask, *self.lengths)), None)
        if known is None:
            self._masks.append((seen, known := self._make_mask(seen)))
        return known

    @cached_property
    def _masks(self) -> list[tuple[VisibleKeys, Tensor]]:
        """The masks made so far, each with the visible keys it was made from; layers share them."""
        return []

    def _make_mask(self, seen: VisibleKeys) -> Tensor:
        (q_len, _), (*_, rows, cols) = self.lengths, self.shape
        if seen.mask is None or not seen.mask.numel():
            return torch.ones(1, rows, cols, dtype=torch.bool)
        mask = seen.mask.expand(-1, q_len, -1).cpu()
        if self.keeps_tokens:
            return mask
        found = torch.zeros(len(mask), rows, cols, dtype=torch.bool)
        for block in self._merge(_mask_blocks(mask), seen, renormalises=False):
            found[block.heads, block.rows, block.keys] = block.attn > 0
        return found

    def rows_without_keys(self, layer: int) -> Bool[Tensor, "maps rows"]:
        """Return which shown rows have no token that may see a key, whether that key is shown or not."""
        return self._sum_rows(self._sees(self.visible(layer))) == 0

    @cached_property
    def _row_of(self) -> Int[Tensor, " q_len"]:
        return _index(tuple(row.tokens for row in self.axes[0]), self.lengths[0])

    @cached_property
    def _col_of(self) -> Int[Tensor, " k_len"]:
        return _index(tuple(col.tokens for col in self.axes[1]), self.lengths[1])

    def _sees(self, seen: VisibleKeys) -> Float[Tensor, "maps q_len"]:
        """Return 1 for each query token that may see a key, and 0 for the others."""
        empty = seen.rows_without_keys
        if empty is None:
            return torch.full((1, self.lengths[0]), float(self.lengths[1] > 0))
        return (~empty.squeeze(-1)).expand(-1, self.lengths[0]).float().cpu()

    def _sum_rows(self, values: Float[Tensor, "maps q_len"]) -> Float[Tensor, "maps rows"]:
        kept = self._row_of >= 0
        return values.new_zeros(len(values), len(self.axes[0])).index_add_(-1, self._row_of[kept], values[:, kept])

    def _merge(
        self, blocks: Iterable[RowBlock], seen: VisibleKeys, end: int | None = None, *, renormalises: bool = True
    ) -> Iterator[RowBlock]:
        """Merge blocks of tokens, up to the token `end`, into blocks of shown rows and columns.

        A row that continues in the next block is yielded with that block.
        """
        pieces = self._sum_rows(self._sees(seen)).clamp(min=1)  # tokens without keys hold zeros and do not count
        begun: dict[int, RowBlock] = {}
        for block in blocks:
            columns, keys = _merge_columns(block.attn, self._col_of[block.keys])
            merged = self._merge_rows(block, columns, keys, begun.pop(block.heads.start, None))
            if merged is None:
                continue
            done = merged.rows.stop
            following = self._row_of[block.rows.stop : end]
            following = following[following >= 0]
            if len(following) and int(following[0]) == done - 1:
                begun[block.heads.start] = _cut_rows(merged, slice(done - 1, done))
                done -= 1
            if done > merged.rows.start:
                whole = _cut_rows(merged, slice(merged.rows.start, done))
                by = pieces[block.heads if len(pieces) > 1 else slice(None), whole.rows].to(whole.attn.device)
                yield self._finish(whole, by.unsqueeze(-1), renormalises=renormalises)

    def _merge_rows(self, block: RowBlock, columns: Tensor, keys: slice, before: RowBlock | None) -> RowBlock | None:
        """Sum the tokens of each shown row, including what the block before held of the first row.

        Returns None if the block holds no shown row.
        """
        row_of = self._row_of[block.rows]
        kept = row_of >= 0
        if not bool(kept.any()):
            if before is None:
                return None
            return before
        rows = slice(int(row_of[kept][0]) if before is None else before.rows.start, int(row_of[kept][-1]) + 1)
        if before is not None:
            first, last = min(keys.start, before.keys.start), max(keys.stop, before.keys.stop)
            columns, keys = _widen(columns, keys, slice(first, last)), slice(first, last)
        target = columns.new_zeros(len(columns), rows.stop - rows.start, columns.shape[-1])
        at = (row_of[kept] - rows.start).to(columns.device)
        target.index_add_(1, at, columns if bool(kept.all()) else columns[:, kept.to(columns.device)])
        if before is not None:
            target[:, :1] += _widen(before.attn, before.keys, keys)
        return RowBlock(block.heads, rows, keys, target)

    def _finish(self, block: RowBlock, pieces: Tensor, *, renormalises: bool) -> RowBlock:
        attn = block.attn / pieces
        if renormalises and self.options.specials == "renormalise":
            total = attn.sum(dim=-1, keepdim=True)
            attn = torch.where(total > 0, attn / total, attn)
        return RowBlock(block.heads, block.rows, block.keys, attn)


def _mask_blocks(mask: Bool[Tensor, "maps q_len k_len"]) -> Iterator[RowBlock]:
    maps, q_len, k_len = mask.shape
    for start in range(0, q_len, VisibleKeys.ROWS):
        rows = slice(start, min(start + VisibleKeys.ROWS, q_len))
        for nth in range(maps):
            yield RowBlock(slice(nth, nth + 1), rows, slice(0, k_len), mask[nth : nth + 1, rows].float())


def _index(groups: Groups, length: int) -> Int[Tensor, " length"]:
    """Return the number of each position's group, or -1 for a position in no group."""
    found = torch.full((length,), -1, dtype=torch.long)
    for nth, group in enumerate(groups):
        found[list(group)] = nth
    return found


def _merge_columns(attn: Tensor, col_of: Int[Tensor, " keys"]) -> tuple[Tensor, slice]:
    """Sum the keys of each shown column. Return the sums and the slice of these columns."""
    kept = col_of >= 0
    if not bool(kept.any()):
        return attn[..., :0], slice(0, 0)
    cols = slice(int(col_of[kept][0]), int(col_of[kept][-1]) + 1)
    places = kept.nonzero().flatten()
    part = attn
    if len(places) < len(col_of):
        whole = slice(int(places[0]), int(places[-1]) + 1)
        is_run = whole.stop - whole.start == len(places)
        part = attn[..., whole] if is_run else attn.index_select(-1, places.to(attn.device))
    if len(places) == cols.stop - cols.start:
        return part, cols
    target = part.new_zeros(*part.shape[:-1], cols.stop - cols.start)
    return target.index_add_(-1, (col_of[kept] - cols.start).to(attn.device), part), cols


def _widen(attn: Tensor, keys: slice, to: slice) -> Tensor:
    return functional.pad(attn, (keys.start - to.start, to.stop - keys.stop)) if attn.shape[-1] else attn.new_zeros(
        *attn.shape[:-1], to.stop - to.start
    )  # fmt: skip


def _cut_rows(block: RowBlock, rows: slice) -> RowBlock:
    own = slice(rows.start - block.rows.start, rows.stop - block.rows.start)
    return RowBlock(block.heads, rows, block.keys, block.attn[:, own])
