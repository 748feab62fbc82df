"""The structure of a model, layer by layer, from which the diagram of the model is drawn.

Unknown values are None or empty, and the diagram leaves them out. Some parts can be read from any trace
(`bare_stacks`, `kind_plans`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch

from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import AttentionCall, Kind, Stack

# Where layer norms are: before a sublayer; after the residual sum; on the sublayer's output before the sum; both before
# the sublayer and on its output.
NormPlace = Literal["", "before", "after", "output", "both"]
KINDS_OF: Mapping[Stack, tuple[Kind, ...]] = {"encoder": ("encoder_self",), "decoder": ("decoder_self", "cross")}


@dataclass(frozen=True)
class FeedForwardPlan:
    """A layer's feed-forward network: a map to `d_ff` features, and one back.

    `is_gated` says whether one half multiplies the other, `experts` is the number of such networks in a layer, and
    `active` the number of experts that each token uses.
    """

    d_ff: int | None = None
    is_gated: bool = False
    experts: int = 0
    active: int = 0


@dataclass(frozen=True)
class LayerPlan:
    """A layer: its number in the stack, and its sites as kind and layer number on the pages.

    `beside` is the class that mixes tokens in addition to attention or in place of it. `is_parallel` says whether
    feed-forward and attention read the same input, `has_own_norms` whether each then has its own norm.
    """

    number: int
    sites: tuple[tuple[Kind, int], ...]
    feed_forward: FeedForwardPlan | None = None
    beside: str = ""
    is_parallel: bool = False
    has_own_norms: bool = False


@dataclass(frozen=True)
class StackPlan:
    """All layers of an encoder or decoder, and where their norms are; `ends_normed` says whether a final norm
    follows.
    """

    stack: Stack
    layers: tuple[LayerPlan, ...]
    norm: NormPlace = ""
    ends_normed: bool = False


@dataclass(frozen=True)
class KindPlan:
    """The heads of one kind of attention, their size, and the number of groups that share keys.

    `sees_ahead` says whether rows see later keys.
    """

    heads: int
    d_k: int | None = None
    groups: int | None = None
    sees_ahead: bool = True


@dataclass(frozen=True)
class Structure:
    """The parts of a model.

    `is_tied` says whether one matrix both embeds tokens and scores them. `ends` is "tokens" if logits predict the next
    token, "masked" if they predict the token at each position, "" if there are no logits.
    """

    stacks: tuple[StackPlan, ...]
    kinds: Mapping[Kind, KindPlan]
    d_model: int | None = None
    vocabulary: int | None = None
    positions: str = ""
    is_tied: bool | None = None
    ends: Literal["", "tokens", "masked"] = ""


def kind_plans(trace: TraceLike) -> dict[Kind, KindPlan]:
    """Return the heads of each kind, with their sizes."""
    return {kind: _kind_plan(trace, kind) for kind in trace.kinds}


def bare_stacks(trace: TraceLike) -> tuple[StackPlan, ...]:
    """Derive the stacks of a model from the maps in a trace; nothing but layer numbers and attention sites is known."""
    stacks: list[StackPlan] = []
    for stack, kinds in KINDS_OF.items():
        here: list[Kind] = [kind for kind in kinds if kind in trace.kinds]
        counts: dict[Kind, int] = {kind: trace.shape(kind)[0] for kind in here}
        layers = tuple(
            LayerPlan(trace.layer_number(here[0], at), tuple((kind, at) for kind in here if at < counts[kind]))
            for at in range(max(counts.values(), default=0))
        )
        stacks += [StackPlan(stack, layers)] if layers else []
    return tuple(stacks)


def key_groups(call: AttentionCall) -> int:
    """Return the number of groups of heads that share keys and values; neighbouring heads in a group have equal
    tensors.
    """
    return 1 + sum(
        not all(torch.equal(part[:, head], part[:, head - 1]) for part in (call.key, call.value))
        for head in range(1, call.key.shape[1])
    )


def _kind_plan(trace: TraceLike, kind: Kind) -> KindPlan:
    mask = trace.layer_mask(kind, 0)
    ahead = bool(mask.triu(mask.shape[-1] - mask.shape[-2] + 1).any()) or mask.shape[-2] == 1
    if trace.weights_only:
        return KindPlan(trace.shape(kind)[1], sees_ahead=ahead)
    call = trace.call(kind, 0)
    if not call.has_queries:
        return KindPlan(call.query.shape[1], sees_ahead=ahead)
    return KindPlan(call.query.shape[1], call.query.shape[3], key_groups(call), ahead)
