"""One logit as a sum over the components of the last layer, for post-norm models.

Each sublayer adds its output to its input, and a norm follows. With the scales of the norms frozen, everything after
the last layer's input is linear. The logit is then the sum of the contributions of the layer's heads, its feed-forward
network, its biases, and the layers before as one term, which has no exact split (Kobayashi et al. 2021 freeze norms in
the same way). Norms and linear maps are recorded during a pass, and used only if they reproduce the model's numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor
from torch.overrides import TorchFunctionMode

from attnviz.analysis.attribution import (
    Attribution,
    LogitPart,
    LogitTarget,
    attribution,
    explained_weights,
    key_attribution,
)
from attnviz.analysis.output_maps import (
    ROUNDING,
    HeardProduct,
    OutputMap,
    ProductWatch,
    allowed_share,
    output_maps,
)
from attnviz.analysis.projections import NotPlain
from attnviz.analysis.residual import LastNorm, ResidualMaps, hidden_by_rounding, residual_maps
from attnviz.models.protocol import Model
from attnviz.tracing.interventions import Chain
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind, Probe, Site, Stack


@dataclass(frozen=True, eq=False)
class NormedSum:
    """The sum of a sublayer's input and output, and the norm that follows.

    `whole` `(rows, d_model)` is the sum, which goes into the norm; float64. `site` is None for the feed-forward
    network.
    """

    site: Site | None
    whole: Tensor
    norm: LastNorm
    output: OutputMap | None = None


@dataclass(frozen=True, eq=False)
class LastLayer:
    """The last layer of the stack that outputs tokens, recorded in one run.

    It has the layer's input, its sublayers in order, and the map to the vocabulary: weight `(vocab_size, d_model)` and
    bias `(vocab_size,)`.
    """

    before: Tensor
    sublayers: tuple[NormedSum, ...]
    weight: Tensor
    bias: Tensor

    def attribution(self, trace: Trace, asked: LogitTarget) -> Attribution:
        """Split a logit of the run into contributions. Raise ValueError if the run has no such row or token."""
        logits, row = asked.require(trace)[0], asked.row
        parts = [LogitPart("layers before", self._worth(self.before[row], 0, asked)[0])]
        for nth, one in enumerate(self.sublayers):
            if one.site is None or one.output is None:
                before = self._sublayer_input(nth, row)
                parts.append(LogitPart("feed-forward", self._worth(one.whole[row] - before, nth, asked)[0],
                                       layer=self.layer))  # fmt: skip
            else:
                parts += self._site_parts(trace, one, nth, asked)
            last = nth == len(self.sublayers) - 1
            bias = float(self._propagate(one.norm.bias, nth + 1, row) @ asked.select(self.weight))
            kind = None if one.site is None else one.site.kind
            parts.append(LogitPart("norm bias", bias, None if last else kind, None if last else self.layer))
        parts.append(LogitPart("vocabulary bias", float(asked.select(self.bias))))
        return Attribution(asked, float(asked.select(logits[row].double())), tuple(parts))

    def key_attribution(self, trace: Trace, asked: LogitTarget, site: Site) -> Float[Tensor, "heads k_len"]:
        """Split the contributions of the heads at a site of this layer over the tokens they attend to.

        The result has the form of `attribution.key_attribution`.
        """
        nth = next(at for at, one in enumerate(self.sublayers) if one.site == site)
        output = self.sublayers[nth].output
        assert output is not None  # attention sublayers have an output map
        weights = explained_weights(trace, site)[:, asked.row]
        value = trace.call(site.kind, site.layer).value[0].cpu().double()
        given = weights.unsqueeze(-1) * (value @ output.weight.double())
        return (self._propagate(given, nth, asked.row) @ asked.select(self.weight)).float()

    @property
    def layer(self) -> int:
        """The index of the layer."""
        return next(one.site.layer for one in self.sublayers if one.site is not None)

    def _site_parts(self, trace: Trace, one: NormedSum, nth: int, asked: LogitTarget) -> list[LogitPart]:
        assert one.site is not None and one.output is not None  # noqa: PT018 - the caller asked
        site, output = one.site, one.output
        context = trace.context(site.kind, site.layer)[:, asked.row].double()
        heads = torch.einsum("hd,hdm->hm", context, output.weight.double())
        values = self._worth(heads, nth, asked)
        parts = [LogitPart("head", value, site.kind, site.layer, head) for head, value in enumerate(values)]
        bias = self._worth(output.bias.double(), nth, asked)[0]
        return [*parts, LogitPart("head bias", bias, site.kind, site.layer)]

    def _sublayer_input(self, nth: int, row: int) -> Tensor:
        """Return one row of the input of sublayer `nth`."""
        if nth == 0:
            return self.before[row]
        one = self.sublayers[nth - 1]
        return one.norm.direction(one.whole[row], one.whole[row]) + one.norm.bias

    def _propagate(self, parts: Tensor, nth: int, row: int) -> Tensor:
        """Apply the norms from sublayer `nth` to the last norm to `parts`, with the scales frozen."""
        for one in self.sublayers[nth:]:
            parts = one.norm.direction(parts, one.whole[row])
        return parts

    def _worth(self, parts: Tensor, nth: int, asked: LogitTarget) -> list[float]:
        return (self._propagate(parts, nth, asked.row) @ asked.select(self.weight)).flatten().tolist()


def last_layer(model: Model, trace: Trace) -> LastLayer | NotPlain:
    """Record the last layer in another pass over the first sentence of `trace`, or say why it has no exact sum."""
    alone = replace(trace, sentences=trace.sentences[:1])
    stack: Stack = "decoder" if "decoder_self" in model.kinds else "encoder"
    watch = _EndWatch(stack)
    with torch.inference_mode(), _NormWatch(watch.norms), ProductWatch(watch.products.append):
        again = model.rerun(alone, Chain((watch,)))
    if again.logits is None:
        return NotPlain("it has no output over a vocabulary")
    outputs = output_maps(model, replace(alone, interventions=()))
    kinds: list[Kind] = [kind for kind in again.kinds if (kind == "encoder_self") == (stack == "encoder")]
    sites = [Site(kind, again.shape(kind)[0] - 1) for kind in kinds]
    found = [outputs[site] for site in sites]
    if why := next((one for one in found if isinstance(one, NotPlain)), None):
        return why
    norms = watch.norms[watch.began : watch.ended]
    if len(norms) != len(sites) + 1 or not all(one.is_usable for one in norms):
        return NotPlain("its last layer does not end each of its sums in a norm that can be split")
    head = _head(watch.products[watch.products_ended :], norms[-1].made, again.logits)
    if head is None:
        return NotPlain("its logits are not a linear map of its last layer's output")
    before = _rows(watch.before)
    sublayers = tuple(
        NormedSum(site, _rows(one.input_), one.norm, output if isinstance(output, OutputMap) else None)
        for site, one, output in zip((*sites, None), norms, (*found, None), strict=True)
    )
    last = LastLayer(before, sublayers, head[0], head[1])
    if _adds_up(last, again, allowed_share(torch.float32, model.device.type)):
        return last
    is_rounded = again.logits.dtype is not torch.float32
    return NotPlain(
        hidden_by_rounding(again.logits.dtype) if is_rounded else "the parts that its last layer adds are not known"
    )


def _adds_up(last: LastLayer, trace: Trace, share: float) -> bool:
    """Check that the input of each norm equals the residual stream plus the heads' output.

    `share` is the relative tolerance.
    """
    before = last.before
    for nth, one in enumerate(last.sublayers):
        if one.site is not None and one.output is not None:
            context = trace.context(one.site.kind, one.site.layer)
            made = one.output.head_outputs(context).sum(dim=0).double() + one.output.bias.double()
            if not _is_near(before + made, one.whole, share=share):
                return False
        before = torch.stack([last._sublayer_input(nth + 1, row) for row in range(len(one.whole))])
    return True


def _head(products: Sequence[HeardProduct], stream: Tensor, logits: Tensor) -> tuple[Tensor, Tensor] | None:
    """Find the linear map from the stream to the logits, and its bias, which must be the same in every row."""
    for one in reversed(products):
        if one.input_.shape != stream.shape or one.made.shape != logits.shape or not torch.equal(one.input_, stream):
            continue
        beside = (logits - one.made.cpu())[0].double()
        if _is_near(beside, beside[:1].expand_as(beside), float(logits.abs().max())):
            own = 0.0 if one.bias is None else one.bias.cpu().double()
            return one.weight.cpu().double(), beside[0] + own
    return None


def _is_near(
    one: Tensor, other: Tensor, size: float = 1.0, *, share: float = ROUNDING * torch.finfo(torch.float32).eps
) -> bool:
    allowed = share * max(1.0, size, float(other.abs().max()))
    return bool(((one - other).abs() <= allowed).all())


def _rows(numbers: Tensor | None) -> Tensor:
    assert numbers is not None  # the stack has a layer
    return numbers.detach()[0].cpu().double()


@dataclass(frozen=True, eq=False)
class _HeardNorm:
    """A layer norm that was recorded: its input, output and parameters."""

    input_: Tensor
    made: Tensor
    gain: Tensor | None
    bias: Tensor | None
    eps: float

    @property
    def is_usable(self) -> bool:
        return self.gain is not None and self.input_.dim() == 3

    @property
    def norm(self) -> LastNorm:
        assert self.gain is not None  # checked by `is_usable`
        gain = self.gain.cpu().double()
        bias = gain.new_zeros(len(gain)) if self.bias is None else self.bias.cpu().double()
        return LastNorm(gain, bias, self.eps, is_centred=True)


class _NormWatch(TorchFunctionMode):
    """Record the layer norms that this thread computes."""

    def __init__(self, heard: list[_HeardNorm]) -> None:
        super().__init__()
        self.heard = heard

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        """Call the function, and record the call if it is a layer norm."""
        result = func(*args, **(kwargs or {}))
        if func is F.layer_norm:
            given = dict(zip(("input", "normalized_shape", "weight", "bias", "eps"), args, strict=False))
            given |= kwargs or {}
            given |= {name: part.detach() for name, part in given.items() if isinstance(part, Tensor)}
            self.heard.append(
                _HeardNorm(given["input"], result, given.get("weight"), given.get("bias"), given.get("eps", 1e-5))
            )
        return result


@dataclass
class _EndWatch(Probe):
    """Probe that finds the norms and linear maps of the last layer, and the layer's input. Use it for one run only."""

    stack: Stack
    norms: list[_HeardNorm] = field(default_factory=list)
    products: list[HeardProduct] = field(default_factory=list)
    before: Tensor | None = None
    began: int = 0
    ended: int = 0
    products_ended: int = 0
    _output: Tensor | None = None

    def on_layer(self, stack: Stack, layer: int, output: Tensor) -> Tensor:
        """Keep the output of the second-to-last layer in `before`."""
        if stack == self.stack:
            self.before, self._output = self._output, output
            self.began, self.ended = self.ended, len(self.norms)
            self.products_ended = len(self.products)
        return output


