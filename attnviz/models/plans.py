"""The plan of a model, layer by layer, for a drawing of it; and the part of it that any trace shows.

What cannot be read is None or empty, and the drawing leaves it out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch

from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import AttentionCall, Kind, Stack

# Where layer norms stand: on what goes into a sublayer; on the sum of it and its output; on the output before the sum;
# on what goes in and on the output.
NormPlace = Literal["", "before", "after", "output", "both"]
KINDS_OF: Mapping[Stack, tuple[Kind, ...]] = {"encoder": ("encoder_self",), "decoder": ("decoder_self", "cross")}


@dataclass(frozen=True)
class FeedForwardPlan:
    """A layer's network of two maps: to `d_ff` numbers and back. `is_gated` where one half multiplies the other,
    `experts` how many such networks a layer chooses from, `active` how many of them a token goes through.
    """

    d_ff: int | None = None
    is_gated: bool = False
    experts: int = 0
    active: int = 0


@dataclass(frozen=True)
class LayerPlan:
    """A layer: its number among all of its stack, and the sites in it, as kind and the layer that pages call it.

    `beside` is the class of what mixes tokens beside attention, or in its place. `is_parallel` where feed-forward and
    attention read the same input, `has_own_norms` where each of them norms it by itself.
    """

    number: int
    sites: tuple[tuple[Kind, int], ...]
    feed_forward: FeedForwardPlan | None = None
    beside: str = ""
    is_parallel: bool = False
    has_own_norms: bool = False


@dataclass(frozen=True)
class StackPlan:
    """All layers of an encoder or decoder, and where their norms stand; `ends_normed` where one more comes last."""

    stack: Stack
    layers: tuple[LayerPlan, ...]
    norm: NormPlace = ""
    ends_normed: bool = False


@dataclass(frozen=True)
class KindPlan:
    """Heads of a kind of attention, their size, how many groups share keys; `sees_ahead` where rows see later keys."""

    heads: int
    d_k: int | None = None
    groups: int | None = None
    sees_ahead: bool = True


@dataclass(frozen=True)
class Structure:
    """A model's parts. `is_tied` where one matrix both embeds tokens and scores them; `ends` is "tokens" where logits
    are of the next token, "masked" where they are of each token's own place, "" where there are none.
    """

    stacks: tuple[StackPlan, ...]
    kinds: Mapping[Kind, KindPlan]
    d_model: int | None = None
    vocabulary: int | None = None
    positions: str = ""
    is_tied: bool | None = None
    ends: Literal["", "tokens", "masked"] = ""


def kind_plans(trace: TraceLike) -> dict[Kind, KindPlan]:
    """Return heads and their sizes, of each kind."""
    return {kind: _kind_plan(trace, kind) for kind in trace.kinds}


def bare_stacks(trace: TraceLike) -> tuple[StackPlan, ...]:
    """Plan only the layers that a trace has maps of."""
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
    """Count the heads with keys of their own: neighbours of one group have equal numbers in them."""
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
