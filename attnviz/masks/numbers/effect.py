"""Effect of a mask on a run: how much every map changes. `rerun` computes the texts and `both_ways` the next tokens."""

from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.maps.blocks import ShownMaps
from attnviz.models.protocol import Model
from attnviz.tracing.interventions import MaskOverride
from attnviz.tracing.trace import Trace
from attnviz.transformer.device import is_out_of_memory
from attnviz.transformer.probe import Kind


@dataclass(frozen=True)
class Refused:
    """The first line of torch's error message when it refused to run the model with the mask."""

    error: str


@dataclass(frozen=True, eq=False)
class Effect:
    """Two runs on the same tokens, without and with the mask, and the probe that applied the mask."""

    before: Trace
    after: Trace
    probe: MaskOverride

    def attn(self, kind: Kind, item: int = 0) -> Float[Tensor, "layers heads q_len k_len"]:
        """Return the attention weights of the run with the mask, as computed with its fill."""
        return self.after.attn(kind, item=item)


def effect(model: Model, trace: Trace, probe: MaskOverride) -> Effect | Refused:
    """Run `trace` again with `probe` attached."""
    try:
        return Effect(trace, model.rerun(trace, probe.start_at(0)), probe)
    except RuntimeError as refusal:
        if is_out_of_memory(refusal):
            raise
        return Refused(str(refusal).strip().splitlines()[0])


def distances(effect: Effect, item: int = 0) -> pd.DataFrame:
    """Return a table of how much every head's map changed: columns kind, layer, head, moved, largest.

    `moved` is the mean over rows of the total variation distance (half the summed |Δ|), 0 to 1: the share of a row's
    attention that moved to other keys. `largest` is the maximum |Δ| of any weight. Both are NaN if the new map has NaN.
    """
    tables = [_head_distances(effect, kind, item) for kind in effect.before.kinds]
    return pd.concat(tables, ignore_index=True)


def step_that_changed_most(effect: Effect, item: int = 0) -> int:
    """Return the decoder row whose next-token distribution changed most in total variation."""
    before, after = (_logits(way)[item].float().softmax(dim=-1) for way in (effect.before, effect.after))
    distance = (before - after).abs().sum(dim=-1)
    return int(distance.nan_to_num(nan=3.0).argmax())


def nan_positions(trace: Trace, item: int = 0) -> pd.DataFrame:
    """Count positions with NaN in a table: stack, layer (-1 is the embedding), NaN positions, positions."""
    counts = [(stack, layer, out[item].isnan().any(dim=-1)) for (stack, layer), out in trace.layers.items()]
    return pd.DataFrame(
        [
            {"stack": stack, "layer": layer, "NaN positions": int(nan.sum()), "positions": len(nan)}
            for stack, layer, nan in counts
        ]
    )


def _head_distances(effect: Effect, kind: Kind, item: int) -> pd.DataFrame:
    both = [ShownMaps.of_trace(trace, kind, item=item) for trace in (effect.before, effect.after)]
    layers, heads, rows, _ = both[0].shape
    moved, largest = torch.zeros(layers, heads), torch.zeros(layers, heads)
    for at in range(layers):
        for (_, before), (_, after) in zip(*(shown.stripes(at) for shown in both), strict=True):
            change = (before - after).abs_()
            moved[at] += change.sum(dim=(-1, -2)) / (2 * rows)
            largest[at] = torch.maximum(largest[at], change.amax(dim=(-1, -2)))
    layer, head = torch.meshgrid(torch.arange(layers), torch.arange(heads), indexing="ij")
    return pd.DataFrame(
        {
            "kind": kind,
            "layer": layer.flatten().numpy(),
            "head": head.flatten().numpy(),
            "moved": moved.flatten().numpy(),
            "largest": largest.flatten().numpy(),
        }
    )


def _logits(trace: Trace) -> Tensor:
    if trace.logits is None:
        raise ValueError("This trace was recorded without logits, so there are no next tokens to show.")
    return trace.logits
