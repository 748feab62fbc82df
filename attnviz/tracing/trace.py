"""A trace: everything one run of a model says about its attention, with the tokens that label it.

Per site it keeps query, key, value, mask and what they came from, O(length) memory; `attn` and `scores` are made when
asked for, in float32, before dropout.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import torch
from jaxtyping import Bool, Float, UInt8
from torch import Tensor

from attnviz.text.tokens import Token
from attnviz.tracing.record import CUT, RunInfo, Sentence, Side
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.thumbnails import thumbnail
from attnviz.transformer.attention import call_attn, call_scores
from attnviz.transformer.probe import AttentionCall, Kind, Site, Stack, bytes_kept, of_item, visible

__all__ = ["CUT", "KINDS", "RunInfo", "Sentence", "Side", "Trace"]

Choice = TypeVar("Choice")


def checked(value: object, name: str, allowed: tuple[Choice, ...]) -> Choice:
    """`value`, which is one of `allowed`. Raises ValueError where it is not."""
    for choice in allowed:
        if choice == value:
            return choice
    raise ValueError(f"{name} must be one of {', '.join(map(str, allowed))}, not {value!r}.")


def counted(value: int, count: int, name: str, those_there_are: str) -> int:
    """`value`, which is 0 or more and below `count`. Raises ValueError where it is not."""
    if not 0 <= value < count:
        raise ValueError(f"There is no {name} {value}: {those_there_are} 0 to {count - 1}.")
    return value


def present(tensor: Tensor | None, name: str) -> Tensor:
    """The tensor, which is there. Raises ValueError where it is None."""
    if tensor is None:
        raise ValueError(f"This trace was built without {name}; views that need it cannot be shown.")
    return tensor


KINDS: tuple[Kind, ...] = ("encoder_self", "decoder_self", "cross")


@dataclass(frozen=True)
class Trace:
    """The record of one run. Accessors take `item`, the row of the batch; layers and heads count from 0."""

    calls: Mapping[Site, AttentionCall]
    contexts: Mapping[Site, Tensor]
    layers: Mapping[tuple[Stack, int], Tensor]
    sentences: tuple[Sentence, ...]
    memory: Tensor | None = None
    logits: Tensor | None = None
    info: RunInfo = field(default_factory=RunInfo)

    @classmethod
    def of(cls, recorder: Recorder, sentences: Sequence[Sentence], **rest) -> "Trace":
        """A trace of what a recorder wrote down."""
        return cls(recorder.calls, recorder.contexts, recorder.layers, tuple(sentences), **rest)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that there are, encoder first."""
        recorded = {site.kind for site in self.calls}
        return tuple(kind for kind in KINDS if kind in recorded)

    @property
    def n_layers(self) -> int:
        """Layers of the kind that has most."""
        return 1 + max(site.layer for site in self.calls)

    @property
    def n_heads(self) -> int:
        """Heads of the kind that has most."""
        return max(self.shape(kind)[1] for kind in self.kinds)

    def shape(self, kind: Kind) -> tuple[int, int]:
        """Layers and heads of a kind; some models have other numbers in their decoder than in their encoder."""
        return len(self._layers(kind)), self.calls[Site(kind, 0)].query.shape[1]

    @property
    def to(self) -> str:
        """The target's language."""
        return self.info.to

    @property
    def model_id(self) -> str:
        """The id of the weights that ran."""
        return self.info.model_id

    @property
    def src_text(self) -> str:
        """The source sentence of item 0."""
        return self.sentences[0].src_text

    @property
    def tgt_text(self) -> str:
        """The target sentence of item 0."""
        return self.sentences[0].tgt_text

    def tokens(self, side: Side, item: int = 0) -> tuple[Token, ...]:
        """All tokens of a sentence; a target has its `<bos:…>` and `<eos>`."""
        return getattr(self.sentences[self._item(item)], checked(side, "side", ("src", "tgt")))

    def query_tokens(self, kind: Kind, item: int = 0) -> tuple[Token, ...]:
        """The tokens along the query axis (what goes in at each row)."""
        return self.sentences[self._item(item)].queries(self._kind(kind))

    def key_tokens(self, kind: Kind, item: int = 0) -> tuple[Token, ...]:
        """The tokens along the key axis."""
        return self.sentences[self._item(item)].keys(self._kind(kind))

    def output_tokens(self, kind: Kind, item: int = 0) -> tuple[Token, ...] | None:
        """What each row of a decoder map puts out; None for an encoder, which puts out no tokens."""
        return self.sentences[self._item(item)].outputs(self._kind(kind))

    def attn(
        self, kind: Kind, *, layer: int | None = None, head: int | None = None, item: int = 0
    ) -> Float[Tensor, "..."]:
        """Attention weights before dropout: `(layers, heads, q_len, k_len)`, less the axes that were chosen.

        float32 on the CPU. Rows sum to 1, or to 0 where there is no visible key.
        """
        return self._maps(call_attn, kind, layer, head, item)

    def scores(
        self, kind: Kind, *, layer: int | None = None, head: int | None = None, item: int = 0
    ) -> Float[Tensor, "..."]:
        """Scaled query · key (and the model's own bias, where it has one) before the mask; shaped like `attn`."""
        return self._maps(call_scores, kind, layer, head, item)

    def mask(self, kind: Kind, *, layer: int = 0, head: int = 0, item: int = 0) -> Bool[Tensor, "q_len k_len"]:
        """True where a query may attend to a key."""
        return self.layer_mask(kind, layer, item)[self._head(kind, head)]

    def layer_mask(self, kind: Kind, layer: int, item: int = 0) -> Bool[Tensor, "heads q_len k_len"]:
        """The masks of a layer's heads; one that they share is in memory once."""
        return visible(self.call(kind, layer))[self._item(item)].cpu()

    def context(self, kind: Kind, layer: int, item: int = 0) -> Float[Tensor, "heads q_len d_k"]:
        """attn · V of each head, before the heads are merged."""
        self.call(kind, layer)
        return self.contexts[Site(kind, layer)][self._item(item)].float().cpu()

    def input_(self, kind: Kind, layer: int, item: int = 0) -> Float[Tensor, "q_len d_model"]:
        """What the queries of a site were projected from."""
        return present(self.call(kind, layer).input_, "input_")[self._item(item)].float().cpu()

    def site_memory(self, kind: Kind, layer: int, item: int = 0) -> Float[Tensor, "k_len d_model"]:
        """What the keys and values of a site were projected from."""
        return present(self.call(kind, layer).memory, "memory")[self._item(item)].float().cpu()

    def layer_output(self, stack: Stack, layer: int, item: int = 0) -> Float[Tensor, "length d_model"]:
        """Hidden states after a layer; layer -1 is the embedding."""
        if (stack, layer) not in self.layers:
            known = ", ".join(f"{stack} {layer}" for stack, layer in self.layers)
            raise ValueError(f"This trace has no output of {stack} layer {layer}; it has {known}.")
        return self.layers[stack, layer][self._item(item)].float().cpu()

    def call(self, kind: Kind, layer: int) -> AttentionCall:
        """The recorded call of a site, with its batch axis, on the device and in the dtype that it ran in."""
        layer = counted(layer, self.shape(kind)[0], "layer", f"this model has {kind} layers")
        return self.calls[Site(kind, layer)]

    def thumbnails(self, kind: Kind, *, item: int = 0, side: int = 64) -> UInt8[Tensor, "layers heads rows cols"]:
        """Every head's map in 8 bits, 0 to 255, at most `side` cells a side: made on the device that ran.

        A cell of a reduced map is the largest weight under it, so that no peak is lost. For pictures only.
        """
        maps = (call_attn(self._one(kind, layer, None, item))[0] for layer in self._layers(kind))
        return torch.stack([thumbnail(attn, side) for attn in maps]).cpu()

    def nbytes(self) -> int:
        """Bytes of memory that the trace keeps alive, storage that is shared counted once."""
        others = (*self.contexts.values(), *self.layers.values(), self.memory, self.logits)
        return bytes_kept(self.calls.values(), others)

    def _maps(self, make, kind: Kind, layer: int | None, head: int | None, item: int) -> Tensor:
        if layer is None:
            maps = [self._maps(make, kind, index, head, item) for index in self._layers(kind)]
            return torch.stack(maps) if len(maps) > 1 else maps[0][None]  # stacking copies, which one layer needs not
        maps = make(self._one(kind, layer, head, item))[0].cpu()
        return maps if head is None else maps[0]

    def _one(self, kind: Kind, layer: int, head: int | None, item: int) -> AttentionCall:
        """The call of one item, and of one head if asked; both axes stay, with size 1."""
        return of_item(self.call(kind, layer), self._item(item), None if head is None else self._head(kind, head))

    def _layers(self, kind: Kind) -> range:
        return range(sum(site.kind == self._kind(kind) for site in self.calls))

    def _kind(self, kind: str) -> Kind:
        return checked(kind, "kind", self.kinds)

    def _item(self, item: int) -> int:
        if not 0 <= item < len(self.sentences):
            raise ValueError(f"There is no item {item}: this trace holds {len(self.sentences)}, counted from 0.")
        return item

    def _head(self, kind: Kind, head: int) -> int:
        return counted(head, self.shape(kind)[1], "head", f"this model has {kind} heads")
