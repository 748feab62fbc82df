"""A trace that has only attention weights and tokens, given by the user.

Views that need only weights use it like any other trace; accessors that need queries and keys raise a clear error.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.guards.arguments import reads_arguments
from attnviz.text.tokens import Token
from attnviz.tracing.record import RunInfo, Sentence
from attnviz.tracing.trace_like import BARE, KINDS, TraceLike, validate_index
from attnviz.transformer.probe import Kind, bytes_kept
from attnviz.transformer.row_blocks import RowBlock, blocks_of_maps


@reads_arguments
@dataclass(frozen=True, repr=False, eq=False)
class BareWeights(TraceLike):
    """Weights given by the user, `(layers, heads, q_len, k_len)` float32 for each kind; made by `from_tensors`.

    Rows need not sum to 1; `info.notes` names those that do not. `masks`, if given, are `(q_len, k_len)`.
    `missing_reason` says why there is nothing but weights.
    """

    weights: Mapping[Kind, Tensor]
    sentences: tuple[Sentence, ...]
    masks: Mapping[Kind, Tensor] = field(default_factory=dict)
    info: RunInfo = field(default_factory=RunInfo)
    missing_reason: str = BARE
    weights_only: ClassVar[bool] = True
    from_file: ClassVar[bool] = True

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that were given, encoder first."""
        return tuple(kind for kind in KINDS if kind in self.weights)

    def shape(self, kind: Kind) -> tuple[int, int]:
        """Return the numbers of layers and heads for a kind of attention."""
        return self.weights[self._kind(kind)].shape[0], self.weights[kind].shape[1]

    def output_tokens(self, kind: Kind, item: int = 0) -> tuple[Token, ...] | None:
        """Return the token that each row of a decoder map predicts.

        Return None unless the target has one token more than there are rows.
        """
        return None if self.sentences[self._item(item)].cut else super().output_tokens(kind, item)

    def attn(
        self, kind: Kind, *, layer: int | None = None, head: int | None = None, item: int = 0
    ) -> Float[Tensor, "..."]:
        """Return the given weights `(layers, heads, q_len, k_len)`, without the axes of a chosen layer or head."""
        attn = self.weights[self._kind(kind)]
        self._item(item)
        if head is not None:
            attn = attn[:, validate_index(head, attn.shape[1], "head", "these weights have heads")]
        return (
            attn if layer is None else attn[validate_index(layer, attn.shape[0], "layer", "these weights have layers")]
        )

    def layer_mask(self, kind: Kind, layer: int, item: int = 0) -> Bool[Tensor, "heads q_len k_len"]:
        """Return the given mask, the same for every head; all True if no mask was given."""
        shape = self.attn(kind, layer=layer, item=item).shape
        return self.masks.get(kind, torch.ones((), dtype=torch.bool)).expand(shape)

    def nbytes(self) -> int:
        """Return the bytes of memory that weights and masks use, with shared storage counted once."""
        return bytes_kept((), (*self.weights.values(), *self.masks.values()))

    def _row_blocks(
        self, kind: Kind, layer: int, item: int, *, informs: bool, rows: range | None
    ) -> Iterator[RowBlock]:
        return blocks_of_maps(self.attn(kind, layer=layer, item=item), rows)

    def _one_layer(self, kind: Kind, layer: int, head: int | None) -> "BareWeights":
        heads = slice(None) if head is None else slice(head, head + 1)
        return replace(self, weights={kind: self.weights[kind][layer : layer + 1, heads]})


@dataclass(frozen=True, repr=False, eq=False)
class ReplayedWeights(BareWeights):
    """Weights that transformers returned for a model whose attention attnviz cannot hook; the texts are known."""

    from_file: ClassVar[bool] = False


def block_starts(trace: BareWeights, kind: Kind) -> tuple[int, ...]:
    """Return the first token of each block if the rows form blocks of packed texts that do not attend to each other.

    Return (0,) for one text.
    """
    attn = trace.weights[kind]
    if kind == "cross" or attn.shape[-2] != attn.shape[-1]:
        return (0,)
    seen = attn.ne(0).flatten(0, 1).any(dim=0) & trace.masks.get(kind, torch.ones((), dtype=torch.bool))
    starts = _find_blocks(seen | seen.T)
    return starts if len(starts) < len(seen) else (0,)  # rows that see only their own token say nothing about packing


def _find_blocks(seen: Tensor) -> tuple[int, ...]:
    """Return the start of each block on the diagonal; no token attends to a token of another block."""
    farthest = (seen * torch.arange(len(seen))).amax(dim=-1).maximum(torch.arange(len(seen))).cummax(dim=0).values
    ends = (farthest == torch.arange(len(seen))).nonzero().flatten().tolist()
    return (0, *(end + 1 for end in ends[:-1]))
