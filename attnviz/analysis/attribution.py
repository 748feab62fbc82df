"""Direct logit attribution: one logit as a sum over the embedding, every head, every feed-forward network and
every bias.

The final norm is applied to each component with the scale frozen at the full stream's (Elhage et al. 2021); the biases
of the norm and of the vocabulary map are components of their own. Indirect effects through later layers are not
included, so the effect of ablating a head is a different number.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.residual import ResidualMaps
from attnviz.analysis.runs import HeadPlace, Tell, head_places, measure_runs, rows_of_edits, untold
from attnviz.models.protocol import Model
from attnviz.tracing.causes.making import ablate
from attnviz.tracing.trace import Trace
from attnviz.transformer.device import rounding_unit
from attnviz.transformer.probe import Kind, Site

# Relative difference of contexts that counts as rounding, not as an intervention: in float32, and in steps of a coarser
# type.
_SAME, _STEPS = 1e-4, 8
PartKind = Literal["layers before", "embedding", "head", "head bias", "feed-forward", "norm bias", "vocabulary bias"]


@dataclass(frozen=True)
class LogitPart:
    """One contribution to a logit: the component, its kind, layer and head, and the value that it adds."""

    part: PartKind
    value: float
    kind: Kind | None = None
    layer: int | None = None
    head: int | None = None


@dataclass(frozen=True)
class LogitTarget:
    """The logit of token `id` in row `row`, or its difference from the logit of `against`."""

    row: int
    id: int
    against: int | None = None

    def require(self, trace: Trace) -> Tensor:
        """Return the trace's logits.

        Raise ValueError if the trace has no such row or token, or if patched hidden states make its logits impossible
        to split.
        """
        if trace.logits is None:
            raise ValueError("This trace was recorded without logits. Please record it again with logits=True.")
        if any(each.what == "layer" for each in trace.interventions):
            raise ValueError("Hidden states of this trace were patched, so its layers' output is not a sum of parts.")
        rows, vocab_size = trace.logits.shape[1:]
        if not 0 <= self.row < rows:
            raise ValueError(f"There is no row {self.row}: this trace has rows 0 to {rows - 1}.")
        for id_ in (self.id, *(() if self.against is None else (self.against,))):
            if not 0 <= id_ < vocab_size:
                raise ValueError(f"There is no token {id_}: the vocabulary has {vocab_size}.")
        if self.against == self.id:
            raise ValueError(
                "The logit difference between a token and itself is always 0. Please choose two different tokens."
            )
        return trace.logits

    def select(self, numbers: Tensor) -> Tensor:
        """Return the token's entry along the first dimension, minus the entry of `against` if there is one."""
        return numbers[self.id] if self.against is None else numbers[self.id] - numbers[self.against]


@dataclass(frozen=True, eq=False)
class Attribution:
    """The contributions to one logit, or to the difference of two; they sum to `logit` up to rounding."""

    asked: LogitTarget
    logit: float
    parts: tuple[LogitPart, ...]

    @property
    def total(self) -> float:
        """The sum of the contributions."""
        return sum(part.value for part in self.parts)


def attribution(maps: ResidualMaps, trace: Trace, asked: LogitTarget, *, item: int = 0) -> Attribution:
    """Split a logit into contributions.

    `trace` needs hidden states and logits, and must come from the model of `maps`. Raise ValueError for a row or a
    token that the trace does not have.
    """
    logits, toward, row = asked.require(trace)[item], asked.select(maps.weight), asked.row
    stream = [trace.layer_output(maps.stack, layer, item)[row].double() for layer in _layers(maps, trace)]

    def worth(parts: Tensor) -> list[float]:
        return (maps.norm.direction(parts, stream[-1]) @ toward).flatten().tolist()

    parts = [LogitPart("embedding", worth(stream[0])[0])]
    for layer, (before, after) in enumerate(pairwise(stream)):
        rest = after - before
        for kind in _kinds(maps, trace):
            heads, bias = (
                _head_contributions(maps, trace, Site(kind, layer), row, item),
                maps.output(kind, layer).bias.double(),
            )
            rest = rest - heads.sum(dim=0) - bias
            parts += [LogitPart("head", value, kind, layer, head) for head, value in enumerate(worth(heads))]
            parts.append(LogitPart("head bias", worth(bias)[0], kind, layer))
        parts.append(LogitPart("feed-forward", worth(rest)[0], layer=layer))
    parts.append(LogitPart("norm bias", float(maps.norm.bias @ toward)))
    parts.append(LogitPart("vocabulary bias", float(asked.select(maps.bias))))
    return Attribution(asked, float(asked.select(logits[row].double())), tuple(parts))


