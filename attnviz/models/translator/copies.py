"""Copies of one sentence, each changed in a place of its own: what they have in common is computed once.

A copy is the plain run up to the layer in which it is first changed, and joins the batch there. Of every head ablated
by itself, a third of all layers need not be run again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from attnviz.tracing.causes.edits import Edits
from attnviz.transformer import masks
from attnviz.transformer.cache import KVCache, LayerCache
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.probe import Probe, Stack
from attnviz.transformer.transformer import Transformer

RunLayer = Callable[[int, Tensor, list[int], ForwardContext], Tensor]


def memory_of(model: Transformer, src: Tensor, src_mask: Tensor | None, probe: Probe | None) -> Tensor:
    """The memory `(batch, k_len, d_model)` of a batch of sources; copies of one that no edit changes are read once."""
    if (
        isinstance(probe, Edits)
        and len(probe.rows) == len(src) > 1
        and src_mask is None
        and bool((src == src[:1]).all())
    ):
        return memories(model, src[:1], probe)
    return model.encode(src, src_mask, ForwardContext(probe))


def memories(model: Transformer, src: Tensor, edits: Edits) -> Tensor:
    """The memory `(copies, k_len, d_model)` of each copy of a source `(1, k_len)`, a row of edits each."""
    layers = model.encoder.layers

    def run_layer(layer: int, x: Tensor, copies: list[int], run: ForwardContext) -> Tensor:
        return layers[layer](x, None, run)

    begins = [edits.begins(row, "encoder") for row in range(len(edits.rows))]
    joining = _Joining("encoder", edits, begins, model.embedding(src))
    return joining.through(len(layers), run_layer).of_all(model.encoder.norm)


def hidden_states(model: Transformer, src: Tensor, tgt_in: Tensor, edits: Edits, *, last_only: bool = False) -> Tensor:
    """The decoder's hidden states `(copies, q_len, d_model)` of copies of a source and a target, `(1, length)` each.

    With `last_only` those of the last position, `(copies, 1, d_model)`: the last layer computes no others.
    """
    layers, q_len = model.decoder.layers, tgt_in.shape[1]
    mask = None if q_len == 1 else masks.causal(q_len, device=tgt_in.device)
    others = [row for row in range(len(edits.rows)) if edits.begins(row, "encoder") is not None]
    memory = memories(model, src, Edits(((), *(edits.rows[row] for row in others))))
    place = {row: 1 + nth for nth, row in enumerate(others)}  # in `memory`, after the plain one

    def run_layer(layer: int, x: Tensor, copies: list[int], run: ForwardContext) -> Tensor:
        read = memory[[0, *(place.get(row, 0) for row in copies)]]
        if last_only and layer == len(layers) - 1:
            return layers[layer](x[:, -1:], read, None, None, replace(run, cache=_keys_before(layers[layer], x)))
        return layers[layer](x, read, mask, None, run)

    begins = [edits.begins(row, "decoder") for row in range(len(edits.rows))]
    for row in others:  # another memory is read in the first layer
        begins[row] = min(begins[row] or 0.0, 0.0)
    joining = _Joining("decoder", edits, begins, model.embedding(tgt_in), ends_at=q_len - 1 if last_only else 0)
    return joining.through(len(layers), run_layer).of_all(model.decoder.norm)


@dataclass
class _Joining:
    """A stack's run: the plain copy first, then those that have joined. `begins` says where each does; None: nowhere.

    `ends_at` is the position that the last layer begins with. It belongs to one run.
    """

    stack: Stack
    edits: Edits
    begins: list[float | None]
    x: Tensor
    joined: list[int] = field(default_factory=list)
    ends_at: int = 0

    def through(self, n_layers: int, run_layer: RunLayer) -> "_Joining":
        """Run all layers; -1 is the embedding."""
        for layer in range(-1, n_layers):
            start = self.ends_at if layer == n_layers - 1 else 0
            if layer >= 0:
                self._join(layer)
                self.x = run_layer(layer, self.x, self.joined, ForwardContext(self._probe(start)))
            self._join(layer + 0.5)
            if (probe := self._probe(start)) is not None:
                self.x = probe.on_layer(self.stack, layer, self.x)
        return self

    def of_all(self, finish: Callable[[Tensor], Tensor]) -> Tensor:
        """What `finish` makes of every copy's run; those that never joined are the plain one."""
        place = {row: 1 + nth for nth, row in enumerate(self.joined)}
        rows = [place.get(row, 0) for row in range(len(self.begins))]
        return finish(self.x)[rows]

    def _join(self, begin: float) -> None:
        new = [row for row, at in enumerate(self.begins) if at == begin]
        if new:
            self.x = torch.cat((self.x, self.x[:1].expand(len(new), -1, -1)))
            self.joined = [*self.joined, *new]

    def _probe(self, start: int) -> Probe | None:
        return Edits(((), *(self.edits.rows[row] for row in self.joined)), start) if self.joined else None


def _keys_before(layer: Any, x: Tensor) -> KVCache:
    """A decoder layer's cache with what the last position of `x` `(copies, q_len, d_model)` sees of those before."""
    sublayer, own = layer.self_attention_sublayer, LayerCache(x.shape[1])
    if x.shape[1] > 1:
        before = sublayer.norm(x[:, :-1]) if sublayer.norm_first else x[:, :-1]
        layer.self_attention.project_memory(before, own)
    return KVCache([own] * (layer.layer + 1), [LayerCache()] * (layer.layer + 1))
