"""The output map `W_o` of a site, found by observing a pass, and split into one part per head.

Nothing is assumed about how a model names or stores it: it is the first linear map whose input is the concatenated
context of the heads. It is used only if its parts, applied to each head's context, sum to the recorded output.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor
from torch.overrides import TorchFunctionMode

from attnviz.analysis.projections import NotPlain
from attnviz.models.protocol import Model
from attnviz.tracing.interventions import Chain
from attnviz.tracing.trace import Trace
from attnviz.transformer.device import rounding_unit
from attnviz.transformer.probe import Probe, Site

ROUNDING = 256  # allowed difference in epsilons of the run's dtype, for products summed in another order
_IN_TF32 = 8  # the same in steps of TF32, to which a GPU may round what it multiplies


@dataclass(frozen=True, eq=False)
class OutputMap:
    """`W_o` of one site: weight `(heads, d_v, d_model)` and bias `(d_model,)`, in float32 on the CPU.

    `output` `(batch, q_len, d_model)` is the map's output in the observed pass.
    """

    weight: Tensor
    bias: Tensor
    output: Tensor

    def head_outputs(
        self, context: Float[Tensor, "*batch heads q_len d_v"]
    ) -> Float[Tensor, "*batch heads q_len d_model"]:
        """Compute what each head adds to the output: z_h W_o^h. Together with the bias, these sum to the output."""
        return context @ self.weight


OutputMaps = Mapping[Site, OutputMap | NotPlain]


@torch.inference_mode()
def output_maps(model: Model, trace: Trace, probe: Probe | None = None) -> OutputMaps:
    """Find `W_o` of every site, or the reason why it is unknown, in one pass over `trace` with the probe attached."""
    watch = _ContextWatch()
    with ProductWatch(watch.hear):
        model.rerun(replace(trace, interventions=()), watch if probe is None else Chain((probe, watch)))
    return {site: _cut_into_heads(*watch.heard[site]) if site in watch.heard else _UNHEARD for site in watch.sites}


@dataclass(frozen=True, eq=False)
class HeardProduct:
    """One linear map that was computed: `made = input_ @ weight.T + bias`; weight `(out, in)`."""

    input_: Tensor
    weight: Tensor
    bias: Tensor | None
    made: Tensor


class ProductWatch(TorchFunctionMode):
    """Reports the linear maps that this thread computes, and none of other threads, which serve other visitors."""

    def __init__(self, hear: Callable[[HeardProduct], None]) -> None:
        super().__init__()
        self.hear = hear

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        """Call a torch function, and report a linear map to `hear`."""
        result = func(*args, **(kwargs or {}))
        if func is F.linear and not kwargs:
            self.hear(HeardProduct(args[0], args[1].detach(), _detach(args[2] if len(args) > 2 else None), result))
        elif func is torch.addmm and len(args) == 3 and not kwargs:  # GPT-2's Conv1D: bias first, weight transposed
            self.hear(HeardProduct(args[1], args[2].detach().T, args[0].detach(), result))
        return result


def _detach(bias: Tensor | None) -> Tensor | None:
    return None if bias is None else bias.detach()


_UNHEARD = NotPlain("no linear map reads its heads' contexts, so W_o is not known")


@dataclass
class _ContextWatch(Probe):
    """Probe that pairs each site's context with the linear map that reads it. Use it for one run only."""

    heard: dict[Site, tuple[Tensor, HeardProduct]] = field(default_factory=dict)
    sites: list[Site] = field(default_factory=list)
    _open: tuple[Site, Tensor] | None = None

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        """Remember the heads' context of a site, because the next linear map may be the site's `W_o`."""
        self.sites.append(site)
        self._open = site, context
        return context

    def hear(self, one: HeardProduct) -> None:
        """Keep a linear map as the site's `W_o` if its input is the context that was remembered last."""
        if self._open is None:
            return
        site, context = self._open
        joined = context.transpose(1, 2).flatten(2)
        if one.input_.numel() == joined.numel() and torch.equal(one.input_.reshape(joined.shape), joined):
            self.heard[site] = context, one
            self._open = None


def allowed_share(dtype: torch.dtype, device: str) -> float:
    """Return the relative tolerance between a product computed in `dtype` on a type of device and on the CPU."""
    own, unit = torch.finfo(dtype).eps, rounding_unit(dtype, device)
    return ROUNDING * own + (_IN_TF32 * unit if unit > own else 0.0)


def _cut_into_heads(context: Tensor, one: HeardProduct) -> OutputMap | NotPlain:
    """Split an output map into one part per head, or say why not: the parts' outputs do not sum to its output."""
    batch, heads, q_len, size = context.shape
    made = one.made.reshape(batch, q_len, -1).float().cpu()
    weight = one.weight.float().cpu().T.reshape(heads, size, -1)
    bias = weight.new_zeros(weight.shape[2]) if one.bias is None else one.bias.float().cpu()
    found = OutputMap(weight, bias, made)
    parts = found.head_outputs(context.float().cpu())
    size = max(1.0, float(parts.abs().max()), float(made.abs().max()))
    allowed = allowed_share(context.dtype, context.device.type) * size
    if not bool(((parts.sum(dim=1) + bias - made).abs() <= allowed).all()):
        return NotPlain("its heads' contexts through W_o do not add up to its output")
    return found
