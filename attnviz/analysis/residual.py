"""Linear maps of the residual stream, by which a model's logits can be split into a sum, found by observing one pass.

In a pre-norm decoder, each layer adds its heads' outputs through `W_o` and its feed-forward output to the stream, and a
final norm and a linear map turn the stream into logits. Nothing is looked up by name: the changes of the stream are
compared with the outputs of linear maps, and the logits with the final norm and map. If something does not add up
(post-norm layers, capped scores), the reason is returned instead: such logits have no exact split over layers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.output_maps import (
    ROUNDING,
    HeardProduct,
    OutputMap,
    ProductWatch,
    allowed_share,
    output_maps,
)
from attnviz.analysis.projections import NotPlain, is_same
from attnviz.models.protocol import Model
from attnviz.tracing.interventions import Chain
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind, Probe, Site, Stack

_EPSILONS = (1e-5, 1e-6, 1e-12, 0.0, 1e-8)  # usual values in norms, the most common first


@dataclass(frozen=True, eq=False)
class LastNorm:
    """The final norm: `(x − mean x) / sqrt(var x + eps) * gain + bias`, or RMSNorm, which does not centre.

    `gain` and `bias` are `(d_model,)`, float64.
    """

    gain: Tensor
    bias: Tensor
    eps: float
    is_centred: bool

    def direction(self, parts: Float[Tensor, "*parts d_model"], whole: Float[Tensor, " d_model"]) -> Tensor:
        """Apply the final norm to components of the residual stream, with the scale frozen at that of the full
        stream `whole`.
        """
        scale = self._centre(whole).square().mean().add(self.eps).sqrt()
        return self._centre(parts) / scale * self.gain

    def _centre(self, x: Tensor) -> Tensor:
        return x - x.mean(dim=-1, keepdim=True) if self.is_centred else x


@dataclass(frozen=True, eq=False)
class ResidualMaps:
    """The linear maps of a model's residual stream, in float64 on the CPU.

    They are `W_o` of each site, the final norm, and the map to the vocabulary, weight `(vocab_size, d_model)` and bias
    `(vocab_size,)`. `encoder_adds_up` is True if the model also has an encoder whose layers only add to their stream.
    """

    stack: Stack
    outputs: Mapping[Site, OutputMap]
    norm: LastNorm
    weight: Tensor
    bias: Tensor
    encoder_adds_up: bool = False

    def output(self, kind: Kind, layer: int) -> OutputMap:
        """Return the output map `W_o` of a site."""
        return self.outputs[Site(kind, layer)]


def residual_maps(model: Model, trace: Trace) -> ResidualMaps | NotPlain:
    """Find the maps whose outputs sum to the logits, or say why the logits are no such sum.

    The maps are found and checked in one pass over the first sentence of `trace`.
    """
    plain = replace(trace, sentences=trace.sentences[:1], interventions=())
    stack: Stack = "decoder" if "decoder_self" in model.kinds else "encoder"
    watch, beside = _StreamWatch(stack), _StreamWatch("encoder")

    def hear(one: HeardProduct) -> None:
        watch.hear(one)
        beside.hear(one)

    with torch.inference_mode(), ProductWatch(hear):
        again = model.rerun(plain, Chain((watch, beside)))
    if again.logits is None:
        return NotPlain("it has no output over a vocabulary")
    if watch.layers and any(kind in again.numbers for kind in again.kinds):
        return NotPlain("some of its layers have no attention, and the parts that they add are not known")
    maps = output_maps(model, plain)
    if why := next((found for found in maps.values() if isinstance(found, NotPlain)), None):
        return why
    outputs = {site: found for site, found in maps.items() if isinstance(found, OutputMap)}
    if not watch.adds_up(outputs):
        return NotPlain(
            "its layers do more than add to the residual stream (they normalise or scale the sum, or the part "
            "that they add), so its logits have no exact split over layers"
        )
    found = _find_end(stack, outputs, watch, again)
    both = stack == "decoder" and "encoder_self" in model.kinds and beside.adds_up(outputs)
    return replace(found, encoder_adds_up=both) if isinstance(found, ResidualMaps) else found


def _find_end(
    stack: Stack, outputs: Mapping[Site, OutputMap], watch: "_StreamWatch", again: Trace
) -> ResidualMaps | NotPlain:
    """Find the norm and the linear map between the end of the stream and the logits.

    A classifier of images may read the logits from the first token alone, which is [CLS].
    """
    logits = again.logits
    assert logits is not None  # the caller has checked
    head = next((one for one in reversed(watch.after) if _is_near(one.made, logits)), None)
    if head is None:
        return NotPlain("its logits are not a linear map of the last hidden states")
    stream = watch.layers[-1].cpu().double().flatten(0, 1)
    read = head.input_
    if logits.shape[1] < len(stream):
        if again.memory is None or not is_same(read.cpu(), again.memory[:, 0]):
            return NotPlain("its labels are not read from one token, so no token's stream ends in them")
        read = again.memory
    normed = read.cpu().double().reshape(len(stream), -1)
    norm = _norm_between(stream, normed)
    if norm is None and head.made.dtype is not torch.float32:
        return NotPlain(hidden_by_rounding(head.made.dtype))
    if norm is None:
        return NotPlain("the step between its last layer and its logits is not a norm that can be split")
    weight = head.weight.cpu().double()
    bias = weight.new_zeros(len(weight)) if head.bias is None else head.bias.cpu().double()
    return ResidualMaps(stack, outputs, norm, weight, bias)


def hidden_by_rounding(dtype: torch.dtype) -> str:
    """Return the second half of a sentence: that this dtype rounds too coarsely to find the parts of a logit."""
    return (
        f"it runs in {str(dtype).removeprefix('torch.')}, which rounds so much that the parts do not sum "
        "to the logits; please load it in float32"
    )


def _norm_between(stream: Tensor, normed: Tensor) -> LastNorm | None:
    """Fit the norm that turns `stream` into `normed`, both `(positions, d_model)`, separately for each dimension."""
    if stream.shape != normed.shape or len(stream) < 3:
        return None
    found: list[tuple[float, LastNorm]] = []
    for is_centred in (True, False):
        for eps in _EPSILONS:
            made = LastNorm(torch.ones(1), torch.zeros(1), eps, is_centred)
            x = torch.stack([made.direction(row, row) for row in stream])
            gain, bias = _line(x, normed) if is_centred else ((x * normed).sum(0) / x.square().sum(0), x.new_zeros(1))
            apart = float((x * gain + bias - normed).abs().max())
            found.append((apart, LastNorm(gain, bias.expand_as(gain), eps, is_centred)))
    nearest = min(apart for apart, _ in found)
    allowed = ROUNDING * torch.finfo(torch.float32).eps * max(1.0, float(normed.abs().max()))
    if not nearest <= allowed:
        return None
    return next(norm for apart, norm in found if apart <= 2 * nearest)  # small values of eps are equal up to rounding


def _line(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return slope and intercept of y on x in each column, by least squares."""
    across, along = x - x.mean(dim=0), y - y.mean(dim=0)
    slope = (across * along).sum(dim=0) / across.square().sum(dim=0)
    return slope, y.mean(dim=0) - slope * x.mean(dim=0)


