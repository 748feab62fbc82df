"""The probe that carries interventions out: an edit a place, a tuple of edits a row of the batch.

Edits know positions of the text, not rows of a pass: a step of a cached decoding applies those that are its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from attnviz.transformer.attention import call_attn
from attnviz.transformer.probe import AttentionCall, EditedWeights, Probe, Site, Stack, visible

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

    def into(self, tensor: Tensor, row: Row, start: int) -> None:
        """Write the values into `tensor` `(batch, heads, length, size)`, whose first position is `start`."""
        heads = self.heads_of(tensor)
        if self.positions is None and self.put is None:
            tensor[row, heads] = 0
            return
        rows, chosen = self._rows(tensor.shape[2], start)
        put = tensor.new_zeros(()) if self.put is None else self._values(chosen).to(tensor)
        tensor[row, heads[:, None], rows[None]] = put

    def into_stream(self, tensor: Tensor, row: Row, start: int) -> None:
        """The same for hidden states `(batch, length, d_model)`."""
        rows, chosen = self._rows(tensor.shape[1], start)
        tensor[row, rows] = tensor.new_zeros(()) if self.put is None else self.put[chosen].to(tensor)

    def weights(self, own: Tensor, seen: Tensor, start: int) -> Tensor:
        """What takes the place of a call's own weights `(heads, q_len, k_len)` in the rows that it changes:
        `(heads, rows, k_len)`. `seen` is True where a query may attend to a key.
        """
        rows, chosen = self._rows(own.shape[1], start)
        own, seen = own[:, rows], seen[:, rows]
        if self.how == "uniform":
            return seen.float() / seen.sum(dim=-1, keepdim=True).clamp(min=1)
        if self.how == "diagonal":
            keys = torch.arange(own.shape[-1], device=own.device)
            return (seen & (keys == start + rows.to(keys).unsqueeze(-1))).float()
        if self.how == "exchange":
            return self._exchanged(own, seen)
        return _fitted(self._values(chosen).to(own), own.shape[-1])

    def heads_of(self, tensor: Tensor) -> Tensor:
        """The heads that it changes, as an index."""
        return torch.tensor(range(tensor.shape[1]) if self.heads is None else self.heads, device=tensor.device)

    def rows_of(self, tensor: Tensor, start: int) -> Tensor:
        """The rows of a pass `(…, length, …)` that it changes, as an index."""
        return self._rows(tensor.shape[2], start)[0].to(tensor.device)

    def _rows(self, length: int, start: int) -> tuple[Tensor, Tensor]:
        """Rows of a pass of `length` positions from `start` on, and where their values are among all."""
        positions = range(start, start + length) if self.positions is None else self.positions
        here = [(at - start, nth) for nth, at in enumerate(positions) if 0 <= at - start < length]
        nths = [at + start if self.positions is None else nth for at, nth in here]
        return torch.tensor([at for at, _ in here], dtype=torch.long), torch.tensor(nths, dtype=torch.long)

    def _values(self, chosen: Tensor) -> Tensor:
        assert self.put is not None  # the caller asked
        return self.put if self.put.shape[1] == 1 else self.put[:, chosen]

    def _exchanged(self, own: Tensor, seen: Tensor) -> Tensor:
        """Two columns, or two runs of them, in each other's place, in rows that see both."""
        one, other = (list(columns) for columns in self.swap)
        if max(*one, *other) >= own.shape[-1]:
            return own  # a step of a decoding that does not see that far
        swapped = own.clone()
        swapped[..., one], swapped[..., other] = own[..., other], own[..., one]
        both = seen[..., [*one, *other]].all(dim=-1, keepdim=True)
        return torch.where(both, swapped, own)


def _fitted(weights: Tensor, k_len: int) -> Tensor:
    """Weights over the keys that there are: a causal row has none on later ones, which a step has not seen yet."""
    missing = k_len - weights.shape[-1]
    return torch.nn.functional.pad(weights, (0, missing)) if missing > 0 else weights[..., :k_len]


