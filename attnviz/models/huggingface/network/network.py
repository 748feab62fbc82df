"""Run a transformers model: its encoder, its decoder, or its only stack. Each pass has its own probe."""

import copy
import inspect
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers import DynamicCache, EncoderDecoderCache
from transformers.cache_utils import (
    DynamicLayer,
    DynamicSlidingWindowLayer,
    LinearAttentionAndFullAttentionLayer,
    LinearAttentionAndSlidingWindowAttentionLayer,
)
from transformers.modeling_outputs import BaseModelOutput

from attnviz.models.huggingface.errors import NoAttentionInterface
from attnviz.models.huggingface.network.call_order import CallOrder, cycle_names, hook, last_new_layer, shapes_of
from attnviz.models.huggingface.network.forward_pass import AttentionModule, ForwardPass, Watcher, watch_pass
from attnviz.models.huggingface.network.patches import cast, set_attention, share_weights
from attnviz.models.huggingface.network.softmax_watch import SoftmaxWatch, WatchedSite, modules_running
from attnviz.transformer.probe import Kind, Probe, Site, Stack

_MOST_SCORES = 64_000_000  # scores of all heads together: a quarter of a gigabyte
_ORDER = 4  # tokens of the text with which the order of calls is recorded
Family = Literal["encoder", "decoder", "encoder-decoder"]
Cache = DynamicCache | EncoderDecoderCache


@dataclass(frozen=True)
class Batch:
    """Ids `(batch, length)`, padded on the right; `mask` is 1 for real tokens; `segments` are BERT's token types."""

    ids: Tensor
    mask: Tensor
    segments: Tensor | None = None

    @classmethod
    def from_rows(
        cls, rows: Sequence[Sequence[int]], pad_id: int, segments: Sequence[Sequence[int]] | None = None
    ) -> "Batch":
        """Return rows of ids as one padded batch."""
        ids = _pad_rows(rows, pad_id)
        mask = _pad_rows([[1] * len(row) for row in rows], 0)
        return cls(ids, mask, None if segments is None else _pad_rows(segments, 0))

    def cut(self, length: int) -> "Batch":
        """Return the first `length` tokens of the first row."""
        segments = None if self.segments is None else self.segments[:1, :length]
        return Batch(self.ids[:1, :length], self.mask[:1, :length], segments)

    def to(self, device: torch.device) -> "Batch":
        """Move the batch to a device."""
        segments = None if self.segments is None else self.segments.to(device)
        return Batch(self.ids.to(device), self.mask.to(device), segments)

    @property
    def arguments(self) -> dict[str, Tensor]:
        """The arguments with which a user would call a transformers model."""
        segments = {} if self.segments is None else {"token_type_ids": self.segments}
        return {"input_ids": self.ids, "attention_mask": self.mask, **segments}