@dataclass(frozen=True, eq=False)
class Explained:
    """The contributions to a logit, and those of each site's heads split by attended token, `(heads, k_len)`."""

    bars: Attribution
    opened: Mapping[Site, Float[Tensor, "heads k_len"]]


@dataclass(frozen=True, eq=False)
class SplitModel:
    """The linear maps by which a run's logits are split.

    `why_last` says why the split covers only the last layer; "" if it covers all layers.
    """

    maps: ResidualMaps | LastLayer
    why_last: str = ""

    @classmethod
    def find(cls, model: Model, trace: Trace) -> "SplitModel":
        """Find the linear maps by which the logits of a run's model can be split.

        Raise ValueError if its logits cannot be written as a sum.
        """
        found = residual_maps(model, trace)
        if isinstance(found, ResidualMaps):
            return cls(found)
        # The scores of an image's labels are read from one token or several, so the last layer's rows have none.
        last = NotPlain(found.why) if trace.sentences[0].images else last_layer(model, trace)
        if isinstance(last, LastLayer):
            return cls(last, found.why)
        raise ValueError(f"The logits of this model cannot be split into contributions: {last.why}.")

    @property
    def weight(self) -> Float[Tensor, "vocab_size d_model"]:
        """The weight of the map to the vocabulary."""
        return self.maps.weight

    def explain(self, trace: Trace, asked: LogitTarget) -> Explained:
        """Split a logit of the run into contributions, also by attended token. Raise ValueError for an unknown row or
        token.
        """
        if isinstance(self.maps, LastLayer):
            maps = self.maps
            sites = [one.site for one in maps.sublayers if one.site is not None]
            return Explained(
                maps.attribution(trace, asked), {site: maps.key_attribution(trace, asked, site) for site in sites}
            )
        bars = attribution(self.maps, trace, asked)
        sites = dict.fromkeys(Site(part.kind, part.layer) for part in bars.parts
                              if part.part == "head" and part.kind is not None and part.layer is not None)  # fmt: skip
        return Explained(bars, {site: key_attribution(self.maps, trace, asked, site) for site in sites})
