"""The probe that applies interventions: one edit for each place in the model, one tuple of edits for each batch row.

Edits refer to positions of the text, not to rows of a pass, so that a step of decoding with a cache applies only the
edits for the positions of that step.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from attnviz.tracing.interventions import Chain
from attnviz.transformer.attention import call_attn
from attnviz.transformer.decoding import Choose, Vocabulary, decode, likeliest_ids
from attnviz.transformer.device import paired_runs
from attnviz.transformer.probe import AttentionCall, EditedWeights, Probe, Site, Stack, visible_cells

Numbers = tuple[int, ...]
Row = int | slice  # a row of the batch, or several


@dataclass(frozen=True, eq=False)
class Edit:
    """One change at one place in the model.

    `positions` are positions of the text, in the order of the values' second axis; None means all. `put` are the new
    values: `(heads, positions or 1, size)`, for weights `(heads, rows, k_len)`, for a stack's hidden states
    `(positions, d_model)`. `put` None means zeros or, for weights, that `how` computes them from the row. `swap` are
    the columns to exchange.
    """

    place: Site | tuple[Stack, int]
    what: str
    how: str
    heads: Numbers | None = None
    positions: Numbers | None = None
    put: Tensor | None = None
    swap: tuple[Numbers, Numbers] = ((), ())

    def write_into(self, tensor: Tensor, row: Row, start: int) -> None:
        """Write the edit's values into `tensor` `(batch, heads, length, size)`, whose first position is `start`."""
        for heads, rows, chosen in self.cells(tensor, start):
            _write_values(tensor[row][..., heads, rows, :], self._values(*chosen))

    def write_into_hidden(self, tensor: Tensor, row: Row, start: int) -> None:
        """Write the edit's values into hidden states `(batch, length, d_model)`, whose first position is `start`."""
        for rows, chosen in self._rows(tensor.shape[1], start):
            _write_values(tensor[row, rows], None if self.put is None else self.put[chosen])

    def weights(self, own: Tensor, seen: Tensor, chosen: tuple[slice, slice], first: int) -> Tensor:
        """Compute the weights that replace a part of a call's weights `own` `(…, heads, rows, k_len)`.

        `first` is the position of the part's first row, `chosen` selects the values for the part, and `seen` is True
        where a query may attend.
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
        assert values is not None  # weights are uniform, on the diagonal, exchanged or given
        return _fit_keys(values.to(own), own.shape[-1])

    def cells(self, tensor: Tensor, start: int) -> Iterator[tuple[slice, slice, tuple[slice, slice]]]:
        """Yield the heads and rows of a tensor `(batch, heads, length, …)` that the edit changes, with slices into the
        values.
        """
        heads = range(tensor.shape[1]) if self.heads is None else self.heads
        for some, of_heads in paired_runs((head, nth) for nth, head in enumerate(heads)):
            for rows, of_rows in self._rows(tensor.shape[2], start):
                yield some, rows, (of_heads, of_rows)

    def _rows(self, length: int, start: int) -> list[tuple[slice, slice]]:
        """Return the rows of a pass over `length` positions from `start` that the edit changes, with slices into the
        values.
        """
        positions = range(start, start + length) if self.positions is None else self.positions
        here = ((at, at if self.positions is None else nth) for nth, at in enumerate(positions))
        return paired_runs((at - start, nth) for at, nth in here if 0 <= at - start < length)

    def _values(self, heads: slice, rows: slice) -> Tensor | None:
        """Return the values for some heads and rows; an axis of size 1 is shared by all of them."""
        if self.put is None:
            return None
        some = self.put if self.put.shape[0] == 1 else self.put[heads]
        return some if some.shape[1] == 1 else some[:, rows]

    def _exchange_columns(self, own: Tensor, seen: Tensor) -> Tensor:
        """Exchange two columns, or two runs of columns, in the rows that see both."""
        if max(*self.swap[0], *self.swap[1]) >= own.shape[-1]:
            return own  # this decoding step does not see both columns yet
        swapped, both = own.clone(), seen.new_ones((*seen.shape[:-1], 1))
        for one, other in paired_runs(zip(*self.swap, strict=True)):
            swapped[..., one], swapped[..., other] = own[..., other], own[..., one]
            both = both & seen[..., one].all(dim=-1, keepdim=True) & seen[..., other].all(dim=-1, keepdim=True)
        return torch.where(both, swapped, own)


def _write_values(place: Tensor, values: Tensor | None) -> None:
    """Write values into part of a tensor; None writes zeros."""
    if values is None:
        place.zero_()
    else:
        place.copy_(values)


def _fit_keys(weights: Tensor, k_len: int) -> Tensor:
    """Truncate or pad weights to `k_len` keys; a causal row has no weight on later keys that a step has not seen."""
    missing = k_len - weights.shape[-1]
    return torch.nn.functional.pad(weights, (0, missing)) if missing > 0 else weights[..., :k_len]


Placed = dict[Site | tuple[Stack, int], list[tuple[Row, Edit]]]


@dataclass(frozen=True, eq=False)
class Edits(Probe):
    """Apply edits to a pass: `rows` has a tuple of edits for each batch row, or a single tuple for all rows.

    `start` is the position of the pass's first target token when earlier tokens are in a cache. The object stores
    nothing about a run and may be shared.
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
        """Return the edits that apply to these batch rows, in this order."""
        if len(self.rows) == 1:
            return self
        return Edits(tuple(self.rows[int(row)] for row in rows), self.start)

    def encoder_rows(self) -> tuple[int, ...]:
        """Return the batch rows whose edits change what the encoder computes."""
        return tuple(
            number for number, edits in enumerate(self.rows) if any(_is_in_encoder(edit.place) for edit in edits)
        )

    def encode_copies(self, encode: Callable[[Tensor, Probe | None], Tensor], src: Tensor) -> Tensor:
        """Encode copies of one source `(copies, k_len)` with `encode(src, probe)`, each copy with the edits of its row.

        Copies that no edit changes are encoded only once.
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
        """Apply the edits to queries, keys, values and weights."""
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
        """Apply the edits to the heads' contexts."""
        here = [(row, edit) for row, edit in self._placed.get(site, ()) if edit.what == "context"]
        if not here:
            return context
        changed = context.clone()
        for row, edit in here:
            edit.write_into(changed, row, self._start(site))
        return changed

    def on_layer(self, stack: Stack, layer: int, output: Tensor) -> Tensor:
        """Apply the edits to hidden states."""
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


