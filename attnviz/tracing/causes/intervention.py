"""An intervention: which heads and positions of a run it changes, and what it puts there.

`making` creates interventions (`attnviz.ablate`, `patch`, `edit`, `exchange`), `resolution` checks them against a model
and a sentence, `edits` is the probe that applies them, and `serialization` stores them with a trace.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import torch
from torch import Tensor

from attnviz.text.tokens import Token
from attnviz.transformer.probe import Kind, Stack

What = Literal["context", "query", "key", "value", "attn", "layer", "embedding"]
How = Literal["zero", "mean", "values", "uniform", "diagonal", "exchange"]
Place = int | str  # a position, counted from 0, or a word (all its occurrences)

KINDS: tuple[Kind, ...] = get_args(Kind)
WHATS: tuple[What, ...] = get_args(What)
OF_STACK: tuple[What, ...] = ("layer", "embedding")
OF_KEYS: tuple[What, ...] = ("key", "value")
_HOW = {
    "zero": "zero", "mean": "its mean", "uniform": "even", "diagonal": "on the diagonal", "exchange": "exchanged",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Intervention:
    """One change to a run. Layers, heads and positions count from 0; None means all of them.

    `what` is the quantity that is changed, in attention of kind `where` or in the stack `where` ("layer": the hidden
    states after `layer`; "embedding": those before the first layer). `positions` are rows of the text that runs:
    queries, or keys if `what` is "key" or "value".

    `how` says what is put there: zeros; a mean; given `values`; weights that are uniform over visible keys, or all on
    the row's own position; or weights with two columns exchanged (`columns`). `values` map a layer to `(heads,
    positions, size)`, for weights `(heads, rows, k_len)`, for a stack `(positions, d_model)`; a mean has one position
    for all. `tokens` are the tokens at the values' positions, used to align them with another text; they are empty if
    positions keep their numbers. `source` is the text that the values came from, `model_id` the weights.
    """

    where: Kind | Stack
    what: What
    how: How
    layer: int | None = None
    heads: tuple[int, ...] | None = None
    positions: tuple[Place, ...] | None = None
    columns: tuple[Place, ...] = ()
    values: Mapping[int, Tensor] = field(default_factory=dict)
    tokens: tuple[Token, ...] = ()
    source: str = ""
    model_id: str = ""

    @property
    def stack(self) -> Stack:
        """The stack that the intervention changes."""
        return "encoder" if self.where in ("encoder", "encoder_self") else "decoder"

    @property
    def is_unmeasured(self) -> bool:
        """Whether the intervention asks for a mean that has not been measured yet, so that it cannot run."""
        return self.how == "mean" and not self.values

    @property
    def on_source(self) -> bool:
        """Whether `positions` refer to the encoder's text: its hidden states, its queries, or the keys of
        cross-attention.
        """
        return self.stack == "encoder" or (self.where == "cross" and self.what in OF_KEYS)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Intervention) or self._key() != other._key() or set(self.values) != set(other.values):
            return False
        return all(torch.equal(mine, other.values[layer]) for layer, mine in self.values.items())

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        """Describe the intervention in words, such as "cross L1 H2 H5: context zero"."""
        where = self.where if self.layer is None or self.layer < 0 else f"{self.where} L{self.layer}"
        heads = "" if self.heads is None else "".join(f" H{head}" for head in self.heads)
        at = "" if self.positions is None else f" at {', '.join(map(str, self.positions))}"
        columns = f" of {' and '.join(map(str, self.columns))}" if self.columns else ""
        put = _HOW.get(self.how) or (f"from “{self.source}”" if self.source else "as given")
        return f"{where}{heads}: {self.what}{at}{columns} {put}"

    @property
    def digest(self) -> str:
        """A hash of the intervention, equal for equal interventions."""
        numbers = hashlib.blake2b(repr(self._key()).encode("utf-8", "surrogatepass"), digest_size=16)
        for layer, put in sorted(self.values.items()):
            numbers.update(f"{layer} {tuple(put.shape)} {put.dtype}".encode())
            numbers.update(put.detach().cpu().float().numpy().tobytes())
        return numbers.hexdigest()

    def _key(self) -> tuple:
        """Return all fields except the values, which `digest` hashes separately."""
        return (self.where, self.what, self.how, self.layer, self.heads, self.positions, self.columns, self.tokens,
                self.source, self.model_id)  # fmt: skip


@dataclass(frozen=True, eq=False)
class MeanContexts:
    """Mean context of each head over a reference set: `(kind, layer)` -> `(heads, d_k)`, float32 on the CPU.

    `rows` is the number of rows of each kind that were averaged, `model_id` the weights that were measured.
    """

    values: Mapping[tuple[Kind, int], Tensor]
    rows: Mapping[Kind, int]
    model_id: str = ""

    @property
    def measured_rows(self) -> str:
        """The number of averaged rows of each kind, in words."""
        return ", ".join(f"{rows:,} rows of {kind}" for kind, rows in self.rows.items())