@dataclass(frozen=True)
class PixelBatch(Batch):
    """A batch of images with equally many tokens each.

    `ids` number the tokens, `pixels` are the image processor's outputs by the names of the model's arguments, and
    `flags` are further arguments.
    """

    pixels: Mapping[str, Tensor] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)

    @classmethod
    def of_tokens(cls, count: int, pixels: Mapping[str, Tensor], flags: Mapping[str, bool]) -> "PixelBatch":
        """Return a batch of images, each of which the model turns into `count` tokens."""
        first = next(iter(pixels.values()))
        ids = torch.arange(count, device=first.device).expand(len(first), -1)
        mask = pixels.get("pixel_attention_mask", torch.ones_like(ids))
        return cls(ids, mask, pixels=pixels, flags=flags)

    def cut(self, length: int) -> "PixelBatch":
        """Return the whole first image, because an image cannot be cut to its first tokens."""
        first = {name: tensor[:1] for name, tensor in self.pixels.items()}
        return PixelBatch(self.ids[:1], self.mask[:1], pixels=first, flags=self.flags)

    def to(self, device: torch.device, dtype: torch.dtype | None = None) -> "PixelBatch":
        """Move the batch to a device, and its floating-point tensors to a dtype."""
        moved = {
            name: tensor.to(device, dtype if tensor.is_floating_point() else None)
            for name, tensor in self.pixels.items()
        }
        return PixelBatch(self.ids.to(device), self.mask.to(device), pixels=moved, flags=self.flags)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments for calling a vision model."""
        return {**self.pixels, **self.flags}


@dataclass(frozen=True)
class PassRequest:
    """What to compute in one forward pass: its probe, hidden states of layers (`hidden`), and `logits`.

    With `last_only`, a model that supports it computes only the logits of the last position: for a long prompt, all
    logits take more time and memory than all layers.
    """

    probe: Probe
    hidden: bool = True
    logits: bool = True
    last_only: bool = False


class Network:
    """A transformers model that runs attnviz's attention, and the order of its attention calls.

    All visitors share the weights; the state of a run is in the run's arguments. With `is_watched`, the model computes
    its scores itself, and a `SoftmaxWatch` takes over the rest of its attention. Raises NoAttentionInterface if the
    model computes no attention that can be replaced.
    """

    def __init__(self, model: Any, sample: Batch, target: Batch | None = None, *, is_watched: bool = False) -> None:
        self.model, self.has_encoder, self.is_watched = model, target is not None, is_watched
        self._watched: dict[Stack, tuple[WatchedSite, ...]] = {}
        self.encoder_places: tuple[AttentionModule, ...] = ()
        self.shapes: dict[Kind, tuple[int, int]] = {}
        taken = inspect.signature(model.forward).parameters
        self._can_keep_last = "logits_to_keep" in taken
        self._cache_name = cache_argument(model)
        self.has_cache = bool(self._cache_name)
        # Whether each step is passed its positions (Bamba would count them from 0); `check_steps` sets this.
        self.takes_positions, self.tells_positions = "position_ids" in taken, False
        # Whether the decoder is also passed the source's ids: without them, FSMT does not hide later tokens.
        self._tells_source = False
        self._read_as: Any = BaseModelOutput  # class of the encoder's output, which the decoder expects
        with torch.inference_mode():
            self.places = self._learn_calls(sample, target)
        # The numbers of a kind's attending layers, if its stack also has layers without attention.
        watched = (site for sites in self._watched.values() for site in sites)
        length_first = [site.module for site in watched if site.is_length_first]
        every = (*self.encoder_places, *self.places)
        self.layer_numbers = hook(model, every, length_first=length_first)
        self.layer_names = {} if self.layer_numbers else cycle_names(model, every)

    @property
    def family(self) -> Family:
        """Which stacks the model has: "encoder", "decoder" or "encoder-decoder"."""
        if self.has_encoder:
            return "encoder-decoder"
        return "encoder" if self.places[0].site.kind == "encoder_self" else "decoder"

    @property
    def device(self) -> torch.device:
        """The device that the model runs on."""
        return first_weight(self.model).device

    @property
    def dtype(self) -> torch.dtype:
        """The dtype that the model computes in."""
        return first_weight(self.model).dtype

    @property
    def sites_by_scores(self) -> tuple[Site, ...]:
        """The sites of which a trace knows only the scores, because queries and keys are unknown."""
        if not self.is_watched:
            return ()
        places = {"encoder": self.encoder_places or self.places, "decoder": self.places}
        return tuple(
            place.site
            for stack, sites in self._watched.items()
            for place, watched in zip(places[stack], sites, strict=True)
            if watched.scale is None
        )

    @property
    def most_tokens(self) -> int:
        """The longest text in tokens for which a trace can hold the scores of all sites in `sites_by_scores`."""
        heads = sum(self.shapes[site.kind][1] for site in self.sites_by_scores)
        return math.isqrt(_MOST_SCORES // heads) if heads else sys.maxsize

    @property
    def last_new_layer(self) -> str:
        """The name of the layer by which every kind of layer in the model has occurred; "" if it is the last layer."""
        return "" if self.has_encoder or self.is_watched else last_new_layer(self.model, self.places)

    def encode(self, src: Batch, request: PassRequest) -> Tensor:
        """Run the encoder of an encoder-decoder; return `(batch, length, d_model)`."""
        run = ForwardPass(self.encoder_places, "encoder", request.probe, hidden=request.hidden)
        with self._watch_stack(run, "encoder", src):
            return self.model.get_encoder()(input_ids=src.ids, attention_mask=src.mask).last_hidden_state

    def decode(
        self, tgt: Batch, memory: Tensor, src_mask: Tensor, request: PassRequest, cache: Cache | None = None
    ) -> Any:
        """Run the decoder over `tgt`, or over the tokens that are not in the cache yet; return transformers' output."""
        run = ForwardPass(self.places, "decoder", request.probe, memory, request.hidden)
        with self._watch_stack(run, "decoder", tgt):
            return self._network(request)(
                **self._decoder_arguments(tgt, memory, src_mask),
                use_cache=cache is not None,
                **({} if cache is None else {self._cache_name: cache}),
            )

    def run_only_stack(self, batch: Batch, request: PassRequest, cache: DynamicCache | None = None) -> Any:
        """Run a model with one stack over `batch`; with a cache, `batch.mask` also covers the cached tokens."""
        stack: Stack = "encoder" if self.family == "encoder" else "decoder"
        with self._watch_stack(ForwardPass(self.places, stack, request.probe, hidden=request.hidden), stack, batch):
            last = {"logits_to_keep": 1} if request.last_only and request.logits and self._can_keep_last else {}
            return self._network(request)(**self.arguments(batch, cache), **last)

    def arguments(self, batch: Batch, cache: DynamicCache | None = None) -> dict[str, Any]:
        """Return the arguments for calling a model with one stack."""
        arguments: dict[str, Any] = batch.arguments
        if cache is not None:
            arguments |= {self._cache_name: cache, "use_cache": True}
            if self.tells_positions:
                positions = torch.arange(batch.mask.shape[1], device=batch.ids.device)[-batch.ids.shape[1] :]
                arguments["position_ids"] = positions.expand(len(batch.ids), -1)
        elif hasattr(self.model, "generation_config"):
            arguments["use_cache"] = False
        return arguments

    def empty_cache(self) -> Cache | None:
        """Return a cache that keeps every key, or None if the model takes no cache.

        attnviz implements a sliding window as a mask, so that all keys can be shown. Layers without attention also keep
        their state between steps in this cache.
        """
        if not self.has_cache:
            return None
        if self.has_encoder:
            return EncoderDecoderCache(DynamicCache(), DynamicCache())
        if own := _own_cache(self.model):
            return own()
        made = DynamicCache(config=self.model.config)
        made.layers = [_without_window(layer) for layer in made.layers]
        if all(type(layer) is DynamicLayer for layer in made.layers):
            # A config may give a wrong number of layers, as BART's does for its decoder alone; this cache grows.
            return DynamicCache()
        return made

    def to(self, device: torch.device, dtype: torch.dtype) -> "Network":
        """Move the network to a device and a dtype."""
        cast(self.model, device, dtype)
        return self

    def _network(self, request: PassRequest) -> nn.Module:
        """Return the whole model if logits are requested, otherwise the model without its language-model head.

        The head would make the pass take half as long again.
        """
        return self.model if request.logits else self.model.base_model

    def with_own_attention(self) -> "Network":
        """Return a network that shares the weights and runs transformers' own eager attention, without an observer."""
        own = copy.copy(self)
        own.model, own.is_watched = share_weights(self.model), False
        set_attention(own.model, "eager")
        return own

    @contextmanager
    def _watch_stack(self, run: Watcher, stack: Stack, batch: Batch) -> Iterator[None]:
        """Inside this context, in which a stack runs over a batch, compute its attention with the observer `run`."""
        with watch_pass(run):
            if not self.is_watched:
                yield
                return
            with (watch := SoftmaxWatch(run, len(batch.ids), self._watched[stack])):
                yield
            watch.require_all()

    @contextmanager
    def _find_calls(self, order: CallOrder) -> Iterator[list[WatchedSite]]:
        """Record the attention calls of a pass over one text in `order`; yield the list of watched calls."""
        with watch_pass(order):
            if not self.is_watched:
                yield []
                return
            with modules_running(self.model) as running, (watch := SoftmaxWatch(order, 1, running=running)):
                yield watch.found
            if not watch.found:
                raise NoAttentionInterface("attnviz finds no softmax in it whose weights multiply values")

    def _learn_calls(self, sample: Batch, target: Batch | None) -> tuple[AttentionModule, ...]:
        sample, target = sample.cut(_ORDER), None if target is None else target.cut(_ORDER - 1)
        order = CallOrder()
        if target is None:
            with self._find_calls(order) as found:
                self.model(**self.arguments(sample))
            places = order.places()
            stack: Stack = "encoder" if places[0].site.kind == "encoder_self" else "decoder"
            self._watched[stack] = tuple(found)
            self.shapes = shapes_of(order, places)
            return places
        src_len, tgt_len = sample.ids.shape[1], target.ids.shape[1]
        if src_len == tgt_len:
            raise ValueError(
                "Source and target of the sample must differ in length, or cross-attention cannot be told apart."
            )
        with self._find_calls(order) as found:
            read = self.model.get_encoder()(input_ids=sample.ids, attention_mask=sample.mask)
        self._read_as, memory = type(read), read.last_hidden_state
        self.encoder_places, self._watched["encoder"] = order.places("encoder_self"), tuple(found)
        self.shapes = shapes_of(order, self.encoder_places)
        order = self._learn_decoder(target, memory, sample.mask)
        if order.looks_ahead(src_len):
            self._tells_source = True
            order = self._learn_decoder(target, memory, sample.mask)
        places = order.places("decoder_self", src_len=src_len)
        self.shapes |= shapes_of(order, places)
        return places

    def _learn_decoder(self, target: Batch, memory: Tensor, src_mask: Tensor) -> CallOrder:
        """Record the attention calls of an encoder-decoder's decoder."""
        with self._find_calls(order := CallOrder()) as found:
            self.model(**self._decoder_arguments(target, memory, src_mask), use_cache=False)
        self._watched["decoder"] = tuple(found)
        return order

    def _decoder_arguments(self, tgt: Batch, memory: Tensor, src_mask: Tensor) -> dict[str, Any]:
        """Return the arguments for calling the decoder of an encoder-decoder."""
        arguments: dict[str, Any] = {
            "encoder_outputs": self._read_as(last_hidden_state=memory),
            "attention_mask": src_mask,
            "decoder_input_ids": tgt.ids,
            # Without a mask of ones, T5Gemma hides every token with the id of padding.
            "decoder_attention_mask": torch.ones_like(tgt.mask),
        }
        return arguments | ({"input_ids": torch.zeros_like(src_mask)} if self._tells_source else {})