class EditedStepping:
    """Any model's stepper with edits applied, at the batch rows and text positions that the edits name.

    A stepper whose `cache` is None runs its whole prefix at each step, starting at position 0. An object belongs to one
    run.
    """

    def __init__(self, stepper: Any, edits: Edits) -> None:
        self.stepper, self.edits = stepper, edits

    def step(self, ids: Tensor, *, probe: Probe | None = None) -> Tensor:
        """Feed the next tokens and return the logits of the token after them. The probe sees the edited run."""
        edits = self.edits.start_at(0 if self.stepper.cache is None else self.stepper.prefix.shape[1])
        return self.stepper.step(ids, probe=edits if probe is None else Chain((edits, probe)))

    def select_rows(self, rows: Tensor) -> None:
        """Keep only these batch rows, in this order."""
        self.edits = self.edits.select_rows(rows)
        self.stepper.select_rows(rows)


def apply_edits(stepper: Any, edits: Edits | None) -> Any:
    """Wrap the stepper so that the edits are applied at every step; without edits, return the stepper unchanged."""
    return stepper if edits is None else EditedStepping(stepper, edits)


def write(
    stepper: Any, begun: Tensor, vocabulary: Vocabulary, *, limits: int | Sequence[int], choose: Choose = likeliest_ids,
    edits: Edits | None = None,
) -> list[list[int]]:  # fmt: skip
    """Feed the beginnings `(batch, length)` and decode each row until `<eos>` or its limit, with edits applied.

    Return each row's ids after its beginning, including `<eos>` if the row reached it.
    """
    stepper = apply_edits(stepper, edits)
    if begun.shape[1] > 1:
        stepper.step(begun[:, :-1])
    return decode(stepper, begun[:, -1], vocabulary, max_tokens=limits, choose=choose)
