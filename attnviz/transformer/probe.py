"""How somebody looks into a forward pass, or changes it: a probe is passed down with the call.

The model holds no hooks and no state of a run, so that one loaded model serves many visitors at once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from torch import Tensor

Kind = Literal["encoder_self", "decoder_self", "cross"]
Stack = Literal["encoder", "decoder"]


@dataclass(frozen=True, order=True)
class Site:
    """One place where attention is computed: its kind, and its layer counted from 0."""

    kind: Kind
    layer: int


@dataclass(frozen=True)
class AttentionCall:
    """Everything that one attention computation depends on.

    query `(batch, heads, q_len, d_k)`; key and value `(batch, heads, k_len, d_k)`; mask bool, True = may
    attend, and bias float, both broadcastable to `(batch, heads, q_len, k_len)`; scores are
    `scale * query @ key^T + bias`. `input_` `(batch, q_len, d_model)` and `memory` `(batch, k_len, d_model)`
    are what query and key were projected from (with a cache: only the part projected in this call).
    """

    query: Tensor
    key: Tensor
    value: Tensor
    scale: float
    mask: Tensor | None = None
    bias: Tensor | None = None
    input_: Tensor | None = None
    memory: Tensor | None = None


@runtime_checkable
class Probe(Protocol):
    """What a forward pass tells, and asks, whoever looks on. Implementations live in `attnviz.tracing`."""

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        """Before attention: return the call, or a changed copy of it."""
        ...

    def edit_attn(self, site: Site) -> Callable[[Tensor], Tensor] | None:
        """A function that changes the weights, or None to leave them to the fused kernel."""
        ...

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        """After attention, before heads are merged: `(batch, heads, q_len, d_k)`, returned or changed."""
        ...

    def on_layer(self, stack: Stack, layer: int, output: Tensor) -> Tensor:
        """After a whole layer: `(batch, length, d_model)`, returned or changed. Layer -1 is the embedding."""
        ...