def _own_cache(model: Any) -> type[DynamicCache] | None:
    """Return the cache class that a model's own module defines (MiniMax), or None for a model that accepts any
    cache.
    """
    home = sys.modules.get(type(model).__module__)
    found = [
        kind for kind in vars(home).values()
        if isinstance(kind, type) and issubclass(kind, DynamicCache) and kind.__module__ == home.__name__
    ] if home else []  # fmt: skip
    return found[0] if len(found) == 1 else None


def _without_window(layer: Any) -> Any:
    """Replace a cache layer that drops keys before a sliding window by a layer that keeps every key."""
    if isinstance(layer, LinearAttentionAndSlidingWindowAttentionLayer):
        return LinearAttentionAndFullAttentionLayer(number_of_states=layer.number_of_states)
    return DynamicLayer() if isinstance(layer, DynamicSlidingWindowLayer) else layer


def cache_argument(model: Any) -> str:
    """Return the name of a model's cache argument (`cache` since transformers 5.24); "" for a model without one, like
    GPT-1.
    """
    taken = inspect.signature(model.forward).parameters
    return next((name for name in ("past_key_values", "cache") if name in taken), "")


def embedding_of(model: Any) -> Tensor | None:
    """Return a model's token embeddings, or None if the model does not expose them."""
    try:
        return getattr(model.get_input_embeddings(), "weight", None)
    except NotImplementedError:  # SAM 3's text model does not expose its embedding
        return None


