"""The probe that carries interventions out: an edit a place, a tuple of edits a row of the batch.

Edits know positions of the text, not rows of a pass: a step of a cached decoding applies those that are its own.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from attnviz.transformer.attention import call_attn
from attnviz.transformer.probe import AttentionCall, EditedWeights, Probe, Site, Stack, visible_cells
from attnviz.transformer.runs import paired_runs

Numbers = tuple[int, ...]
Row = int | slice  # of the batch


@dataclass(frozen=True, eq=False)
class Edit:
    """One change at one place.

    `positions` of the text, in the order of the values' second axis; None for all. `put` are the values `(heads,
    positions or 1, size)`, of weights `(heads, rows, k_len)`, of a stack `(positions, d_model)`; None for zeros, and
    for weights, which `how` makes of the row's own. `swap` are the columns to exchange.
    """

    place: Site | tuple[Stack, int]
    what: str
    how: str
    heads: Numbers | None = None
    positions: Numbers | None = None
    put: Tensor | None = None
    swap: tuple[Numbers, Numbers] = ((), ())

    def write_into(self, tensor: Tensor, row: Row, start: int) -> None:
        """Write the values into `tensor` `(batch, heads, length, size)`, whose first position is `start`."""
        for heads, rows, chosen in self.cells(tensor, start):
            _write(tensor[row][..., heads, rows, :], self._values(*chosen))

    def write_into_hidden(self, tensor: Tensor, row: Row, start: int) -> None:
        """Write the values into hidden states `(batch, length, d_model)`, whose first position is `start`."""
        for rows, chosen in self._rows(tensor.shape[1], start):
            _write(tensor[row, rows], None if self.put is None else self.put[chosen])

    def weights(self, own: Tensor, seen: Tensor, chosen: tuple[slice, slice], first: int) -> Tensor:
        """Compute the weights that replace some cells of a call's own `(…, heads, rows, k_len)`. `first` is the
        position of the first row, `chosen` selects the values of these cells, and `seen` is True where a query may
        attend.
        """
        if self.how == "uniform":
            return seen.float() / seen.sum(dim=-1, keepdim=True).clamp(min=1)
        if self.how == "diagonal":
            keys = torch.arange(own.shape[-1], device=own.device)
            rows = torch.arange(first, first + own.shape[-2], device=own.device)
            return (seen & (keys == rows.unsqueeze(-1))).float()
        if self.how == "exchange":
            return self._exchange_columns(own, seen)
        values = self._values(*chosen)
        assert values is not None  # weights are even, on the diagonal, exchanged or given
        return _fit_keys(values.to(own), own.shape[-1])

    def cells(self, tensor: Tensor, start: int) -> Iterator[tuple[slice, slice, tuple[slice, slice]]]:
        """Yield the heads and rows of `(batch, heads, length, …)` that the edit changes, and where the values of each
        are.
        """
        heads = range(tensor.shape[1]) if self.heads is None else self.heads
        for some, of_heads in paired_runs((head, nth) for nth, head in enumerate(heads)):
            for rows, of_rows in self._rows(tensor.shape[2], start):
                yield some, rows, (of_heads, of_rows)

    def _rows(self, length: int, start: int) -> list[tuple[slice, slice]]:
        """List rows of a pass of `length` positions from `start` on, and where their values are among all."""
        positions = range(start, start + length) if self.positions is None else self.positions
        here = ((at, at if self.positions is None else nth) for nth, at in enumerate(positions))
        return paired_runs((at - start, nth) for at, nth in here if 0 <= at - start < length)

    def _values(self, heads: slice, rows: slice) -> Tensor | None:
        """Select the values of some heads and rows; an axis of size 1 is for all of them."""
        if self.put is None:
            return None
        some = self.put if self.put.shape[0] == 1 else self.put[heads]
        return some if some.shape[1] == 1 else some[:, rows]

    def _exchange_columns(self, own: Tensor, seen: Tensor) -> Tensor:
        """Exchange two columns, or two runs of them, in rows that see both."""
        if max(*self.swap[0], *self.swap[1]) >= own.shape[-1]:
            return own  # a step of a decoding that does not see that far
        swapped, both = own.clone(), seen.new_ones((*seen.shape[:-1], 1))
        for one, other in paired_runs(zip(*self.swap, strict=True)):
            swapped[..., one], swapped[..., other] = own[..., other], own[..., one]
            both = both & seen[..., one].all(dim=-1, keepdim=True) & seen[..., other].all(dim=-1, keepdim=True)
        return torch.where(both, swapped, own)


def _write(place: Tensor, values: Tensor | None) -> None:
    """Write values into a part of a tensor; zeros for None."""
    if values is None:
        place.zero_()
    else:
        place.copy_(values)


def _fit_keys(weights: Tensor, k_len: int) -> Tensor:
    """Cut or pad weights to `k_len` keys: a causal row has none on later keys, which a step has not seen yet."""
    missing = k_len - weights.shape[-1]
    return torch.nn.functional.pad(weights, (0, missing)) if missing > 0 else weights[..., :k_len]


Placed = dict[Site | tuple[Stack, int], list[tuple[Row, Edit]]]


@dataclass(frozen=True, eq=False)
class Edits(Probe):
    """Edits that act on a pass: `rows` has a tuple of them for each row of the batch, or one that holds for every row.

    `start` is the position of a pass's first target token, where earlier ones are in a cache. It keeps nothing of a run
    and may be shared.
    """

    rows: tuple[tuple[Edit, ...], ...]
    start: int = 0
    _placed: Placed = field(init=False, repr=False)

    def __post_init__(self) -> None:
        placed: Placed = {}
        for number, edits in enumerate(self.rows):
            for edit in edits:
                row: Row = number if len(self.rows) > 1 else slice(None)
                placed.setdefault(edit.place, []).append((row, edit))
        object.__setattr__(self, "_placed", placed)

    def start_at(self, start: int) -> "Edits":
        """Return the same edits for a pass whose first target position is `start`."""
        return replace(self, start=start)

    def select_rows(self, rows: Tensor | Sequence[int]) -> "Edits":
        """Select the edits of these rows of the batch, in this order."""
        if len(self.rows) == 1:
            return self
        return Edits(tuple(self.rows[int(row)] for row in rows), self.start)

    def encoder_rows(self) -> tuple[int, ...]:
        """List the rows whose edits change what the encoder computes."""
        return tuple(
            number for number, edits in enumerate(self.rows) if any(_is_in_encoder(edit.place) for edit in edits)
        )

    def encode_copies(self, encode: Callable[[Tensor, Probe | None], Tensor], src: Tensor) -> Tensor:
        """Encode copies of one source `(copies, k_len)` by `encode(src, probe)`, a row of edits each.

        Copies that no edit changes are read once, for all of them.
        """
        touched = list(self.encoder_rows())
        if len(self.rows) == 1 or len(touched) == len(self.rows):
            return encode(src, self)
        memory = encode(src[:1], None).expand(len(src), -1, -1)
        if touched:
            memory = memory.clone()
            memory[touched] = encode(src[touched], self.select_rows(touched))
        return memory

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        """Change queries, keys, values and weights."""
        for name in ("query", "key", "value"):
            if here := [(row, edit) for row, edit in self._placed.get(site, ()) if edit.what == name]:
                changed = getattr(call, name).clone()
                start = self._start(site) if name == "query" else 0
                for row, edit in here:
                    edit.write_into(changed, row, start)
                call = replace(call, **{name: changed})
        here = [(row, edit) for row, edit in self._placed.get(site, ()) if edit.what == "attn"]
        return self._edit_weights(site, call, here) if here else call

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        """Change the heads' contexts."""
        here = [(row, edit) for row, edit in self._placed.get(site, ()) if edit.what == "context"]
        if not here:
            return context
        changed = context.clone()
        for row, edit in here:
            edit.write_into(changed, row, self._start(site))
        return changed

    def on_layer(self, stack: Stack, layer: int, output: Tensor) -> Tensor:
        """Change hidden states."""
        here = self._placed.get((stack, layer), ())
        if not here:
            return output
        changed = output.clone()
        for row, edit in here:
            edit.write_into_hidden(changed, row, 0 if stack == "encoder" else self.start)
        return changed

    def _start(self, site: Site) -> int:
        return 0 if site.kind == "encoder_self" else self.start

    def _edit_weights(self, site: Site, call: AttentionCall, here: list[tuple[Row, Edit]]) -> AttentionCall:
        attn, seen, start = call_attn(call), visible_cells(call), self._start(site)
        edited = torch.zeros(attn.shape[:3], dtype=torch.bool, device=attn.device)
        for row, edit in here:
            for heads, rows, chosen in edit.cells(attn, start):
                part = attn[row][..., heads, rows, :]
                part.copy_(edit.weights(part, seen[row][..., heads, rows, :], chosen, start + rows.start))
                edited[row][..., heads, rows].fill_(True)
        return replace(call, edited=EditedWeights(attn, edited).merge_with(call.edited))


def _is_in_encoder(place: Site | tuple[Stack, int]) -> bool:
    return place.kind == "encoder_self" if isinstance(place, Site) else place[0] == "encoder"