Placed = dict[Site | tuple[Stack, int], list[tuple[Row, Edit]]]


@dataclass(frozen=True, eq=False)
class Edits(Probe):
    """Edits in force: `rows` has a tuple of them for each row of the batch, or one that holds for every row.

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

    def at(self, start: int) -> "Edits":
        """The same for a pass whose first target position is `start`."""
        return replace(self, start=start)

    def keep(self, rows: Tensor | Sequence[int]) -> "Edits":
        """Those of these rows of the batch, in this order."""
        if len(self.rows) == 1:
            return self
        return Edits(tuple(self.rows[int(row)] for row in rows), self.start)

    def in_encoder(self) -> tuple[int, ...]:
        """The rows whose edits change what the encoder computes."""
        return tuple(number for number, edits in enumerate(self.rows) if any(_in_encoder(edit.place) for edit in edits))

    def begins(self, row: int, stack: Stack) -> float | None:
        """Where the edits of a row first change a stack: in layer n, or half a layer after it where they change its
        output (-0.5: the embedding). None where they do not.
        """
        places = [edit.place for edit in self.rows[row] if _in_encoder(edit.place) == (stack == "encoder")]
        return min((float(at.layer) if isinstance(at, Site) else at[1] + 0.5 for at in places), default=None)

    def read(self, encode: Callable[[Tensor, Probe | None], Tensor], src: Tensor) -> Tensor:
        """What `encode(src, probe)` makes of copies of one source `(copies, k_len)`, a row of edits each.

        Copies that no edit changes are read once, for all of them.
        """
        touched = list(self.in_encoder())
        if len(self.rows) == 1 or len(touched) == len(self.rows):
            return encode(src, self)
        memory = encode(src[:1], None).expand(len(src), -1, -1)
        if touched:
            memory = memory.clone()
            memory[touched] = encode(src[touched], self.keep(touched))
        return memory

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        """Queries, keys, values and weights, changed."""
        for name in ("query", "key", "value"):
            if here := [(row, edit) for row, edit in self._placed.get(site, ()) if edit.what == name]:
                changed = getattr(call, name).clone()
                start = self._start(site) if name == "query" else 0
                for row, edit in here:
                    edit.into(changed, row, start)
                call = replace(call, **{name: changed})
        here = [(row, edit) for row, edit in self._placed.get(site, ()) if edit.what == "attn"]
        return self._weighed(site, call, here) if here else call

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        """What heads gathered, changed."""
        here = [(row, edit) for row, edit in self._placed.get(site, ()) if edit.what == "context"]
        if not here:
            return context
        changed = context.clone()
        for row, edit in here:
            edit.into(changed, row, self._start(site))
        return changed

    def on_layer(self, stack: Stack, layer: int, output: Tensor) -> Tensor:
        """Hidden states, changed."""
        here = self._placed.get((stack, layer), ())
        if not here:
            return output
        changed = output.clone()
        for row, edit in here:
            edit.into_stream(changed, row, 0 if stack == "encoder" else self.start)
        return changed

    def _start(self, site: Site) -> int:
        return 0 if site.kind == "encoder_self" else self.start

    def _weighed(self, site: Site, call: AttentionCall, here: list[tuple[Row, Edit]]) -> AttentionCall:
        attn, seen, start = call_attn(call), visible(call).to(call.query.device), self._start(site)
        edited = torch.zeros(attn.shape[:3], dtype=torch.bool, device=attn.device)
        for row, edit in here:
            rows, heads = edit.rows_of(attn, start), edit.heads_of(attn)
            for item in range(len(attn)) if isinstance(row, slice) else (row,) if len(rows) else ():
                put = edit.weights(attn[item, heads], seen[item, heads], start)
                attn[item, heads[:, None], rows[None]] = put
                edited[item, heads[:, None], rows[None]] = True
        return replace(call, edited=EditedWeights(attn, edited).beside(call.edited))


def _in_encoder(place: Site | tuple[Stack, int]) -> bool:
    return place.kind == "encoder_self" if isinstance(place, Site) else place[0] == "encoder"