def first_weight(model: Any) -> Tensor:
    """Return a floating-point tensor of the model, to read the model's device and dtype from."""
    weight = embedding_of(model)
    numbers = (weight,) if isinstance(weight, Tensor) else model.parameters()
    return next(tensor for tensor in numbers if tensor.is_floating_point())


def uses_segments(config: Any) -> bool:
    """Check whether the model reads token types: it has several type embeddings, or its mask depends on types."""
    has_types = getattr(config, "type_vocab_size", 0) > 1 or reads_prompt_both_ways(config)
    return has_types and not getattr(config, "is_encoder_decoder", False)


def written_tokens_kept(config: Any) -> int | None:
    """Return how many generated tokens transformers keeps in addition to the whole prompt (UnlimitedOCR).

    Return None if it keeps all tokens, or if it drops tokens of the prompt too.
    """
    text = config.get_text_config()
    kinds = getattr(text, "layer_types", None) or ()
    return text.sliding_window if "reference_sliding_attention" in kinds else None


def reads_prompt_both_ways(config: Any) -> bool:
    """Check whether a prompt's tokens, of token type 0, attend to each other in both directions (PaliGemma)."""
    return config.model_type == "paligemma"


def _pad_rows(rows: Sequence[Sequence[int]], value: int) -> Tensor:
    return nn.utils.rnn.pad_sequence([torch.tensor(list(row)) for row in rows], batch_first=True, padding_value=value)