@dataclass
class _StreamWatch(Probe):
    """Probe that records the residual stream of one stack, and the linear maps in each of its layers.

    Use it for one run only.
    """

    stack: Stack
    layers: list[Tensor] = field(default_factory=list)  # outputs of the layers, the embedding first
    made: list[list[Tensor]] = field(default_factory=list)  # outputs of linear maps in each layer
    after: list[HeardProduct] = field(default_factory=list)  # linear maps after the last layer

    def hear(self, one: HeardProduct) -> None:
        """Record a linear module that was called, with its input and output."""
        self.after.append(one)

    def on_layer(self, stack: Stack, layer: int, output: Tensor) -> Tensor:
        """Record a layer's output, and the linear maps computed in the layer."""
        if stack == self.stack:
            self.layers.append(output)
            self.made.append([one.made for one in self.after])
            self.after = []
        return output

    def adds_up(self, outputs: Mapping[Site, OutputMap]) -> bool:
        """Return whether each layer adds only its heads' outputs and the output of one linear map."""
        for layer, (before, after) in enumerate(pairwise(self.layers)):
            heads = [found.output for site, found in outputs.items() if site.layer == layer and self._is_own(site)]
            rest = (after - before).float().cpu() - sum(heads)
            if not any(_is_near(made, rest) for made in self.made[layer + 1]):
                return False
        return True

    def _is_own(self, site: Site) -> bool:
        return (site.kind == "encoder_self") == (self.stack == "encoder")


def _is_near(made: Tensor, wanted: Tensor) -> bool:
    """Return whether a linear map's output equals these values up to rounding."""
    if made.numel() != wanted.numel() or made.shape[-1] != wanted.shape[-1]:
        return False
    wanted = wanted.float().cpu()
    allowed = allowed_share(made.dtype, made.device.type) * max(1.0, float(wanted.abs().max()))
    return bool(((made.float().cpu().reshape(wanted.shape) - wanted).abs() <= allowed).all())
