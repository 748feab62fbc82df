"""A trace made of nothing but attention weights and tokens: somebody's own, from any model or none.

Views that need only weights take it like any other trace; accessors that need queries and keys say what is missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float, UInt8
from torch import Tensor

from attnviz.text.tokens import Token
from attnviz.tracing.thumbnails import thumbnail, within
from attnviz.tracing.trace import KINDS, Trace, counted
from attnviz.transformer.probe import AttentionCall, Kind, bytes_kept

MISSING = (
    "This trace was built from bare weights: it has no queries, keys or values, "
    "so views that need them cannot be shown."
)


@dataclass(frozen=True)
class BareWeights(Trace):
    """Weights as they were given, `(layers, heads, q_len, k_len)` float32 for each kind; made by `from_tensors`.

    Rows need not sum to 1: `info.notes` says where they do not. `masks`, where given, are `(q_len, k_len)`.
    """

    weights: Mapping[Kind, Tensor] = field(default_factory=dict)
    masks: Mapping[Kind, Tensor] = field(default_factory=dict)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds that were given, encoder first."""
        return tuple(kind for kind in KINDS if kind in self.weights)

    @property
    def n_layers(self) -> int:
        """Layers of the kind that has most."""
        return max(attn.shape[0] for attn in self.weights.values())

    @property
    def n_heads(self) -> int:
        """Heads of the kind that has most."""
        return max(attn.shape[1] for attn in self.weights.values())

    def shape(self, kind: Kind) -> tuple[int, int]:
        """Layers and heads of a kind."""
        return self.weights[self._kind(kind)].shape[0], self.weights[kind].shape[1]

    def output_tokens(self, kind: Kind, item: int = 0) -> tuple[Token, ...] | None:
        """What each row of a decoder map puts out, where the target has one token more than rows; else None."""
        return None if self.sentences[item].cut else super().output_tokens(kind, item)

    def attn(
        self, kind: Kind, *, layer: int | None = None, head: int | None = None, item: int = 0
    ) -> Float[Tensor, "..."]:
        """The weights as they were given: `(layers, heads, q_len, k_len)`, less the axes that were chosen."""
        attn = self.weights[self._kind(kind)]
        self._item(item)
        if head is not None:
            attn = attn[:, counted(head, attn.shape[1], "head", "these weights have heads")]
        return attn if layer is None else attn[counted(layer, attn.shape[0], "layer", "these weights have layers")]

    def scores(
        self, kind: Kind, *, layer: int | None = None, head: int | None = None, item: int = 0
    ) -> Float[Tensor, "..."]:
        """Bare weights have none: always a ValueError."""
        raise ValueError(MISSING)

    def call(self, kind: Kind, layer: int) -> AttentionCall:
        """Bare weights have none: always a ValueError."""
        raise ValueError(MISSING)

    def layer_mask(self, kind: Kind, layer: int, item: int = 0) -> Bool[Tensor, "heads q_len k_len"]:
        """The mask that was given, the same for every head; True everywhere where none was."""
        shape = self.attn(kind, layer=layer, item=item).shape
        return self.masks.get(kind, torch.ones((), dtype=torch.bool)).expand(shape)

    def thumbnails(self, kind: Kind, *, item: int = 0, side: int = 64) -> UInt8[Tensor, "layers heads rows cols"]:
        """Every head's map in 8 bits; weights below 0 or above 1 are drawn as 0 and 1."""
        return torch.stack([thumbnail(within(attn), side) for attn in self.attn(kind, item=item)])

    def nbytes(self) -> int:
        """Bytes of memory that weights and masks keep alive, storage that is shared counted once."""
        return bytes_kept((), (*self.weights.values(), *self.masks.values()))
