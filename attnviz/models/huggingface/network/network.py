"""A transformers model as passes: encode, decode, or its only stack; each with a probe of its own run."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers import DynamicCache, EncoderDecoderCache
from transformers.cache_utils import (
    DynamicLayer,
    DynamicSlidingWindowLayer,
    LinearAttentionAndFullAttentionLayer,
    LinearAttentionAndSlidingWindowAttentionLayer,
    LinearAttentionLayer,
)
from transformers.modeling_outputs import BaseModelOutput

from attnviz.models.huggingface.network.call_order import CallOrder, hook, shapes_of
from attnviz.models.huggingface.network.forward_pass import AttentionModule, ForwardPass, watch_pass
from attnviz.models.huggingface.network.patches import cast
from attnviz.transformer.probe import Kind, Probe, Stack

# Layers of a cache that forget what lies before a window, and those that do not.
_WITHOUT_WINDOW = {
    DynamicSlidingWindowLayer: DynamicLayer,
    LinearAttentionAndSlidingWindowAttentionLayer: LinearAttentionAndFullAttentionLayer,
}
_ORDER = 4  # tokens that are enough to see in which order a model computes
Family = Literal["encoder", "decoder", "encoder-decoder"]
Cache = DynamicCache | EncoderDecoderCache


@dataclass(frozen=True)
class Batch:
    """Ids `(batch, length)`, padded on the right; `mask` is 1 on real tokens; `segments` are BERT's token types."""

    ids: Tensor
    mask: Tensor
    segments: Tensor | None = None

    @classmethod
    def from_rows(
        cls, rows: Sequence[Sequence[int]], pad_id: int, segments: Sequence[Sequence[int]] | None = None
    ) -> "Batch":
        """Pad rows of ids to one batch."""
        ids = _pad(rows, pad_id)
        mask = _pad([[1] * len(row) for row in rows], 0)
        return cls(ids, mask, None if segments is None else _pad(segments, 0))

    def cut(self, length: int) -> "Batch":
        """Return the first tokens of the first row."""
        segments = None if self.segments is None else self.segments[:1, :length]
        return Batch(self.ids[:1, :length], self.mask[:1, :length], segments)

    def to(self, device: torch.device) -> "Batch":
        """Move the batch to a device."""
        segments = None if self.segments is None else self.segments.to(device)
        return Batch(self.ids.to(device), self.mask.to(device), segments)


@dataclass(frozen=True)
class PassRequest:
    """Callbacks and outputs requested for one forward pass: inputs and outputs of layers, and scores of the vocabulary.

    With `last_only`, a model that can leaves out the scores of all positions but the last: of a long prompt these take
    more time and memory than all its layers.
    """

    probe: Probe
    hidden: bool = True
    logits: bool = True
    last_only: bool = False


