"""Methods of reading a word alignment from a model, and their scores of source tokens.

The methods are attention weights; the norms ‖α f(x)‖ of what a head writes (Kobayashi et al. 2020); attribution, the
contribution of a source token to the logit of the output word; and rollout and ALTI, which combine all layers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.attribution import explained_weights
from attnviz.analysis.contributions import alti, rollout
from attnviz.analysis.mixing import mean_residual
from attnviz.analysis.output_maps import OutputMap, output_maps
from attnviz.analysis.projections import NotPlain
from attnviz.analysis.residual import ResidualMaps, residual_maps
from attnviz.heads.alignment.numbers.word_alignment import Reading, attention_scores, attribution_scores
from attnviz.kit.caching import Host
from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Site

READINGS: tuple[Reading, ...] = ("out", "in")
# Methods for one layer or all layers; other methods are for one head or for the whole model.
OF_LAYERS = ("attribution", "mean of heads", "norm of heads' sum")
MEASURED = "rollout, measured residual"
OF_HEADS = ("one head", "norm of one head")
Scores = Float[Tensor, "rows k_len"]


class Aligner(NamedTuple):
    """An alignment method: its quantity, layer and head (None for all), and whether it assigns a row to the row's input
    word or to its output word.
    """

    method: str
    layer: int | None
    head: int | None
    reading: Reading


@dataclass(frozen=True, eq=False)
class KnownMaps:
    """The linear maps of a model: those of its residual stream, and `W_o` of each site.

    An unknown map is replaced by the reason why it is unknown.
    """

    stream: ResidualMaps | NotPlain
    outputs: Mapping[Site, OutputMap | NotPlain]

    @classmethod
    def find(cls, model: Model, trace: Trace) -> "KnownMaps":
        """Find the maps by one or two passes over the trace's first sentence."""
        stream = residual_maps(model, trace)
        return cls(stream, stream.outputs if isinstance(stream, ResidualMaps) else output_maps(model, trace))

    def missing_reason(self, method: str) -> str:
        """Return why a model has no scores by this method, as the end of a sentence; "" if it has them."""
        if method.startswith("norm"):
            whys = (
                found.why for site, found in self.outputs.items() if isinstance(found, NotPlain) and _is_cross(site)
            )
            return next(whys, "")
        if method not in ("attribution", "ALTI", MEASURED):
            return ""
        if isinstance(self.stream, NotPlain):
            return self.stream.why
        has_encoder = method != "attribution" and any(map(_is_cross, self.outputs))
        return (
            ""
            if self.stream.encoder_adds_up or not has_encoder
            else "its encoder's layers normalise what passes through them"
        )


def ways(known: KnownMaps, trace: TraceLike) -> tuple[Aligner, ...]:
    """Return every alignment method that a model with cross-attention supports."""
    layers, heads = trace.shape("cross")
    found: list[Aligner] = []
    if not known.missing_reason("attribution"):  # attribution is to the output token, so there is only one reading
        found = [Aligner("attribution", layer, None, "out") for layer in (*range(layers), None)]
    for method in (*OF_HEADS, *OF_LAYERS[1:], "rollout", MEASURED, "ALTI"):
        if not known.missing_reason(method):
            sites = [(layer, head) for layer in range(layers) for head in range(heads)] if method in OF_HEADS else []
            sites += [(layer, None) for layer in (*range(layers), None)] if method in OF_LAYERS else []
            found += [Aligner(method, *at, reading) for at in sites or [(None, None)] for reading in READINGS]
    return tuple(found)


def scores(way: Aligner, known: KnownMaps, trace: TraceLike, *, item: int = 0) -> Scores:
    """Compute each row's score for each source token by a method. Raise ValueError if the model does not support it."""
    if why := known.missing_reason(way.method):
        raise ValueError(f"This model has no scores by {way.method}: {why}.")
    if way.method == "one head":
        return trace.attn("cross", layer=way.layer, head=way.head, item=item)
    if way.method == "mean of heads":
        return attention_scores(trace, layer=way.layer, item=item)
    if way.method == "rollout":
        return rollout(trace, item=item).source
    assert isinstance(trace, Trace)  # other methods need a full trace
    if way.method.startswith("norm"):
        layers = range(trace.shape("cross")[0]) if way.layer is None else (way.layer,)
        return torch.stack([_norms(known, trace, layer, way.head, item) for layer in layers]).sum(dim=0)
    assert isinstance(known.stream, ResidualMaps)  # checked by `missing_reason`
    if way.method == MEASURED:
        return rollout(trace, residual=mean_residual(known.stream, trace, item=item), item=item).source
    if way.method == "ALTI":
        return alti(known.stream, trace, item=item).source
    return attribution_scores(known.stream, trace, layer=way.layer, item=item)


def all_scores(known: KnownMaps, trace: Trace) -> Iterator[tuple[Aligner, Scores]]:
    """Yield the scores of every method. Methods that share a map share its computation."""
    made: dict[tuple[str, int | None, int | None], Tensor] = {}
    for way in ways(known, trace):
        if way[:3] not in made:
            made[way[:3]] = _sum(made) if way[:2] == ("attribution", None) else scores(way, known, trace)
        yield way, made[way[:3]]


def _sum(made: Mapping[tuple[str, int | None, int | None], Tensor]) -> Tensor:
    """Return the sum of the attribution over all layers."""
    return torch.stack([one for (method, _, _), one in made.items() if method == "attribution"]).sum(dim=0)


def _norms(known: KnownMaps, trace: Trace, layer: int, head: int | None, item: int) -> Tensor:
    """Return ‖α f(x)‖ for each row and source token, for one head or for the sum of the layer's heads."""
    site = Site("cross", layer)
    own = known.outputs[site]
    assert isinstance(own, OutputMap)
    weights = explained_weights(trace, site, item)
    given = trace.call("cross", layer).value[item].cpu().double() @ own.weight.double()
    if head is not None:
        return (weights[head] * given[head].norm(dim=-1)).float()
    return torch.stack([torch.einsum("hj,hjm->jm", row, given).norm(dim=-1) for row in weights.transpose(0, 1)]).float()


def _is_cross(site: Site) -> bool:
    return site.kind == "cross"


def known_maps_of(model: Model | None, trace: TraceLike, host: Host) -> KnownMaps | None:
    """Return the linear maps of the model that made a trace; None without the model, or without a trace of a run."""
    find = host.find_maps or KnownMaps.find
    return find(model, trace) if model is not None and isinstance(trace, Trace) else None