def key_attribution(
    maps: ResidualMaps, trace: Trace, asked: LogitTarget, site: Site, *, item: int = 0
) -> Float[Tensor, "heads k_len"]:
    """Split the contributions of a site's heads over keys: what each head adds through each token, α_j v_j W_o^h.

    For cross-attention the keys are source tokens. The values of a head sum to its contribution, except where an
    intervention replaced its context. A sink has no value vector and adds nothing.
    """
    asked.require(trace)
    whole = trace.layer_output(maps.stack, _layers(maps, trace)[-1], item)[asked.row].double()
    weights = explained_weights(trace, site, item)[:, asked.row]
    value = trace.call(site.kind, site.layer).value[item].cpu().double()
    given = weights.unsqueeze(-1) * (value @ maps.output(site.kind, site.layer).weight.double())
    return (maps.norm.direction(given, whole) @ asked.select(maps.weight)).float()


def explained_weights(trace: Trace, site: Site, item: int = 0) -> Float[Tensor, "heads q_len k_len"]:
    """Return a site's weights in float64, with zeros in rows whose context an intervention replaced."""
    weights = trace.attn(site.kind, layer=site.layer, item=item).double()
    if not trace.interventions:
        return weights
    gathered = weights @ trace.call(site.kind, site.layer).value[item].cpu().double()
    context = trace.context(site.kind, site.layer, item).double()
    apart = (gathered - context).abs().amax(dim=-1, keepdim=True)
    dtype = trace.call(site.kind, site.layer).value.dtype
    share = max(_SAME, _STEPS * rounding_unit(dtype, trace.info.device))
    return weights.where(apart <= share * (1 + gathered.abs().amax()), 0.0)


def _layers(maps: ResidualMaps, trace: Trace) -> list[int]:
    return sorted(layer for stack, layer in trace.layers if stack == maps.stack)


def _kinds(maps: ResidualMaps, trace: Trace) -> list[Kind]:
    return [kind for kind in trace.kinds if (kind == "encoder_self") == (maps.stack == "encoder")]


def _head_contributions(maps: ResidualMaps, trace: Trace, site: Site, row: int, item: int) -> Tensor:
    """Return what each head adds to the residual stream in a row, `(heads, d_model)`."""
    context = trace.context(site.kind, site.layer, item)[:, row].double()
    return torch.einsum("hd,hdm->hm", context, maps.output(site.kind, site.layer).weight.double())


def drops(model: Model, trace: Trace, asked: LogitTarget, *, tell: Tell = untold) -> dict[HeadPlace, float]:
    """Compute, for every head, the logit (or logit difference) minus its value when the head's context is zero.

    Compare with what the head adds directly. The two differ, because later layers also read a head's output, and other
    heads may compensate for an ablated one. `tell` is called as in `measure_runs`. Raise ValueError for a row or a
    token that the trace does not have.
    """
    logits = asked.require(trace)

    def measure(found: Tensor) -> Tensor:
        return asked.select(found[:, 0].T).cpu()

    places = head_places(model)
    edits = rows_of_edits(model, trace, (ablate(kind, layer=layer, heads=[head]) for kind, layer, head in places))
    without = measure_runs(model, trace, edits, measure, rows=[asked.row], tell=tell)
    own = asked.select(logits[0, asked.row].float()).cpu()
    return dict(zip(places, torch.sub(own, without).tolist(), strict=True))