class Network:
    """A transformers model whose attention is the package's own, and the order in which it computes it.

    The weights serve every visitor; what belongs to a run is in its arguments. Raises ModelError when the model does
    not go through transformers' attention interface.
    """

    def __init__(self, model: Any, sample: Batch, target: Batch | None = None) -> None:
        self.model, self.has_encoder = model, target is not None
        self.encoder_places: tuple[AttentionModule, ...] = ()
        self.shapes: dict[Kind, tuple[int, int]] = {}
        self._can_keep_last = "logits_to_keep" in inspect.signature(model.forward).parameters
        self._read_as: Any = BaseModelOutput  # what its encoder's output is, which its decoder is handed
        with torch.inference_mode():
            self.places = self._learn(sample, target)
        # The attending layers' own numbers, of a kind whose stack has others beside them.
        self.layer_numbers = hook(model, (*self.encoder_places, *self.places))

    @property
    def family(self) -> Family:
        """The stacks that it has."""
        if self.has_encoder:
            return "encoder-decoder"
        return "encoder" if self.places[0].site.kind == "encoder_self" else "decoder"

    @property
    def device(self) -> torch.device:
        """The device that it runs on."""
        return first_weight(self.model).device

    @property
    def dtype(self) -> torch.dtype:
        """The type that it computes in."""
        return first_weight(self.model).dtype

    def encode(self, src: Batch, request: PassRequest) -> Tensor:
        """Run the encoder of an encoder-decoder: `(batch, length, d_model)`."""
        run = ForwardPass(self.encoder_places, "encoder", request.probe, hidden=request.hidden)
        with watch_pass(run):
            return self.model.get_encoder()(input_ids=src.ids, attention_mask=src.mask).last_hidden_state

    def decode(
        self, tgt: Batch, memory: Tensor, src_mask: Tensor, request: PassRequest, cache: Cache | None = None
    ) -> Any:
        """Run the decoder over `tgt`, or over what the cache does not hold yet; returns transformers' output."""
        run = ForwardPass(self.places, "decoder", request.probe, memory, request.hidden)
        with watch_pass(run):
            return self._network(request)(
                encoder_outputs=self._read_as(last_hidden_state=memory),  # type: ignore[arg-type]
                attention_mask=src_mask,
                decoder_input_ids=tgt.ids,
                decoder_attention_mask=torch.ones_like(tgt.mask),  # or T5Gemma hides every token that pads elsewhere
                past_key_values=cache,
                use_cache=cache is not None,
            )

    def run_only_stack(self, batch: Batch, request: PassRequest, cache: DynamicCache | None = None) -> Any:
        """Run the only stack over `batch`; with a cache `batch.mask` covers what it holds too."""
        stack: Stack = "encoder" if self.family == "encoder" else "decoder"
        with watch_pass(ForwardPass(self.places, stack, request.probe, hidden=request.hidden)):
            last = {"logits_to_keep": 1} if request.last_only and request.logits and self._can_keep_last else {}
            return self._network(request)(**self.arguments(batch, cache), **last)

    def arguments(self, batch: Batch, cache: DynamicCache | None = None) -> dict[str, Any]:
        """Return the arguments of a call to a model of one stack."""
        arguments: dict[str, Any] = {"input_ids": batch.ids, "attention_mask": batch.mask}
        if batch.segments is not None:
            arguments["token_type_ids"] = batch.segments
        if cache is not None:
            arguments |= {"past_key_values": cache, "use_cache": True}
        elif hasattr(self.model, "generation_config"):
            arguments["use_cache"] = False
        return arguments

    def empty_cache(self) -> Cache:
        """Make a cache that keeps every key: a sliding window is a mask here, so that all keys can be shown.

        Layers that do not attend keep what they need from step to step in it, too.
        """
        if self.has_encoder:
            return EncoderDecoderCache(DynamicCache(), DynamicCache())
        made = DynamicCache(config=self.model.config)
        if not any(isinstance(layer, LinearAttentionLayer) for layer in made.layers):
            return DynamicCache()
        made.layers = [_WITHOUT_WINDOW.get(type(layer), lambda layer=layer: layer)() for layer in made.layers]
        return made

    def to(self, device: torch.device, dtype: torch.dtype) -> "Network":
        """Move it to a device, and let it compute in a type."""
        cast(self.model, device, dtype)
        return self

    def _network(self, request: PassRequest) -> nn.Module:
        """Return the whole model, or its part without the head over the vocabulary, which costs half as much again."""
        return self.model if request.logits else self.model.base_model

    def _learn(self, sample: Batch, target: Batch | None) -> tuple[AttentionModule, ...]:
        sample, target = sample.cut(_ORDER), None if target is None else target.cut(_ORDER - 1)
        order = CallOrder()
        if target is None:
            with watch_pass(order):
                self.model(**self.arguments(sample))
            places = order.places()
            self.shapes = shapes_of(order, places)
            return places
        src_len, tgt_len = sample.ids.shape[1], target.ids.shape[1]
        if src_len == tgt_len:
            raise ValueError(
                "Source and target of the sample must differ in length, or cross-attention cannot be told apart."
            )
        with watch_pass(order):
            read = self.model.get_encoder()(input_ids=sample.ids, attention_mask=sample.mask)
        self._read_as, memory = type(read), read.last_hidden_state
        self.encoder_places = order.places("encoder_self")
        self.shapes = shapes_of(order, self.encoder_places)
        with watch_pass(order := CallOrder()):
            self.model(
                encoder_outputs=self._read_as(last_hidden_state=memory),
                attention_mask=sample.mask,
                decoder_input_ids=target.ids,
                decoder_attention_mask=torch.ones_like(target.mask),
                use_cache=False,
            )
        places = order.places("decoder_self", src_len=src_len)
        self.shapes |= shapes_of(order, places)
        return places


def first_weight(model: Any) -> Tensor:
    """Return a tensor of the model, whose device and type are the model's."""
    weight = getattr(model.get_input_embeddings(), "weight", None)
    numbers = (weight,) if isinstance(weight, Tensor) else model.parameters()
    return next(tensor for tensor in numbers if tensor.is_floating_point())


def uses_segments(config: Any) -> bool:
    """Check whether the model has embeddings for more than one sort of segment."""
    return not getattr(config, "is_encoder_decoder", False) and getattr(config, "type_vocab_size", 0) > 1


def _pad(rows: Sequence[Sequence[int]], value: int) -> Tensor:
    return nn.utils.rnn.pad_sequence([torch.tensor(list(row)) for row in rows], batch_first=True, padding_value=value)
