"""A trace: everything that was recorded about the attention of one run, with the tokens that label it.

For each site it keeps query, key, value, mask and their inputs, which takes O(length) memory. `attn` and `scores` are
computed on demand, in float32, before dropout.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.guards.arguments import reads_arguments
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.record import CUT, RunInfo, Sentence, Side
from attnviz.tracing.recorder import GroupedCalls, Recorder
from attnviz.tracing.trace_like import KINDS, TraceLike, require_present, validate_index
from attnviz.transformer.attention import call_attn, call_scores, call_sink_weights
from attnviz.transformer.device import gpu_of_run, is_out_of_memory
from attnviz.transformer.masks import VisibleKeys
from attnviz.transformer.probe import (
    AttentionCall,
    Kind,
    Site,
    Stack,
    bytes_kept,
    cut_to_lengths,
    select_item,
    visible_cells,
)
from attnviz.transformer.row_blocks import RowBlock, row_blocks, visible_keys

_LONG = 1 << 22  # cells of a map from which it is worth to compute all heads on the GPU that the model ran on
__all__ = ["CUT", "KINDS", "RunInfo", "Sentence", "Side", "Trace", "TraceLike"]


@reads_arguments
@dataclass(frozen=True, repr=False, eq=False)
class Trace(TraceLike):
    """The record of one run.

    Accessors take `item`, the batch row, and leave out the padding after shorter sentences; layers and heads count from
    0. Two traces are equal only if they are the same object. `interventions` were applied to the run: maps, contexts
    and hidden states are the results after them. If some layers of a stack have no attention, the layers of a kind
    count only those that do, and `numbers` gives their numbers in the model. `names` are the names of layers that run
    in cycles, such as "L0 cycle 1".
    """

    calls: Mapping[Site, AttentionCall]
    contexts: Mapping[Site, Tensor]
    layers: Mapping[tuple[Stack, int], Tensor]
    sentences: tuple[Sentence, ...]
    memory: Tensor | None = None
    logits: Tensor | None = None
    info: RunInfo = field(default_factory=RunInfo)
    numbers: Mapping[Kind, tuple[int, ...]] = field(default_factory=dict)
    interventions: tuple[Intervention, ...] = ()
    names: Mapping[Kind, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def from_recorder(cls, recorder: Recorder, sentences: Sequence[Sentence], **rest) -> "Trace":
        """Make a trace from a recorder's contents, moved to the CPU: traces outlive the run, and GPU memory is for
        models.
        """
        return cls(recorder.calls, recorder.contexts, recorder.layers, tuple(sentences), **rest)._move_to_cpu()

    def __repr__(self) -> str:
        """Describe the trace and its interventions for a notebook."""
        done = "; ".join(map(str, self.interventions))
        return super().__repr__() if not done else f"{super().__repr__()[:-1]}; interventions: {done}>"

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention in the trace, encoder first."""
        return self._kinds

    @cached_property
    def _kinds(self) -> tuple[Kind, ...]:
        recorded = {site.kind for site in self.calls}
        return tuple(kind for kind in KINDS if kind in recorded)

    def shape(self, kind: Kind) -> tuple[int, int]:
        """Return the numbers of layers and heads for a kind of attention.

        Some models have other numbers in their decoder than in their encoder.
        """
        return len(self._layers(kind)), self._as_kept(Site(kind, 0)).query.shape[1]

    def attn(
        self, kind: Kind, *, layer: int | None = None, head: int | None = None, item: int = 0
    ) -> Float[Tensor, "..."]:
        """Return the attention weights before dropout: `(layers, heads, q_len, k_len)`, without the axes that were
        chosen.

        float32 on the CPU. Rows sum to 1, or to 0 if no key is visible; with an attention sink, they sum to 1 minus
        `sink_weights`.
        """
        return self._maps(call_attn, kind, layer, head, item)

    def scores(
        self, kind: Kind, *, layer: int | None = None, head: int | None = None, item: int = 0
    ) -> Float[Tensor, "..."]:
        """Return scaled query · key plus the model's own bias, if any, before the mask; the shape is that of `attn`."""
        return self._maps(call_scores, kind, layer, head, item)

    def has_sinks(self, kind: Kind) -> bool:
        """Check whether heads of a kind of attention have a sink, which takes a part of each row but is not a token."""
        return any(self._as_kept(Site(kind, layer)).sinks is not None for layer in self._layers(kind))

    def has_indexer(self, kind: Kind) -> bool:
        """Check whether an indexer in the model chooses the keys of each row for a kind of attention."""
        return any(self._as_kept(Site(kind, layer)).chosen is not None for layer in self._layers(kind))

    def sink_weights(self, kind: Kind, *, item: int = 0) -> Float[Tensor, "layers heads q_len"] | None:
        """Return each row's weight on its head's attention sink, which is not a token; None if this kind has
        no sinks.
        """
        if not self.has_sinks(kind):
            return None
        return torch.stack(
            [call_sink_weights(self._one_call(kind, layer, None, item))[0].cpu() for layer in self._layers(kind)]
        )

    def layer_mask(self, kind: Kind, layer: int, item: int = 0) -> Bool[Tensor, "heads q_len k_len"]:
        """Return the masks of a layer's heads; a mask that all heads share is in memory once."""
        layer = validate_index(layer, self.shape(kind)[0], "layer", f"this model has {kind} layers")
        return visible_cells(self._of_item(kind, layer, self._item(item)))[0].cpu()

    def context(self, kind: Kind, layer: int, item: int = 0) -> Float[Tensor, "heads q_len d_k"]:
        """Return attn · V of each head, before the heads are merged."""
        self.call(kind, layer)
        context = require_present(self.contexts.get(Site(kind, layer)), "contexts")[self._item(item)]
        return context[:, : len(self.query_tokens(kind, item))].float().cpu()

    def layer_output(self, stack: Stack, layer: int, item: int = 0) -> Float[Tensor, "length d_model"]:
        """Return the hidden states after a layer; layer -1 is the embedding."""
        if (stack, layer) not in self.layers:
            known = ", ".join(f"{stack} {layer}" for stack, layer in self.layers)
            raise ValueError(f"This trace has no output of {stack} layer {layer}; it has {known}.")
        sentence = self.sentences[self._item(item)]
        length = len(sentence.src) if stack == "encoder" else len(sentence.tgt_in) - sentence.first_row
        return self.layers[stack, layer][item, :length].float().cpu()

    def layer_number(self, kind: Kind, layer: int) -> int:
        """Return a layer's number in its stack, counting layers without attention too."""
        return self.numbers[kind][layer] if kind in self.numbers else layer

    def layer_name(self, kind: Kind, layer: int) -> str:
        """Return a layer's name, with its number in the model if that differs, or its cycle: L2 (H0 cycle 1)."""
        return f"L{layer} ({self.names[kind][layer]})" if kind in self.names else super().layer_name(kind, layer)

    def call(self, kind: Kind, layer: int) -> AttentionCall:
        """Return the recorded call of a site in its original dtype, with the batch axis and padding.

        The call is on the CPU, or, for a single decoding step, on the device that it ran on.
        """
        layer = validate_index(layer, self.shape(kind)[0], "layer", f"this model has {kind} layers")
        return self.calls[Site(kind, layer)]

    def nbytes(self) -> int:
        """Return the bytes of memory that the trace uses, with shared storage counted once."""
        return self._nbytes

    @cached_property
    def _nbytes(self) -> int:
        put = (values for each in self.interventions for values in each.values.values())
        others = (*self.contexts.values(), *self.layers.values(), self.memory, self.logits, *put)
        return bytes_kept(map(self._as_kept, self.calls), others)

    def _move_to_cpu(self) -> "Trace":
        """Move every tensor to the CPU; a tensor that several sites share stays a single tensor."""
        if all(self._as_kept(site).query.device.type == "cpu" for site in self.calls):
            return self
        moved: dict[int, Tensor] = {}

        def move(tensor: Tensor) -> Tensor:
            if id(tensor) not in moved:
                moved[id(tensor)] = tensor.cpu()
            return moved[id(tensor)]

        return replace(
            self,
            calls=GroupedCalls({site: self._as_kept(site).map_tensors(move) for site in self.calls}),
            contexts={site: move(context) for site, context in self.contexts.items()},
            layers={place: move(output) for place, output in self.layers.items()},
            memory=None if self.memory is None else move(self.memory),
            logits=None if self.logits is None else move(self.logits),
        )

    def _one_layer(self, kind: Kind, layer: int, head: int | None) -> "Trace":
        call = self._call_of(Site(kind, layer), None, head)
        return replace(self, calls={Site(kind, 0): call}, contexts={}, layers={}, numbers={}, names={})

    def _row_blocks(
        self, kind: Kind, layer: int, item: int, *, informs: bool, rows: range | None
    ) -> Iterator[RowBlock]:
        call = self._of_item(kind, layer, item)
        visible = self._visible_keys(call)
        cells = call.query.shape[2] * call.key.shape[2]
        gpu = gpu_of_run(self.info.device) if rows is None and cells >= _LONG else None
        if gpu is None or call.query.device.type != "cpu":
            return row_blocks(call, visible, informs=informs, rows=rows)
        return self._row_blocks_on(gpu, call, visible, informs=informs)

    def _row_blocks_on(
        self, gpu: torch.device, call: AttentionCall, visible: VisibleKeys, *, informs: bool
    ) -> Iterator[RowBlock]:
        """Yield all row blocks of a layer, computed on `gpu`, or on the CPU if the GPU is out of memory."""
        try:
            if visible not in self._on_gpu:
                mask = None if visible.mask is None else visible.mask.to(gpu)
                self._on_gpu[visible] = VisibleKeys(mask, visible.q_len, visible.k_len)
            kept = replace(call, mask=None, chosen=None, input_=None, memory=None)
            blocks = row_blocks(kept.map_tensors(lambda part: part.to(gpu)), self._on_gpu[visible], informs=informs)
            first = next(blocks, None)  # takes the memory for all blocks
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            self._on_gpu.clear()
            blocks, first = row_blocks(call, visible, informs=informs), None
        if first is not None:
            yield first
        yield from blocks

    @cached_property
    def _on_gpu(self) -> dict[VisibleKeys, VisibleKeys]:
        """Cache of masks on the GPU, so that a mask that several layers share is copied there only once."""
        return {}

    def _visible(self, kind: Kind, layer: int, *, item: int = 0) -> VisibleKeys:
        """Return the keys that each row of a layer may see. Layers that share a mask share the result."""
        return self._visible_keys(self._of_item(kind, layer, item))

    def _as_kept(self, site: Site) -> AttentionCall:
        """Return a site's call as stored: groups of heads that share keys and values may have them only once."""
        return self.calls.as_kept(site) if isinstance(self.calls, GroupedCalls) else self.calls[site]

    def _of_item(self, kind: Kind, layer: int, item: int) -> AttentionCall:
        sentence = self.sentences[self._item(item)]
        call = select_item(self._as_kept(Site(kind, layer)), item, None)
        return cut_to_lengths(call, len(sentence.queries(kind)), len(sentence.keys(kind)))

    def _visible_keys(self, call: AttentionCall) -> VisibleKeys:
        """Return the keys that each row of a call may see. The result is cached for all calls with the same mask."""
        lengths = call.query.shape[2], call.key.shape[2]
        for mask, known in self._masks:
            is_same = mask is call.mask and (known.q_len, known.k_len) == lengths  # the quick answer
            if is_same or visible_keys(call, known) is known:
                return known
        self._masks.append((call.mask, found := visible_keys(call)))
        return found

    @cached_property
    def _masks(self) -> list[tuple[Tensor | None, VisibleKeys]]:
        """Cache of masks that `_visible_keys` has seen, each with the visible keys that were computed from it."""
        return []

    def _maps(self, make, kind: Kind, layer: int | None, head: int | None, item: int) -> Tensor:
        if layer is None:
            maps = [self._maps(make, kind, index, head, item) for index in self._layers(kind)]
            return torch.stack(maps) if len(maps) > 1 else maps[0][None]  # stacking would copy a single layer
        maps = make(self._one_call(kind, layer, head, item))[0].cpu()
        return maps if head is None else maps[0]

    def _one_call(self, kind: Kind, layer: int, head: int | None, item: int) -> AttentionCall:
        """Return the call of one batch item, and of one head if given; both axes stay, with size 1."""
        sentence = self.sentences[self._item(item)]
        layer = validate_index(layer, self.shape(kind)[0], "layer", f"this model has {kind} layers")
        call = self._call_of(Site(kind, layer), item, None if head is None else self._head(kind, head))
        return cut_to_lengths(call, len(sentence.queries(kind)), len(sentence.keys(kind)))

    def _call_of(self, site: Site, item: int | None, head: int | None) -> AttentionCall:
        """Return the recorded call of a site, reduced to one batch item and one head if these are given.

        Keys and values are repeated for the heads that share them, unless only one head is requested.
        """
        return select_item(self.calls[site] if head is None else self._as_kept(site), item, head)

    def _layers(self, kind: Kind) -> range:
        return range(self._counts.get(self._kind(kind), 0))

    @cached_property
    def _counts(self) -> Mapping[Kind, int]:
        """Number of layers for each kind of attention."""
        return Counter(site.kind for site in self.calls)
