"""Parity: a model is shown only if attnviz's attention computes the same as transformers' own.

Two sentences of different lengths, padded to one batch, run through the model's eager attention and through attnviz's,
in float32 on the CPU. Weights of every layer and head, hidden states and logits must agree as closely as rounding
allows for this very pass (`attnviz.tracing.rounding`), because rounding errors grow with the depth of a model.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.network import patches
from attnviz.models.huggingface.network.attention_interface import name_for
from attnviz.models.huggingface.network.network import Batch, Network, PassRequest
from attnviz.tracing.interventions import Chain
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.rounding import FACTOR, PASSES, Rounding, largest_magnitude, weights_within
from attnviz.transformer.attention import call_attn, call_scores
from attnviz.transformer.device import rounding_unit
from attnviz.transformer.probe import AttentionCall, Kind, Probe, Site, Stack, visible_cells

_NEAR_ONE = 1e-2  # tolerance for the sum of a row of weights, also in half precision
_KINDS: dict[str, Kind] = {
    "encoder_attentions": "encoder_self", "decoder_attentions": "decoder_self", "cross_attentions": "cross",
}  # fmt: skip


@dataclass(frozen=True)
class Eager:
    """The result of transformers' own eager attention.

    `attn` are the weights of each kind, layer by layer (empty if none are returned), `output` the logits, or the last
    hidden states of a model without a head.
    """

    attn: dict[str, tuple[Tensor, ...]]
    output: Tensor


@dataclass(frozen=True)
class OurPass:
    """The same pass through attnviz's attention: its calls and its output."""

    calls: Mapping[Site, AttentionCall]
    output: Tensor


@torch.inference_mode()
def run_eager(model: Any, sample: Batch, target: Batch | None = None) -> Eager:
    """Run the model and return its weights. The caller must have set transformers' eager attention."""
    out = model(**_arguments(model, sample, target), output_attentions=True)
    attn = {"": _weights(out, "attentions", getattr(model.config.get_text_config(), "layer_types", None))}
    if target is not None:
        attn = {kind: _weights(out, name) for name, kind in _KINDS.items()}
    return Eager({kind: weights for kind, weights in attn.items() if weights}, output_of(out))


@torch.inference_mode()
def run_without_weights(model: Any, sample: Batch, target: Batch | None = None) -> Eager:
    """Run the model with its current settings, without asking for weights."""
    return Eager({}, output_of(model(**_arguments(model, sample, target))))


def _arguments(model: Any, sample: Batch, target: Batch | None) -> dict[str, Any]:
    """Return the arguments for calling a model without a cache.

    With a cache, FSMT makes no causal mask, and the decoder head of an encoder-decoder counts the encoder's layers.
    """
    no_cache = {"use_cache": False} if "use_cache" in parameters_of(model) else {}
    return arguments_of(sample, target) | no_cache


def install_attention(model: Any, sample: Batch, target: Batch | None = None) -> Network:
    """Replace the model's attention by attnviz's for all later passes, and return the network.

    Raises NoAttentionInterface for a model that bypasses transformers' attention interface, ModelError for an attention
    that attnviz cannot compute.
    """
    patches.fuse(model)
    patches.set_attention(model, name_for(model))
    return Network(model, sample, target)


def watch_attention(model: Any, sample: Batch, target: Batch | None = None) -> Network:
    """Watch the attention of a model that computes its scores in its own code, and return the network.

    The model must be set to its eager attention or to PyTorch's fused kernel. Raises NoAttentionInterface for a model
    without a softmax that can be watched, ModelError for attention that cannot be read.
    """
    return Network(model, sample, target, is_watched=True)


def leave_out_scores(expected: Eager) -> Eager:
    """Drop the weights of kinds whose rows do not sum to 1, because they are scores (SqueezeBERT returns scores as
    weights).
    """
    weights = {kind: layers for kind, layers in expected.attn.items() if all(map(_sum_to_one, layers))}
    return Eager(weights, expected.output)


def _sum_to_one(weights: Tensor) -> bool:
    return bool(((weights.float().sum(dim=-1) - 1).abs() < _NEAR_ONE).all())


@torch.inference_mode()
def assert_equal(network: Network, expected: Eager, sample: Batch, target: Batch | None = None) -> Tensor:
    """Compare a pass of `network` with transformers' own; return its output, or raise ModelError with the largest
    difference.

    Passes with other roundings run only if a difference is larger than that of a single rounding.
    """

    def run(probe: Probe | None = None) -> OurPass:
        return _our_pass(network, sample, target, probe)

    found, rows = run(), (sample if target is None else target).mask.bool().cpu()
    named = {name or network.places[0].site.kind: weights for name, weights in expected.attn.items()}
    _check_shapes(found, named)
    comparison = _Comparison(found, named, expected.output, {"encoder_self": sample.mask.bool().cpu()}, rows)
    epsilon = rounding_unit(expected.output.dtype, expected.output.device.type)
    if comparison.first_difference(_ParitySpread.zeros(found), epsilon) is not None:
        refusal = comparison.first_difference(_ParitySpread.measure(found, run, epsilon), epsilon)
        if refusal is not None:
            raise ModelError(refusal)
    return found.output


def output_of(out: Any) -> Tensor:
    """Return the logits, or the last hidden states of a model without a head. Raises ModelError if there are
    neither.
    """
    logits = getattr(out, "logits", None)
    found = getattr(out, "last_hidden_state", None) if logits is None else logits
    if found is None:
        raise ModelError(
            f"The model returns {type(out).__name__}, which holds neither logits nor last hidden states, with which "
            "attnviz checks its maps."
        )
    return found


def arguments_of(sample: Batch, target: Batch | None = None) -> dict[str, Any]:
    """Return the arguments with which a user would call a transformers model."""
    arguments: dict[str, Any] = sample.arguments
    if target is not None:
        arguments |= {"decoder_input_ids": target.ids, "decoder_attention_mask": torch.ones_like(target.mask)}
    return arguments


def parameters_of(model: Any) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a model's `forward`, by their names."""
    return inspect.signature(model.forward).parameters


@torch.inference_mode()
def run_network(
    network: Network, sample: Batch, target: Batch | None = None, *, last_only: bool = False, until: str = ""
) -> Tensor:
    """Run a network over a sample; return its logits, or the last hidden states of a model without a head.

    With `until`, the name of a layer, the pass ends there, and the layer's output is returned.
    """
    probe = Chain(()) if not until else _EndAfter(int(until.rpartition(".")[2]))
    request = PassRequest(probe, hidden=bool(until), last_only=last_only)
    try:
        if target is None:
            return output_of(network.run_only_stack(sample, request))
        return output_of(network.decode(target, network.encode(sample, request), sample.mask, request))
    except PassEnded as ended:
        return ended.output


class PassEnded(Exception):  # noqa: N818 - it is no error: the rest of the pass is not needed
    """Raised to end a pass early, after a certain layer; `output` is the output of that layer."""

    def __init__(self, output: Tensor) -> None:
        super().__init__("The pass has reached the layer that was asked for.")
        self.output = output


@dataclass(frozen=True)
class _EndAfter(Probe):
    """Probe that ends a pass after a certain layer, counted from 0, by raising `PassEnded`."""

    layer: int

    def on_layer(self, stack: Stack, layer: int, output: Tensor) -> Tensor:
        if layer == self.layer:
            raise PassEnded(output)
        return output


def _our_pass(network: Network, sample: Batch, target: Batch | None, probe: Probe | None) -> OurPass:
    recorder = Recorder()
    request = PassRequest(recorder if probe is None else Chain((probe, recorder)))
    if target is None:
        out = network.run_only_stack(sample, request)
    else:
        memory = network.encode(sample, request)
        out = network.decode(target, memory, sample.mask, request)
    return OurPass(recorder.calls, output_of(out))


def _weights(out: Any, name: str, sorts: Sequence[str] | None = None) -> tuple[Tensor, ...]:
    """Return the attention weights in the output `out`, one tensor for each layer that computes attention.

    `sorts` are the layer types in the config. Linear-attention layers are left out, because MiniMax returns their
    states in place of weights.
    """
    layers = getattr(out, name, None) or ()
    if sorts is None or len(sorts) != len(layers):
        sorts = [""] * len(layers)
    return tuple(layer for layer, sort in zip(layers, sorts, strict=True) if layer is not None and "linear" not in sort)


def _describe_counts(kind: str, returned: int, computed: int) -> str:
    times, rest = divmod(computed, returned)
    if times > 1 and not rest:
        return (
            f"Each of the model's {returned} layers attends {times} times ({kind}) and combines the results, as "
            "DiffLlama subtracts them by its lambda. No map shows the combination, so no head can be shown."
        )
    return f"transformers returns maps of {returned} layers ({kind}), but the model attended {computed} times."


def _check_shapes(found: OurPass, expected: dict[str, tuple[Tensor, ...]]) -> None:
    for kind, layers in expected.items():
        sites = [site for site in found.calls if site.kind == kind]
        times, rest = divmod(len(sites), len(layers))
        if times > 1 and not rest:
            raise ModelError(
                f"Each of the model's {len(layers)} layers computes {kind} attention {times} times and combines the "
                "results, as DiffLlama subtracts one from the other, times a learned λ. No map shows the combination."
            )
        if len(sites) != len(layers):
            raise ModelError(_describe_counts(kind, len(layers), len(sites)))
        for layer, weights in enumerate(layers):
            call = found.calls[Site(kind, layer)]  # type: ignore[arg-type]
            if (ours := (*call.query.shape[:3], call.key.shape[2])) != tuple(weights.shape):
                raise ModelError(
                    f"The model's {kind} maps have shape {tuple(weights.shape)}, ours {ours} (layer {layer})."
                )


@dataclass
class _ParitySpread:
    """How far rounding moves the scores of each row `(batch, heads, q_len)` and the outputs of each position.

    The values are the maximum over repeated passes with different roundings; outputs are `(batch, length)`.
    """

    scores: dict[Site, Tensor]
    output: Tensor

    @classmethod
    def zeros(cls, found: OurPass) -> "_ParitySpread":
        scores = {site: torch.zeros(call.query.shape[:3]) for site, call in found.calls.items()}
        return cls(scores, torch.zeros(found.output.shape[:2]))

    @classmethod
    def measure(cls, found: OurPass, run: Callable[[Probe], OurPass], epsilon: float) -> "_ParitySpread":
        spread, generator = cls.zeros(found), torch.Generator().manual_seed(0)
        for _ in range(PASSES):
            moved = run(Rounding(epsilon, generator))
            for site, most in spread.scores.items():
                delta = _visible_scores(moved.calls[site]) - _visible_scores(found.calls[site])
                spread.scores[site] = torch.maximum(most, largest_magnitude(delta).cpu())
            spread.output = torch.maximum(spread.output, largest_magnitude((moved.output - found.output).float()).cpu())
        return spread


@dataclass(frozen=True)
class _Comparison:
    """Comparison of attnviz's pass with transformers' own pass, without the rows of padding.

    No row of text depends on a row of padding, and the two passes may differ there: if a window hides every key from
    such a row, transformers gives it uniform weights, and attnviz zeros.
    """

    found: OurPass
    attn: dict[str, tuple[Tensor, ...]]
    output: Tensor
    rows_of: dict[str, Tensor]
    rows: Tensor

    def first_difference(self, spread: _ParitySpread, epsilon: float) -> str | None:
        """Describe the first difference that rounding does not explain; None if there is none."""
        for kind, layers in self.attn.items():
            rows = self.rows_of.get(kind, self.rows)
            for layer, weights in enumerate(layers):
                call = self.found.calls[site := Site(kind, layer)]  # type: ignore[arg-type]
                moved = spread.scores[site] + epsilon * largest_magnitude(_visible_scores(call)).cpu()
                attn = call_attn(call).cpu()
                if call.sinks is not None and _sum_to_one(weights):  # GraniteSWA returns weights from before the sink
                    attn = attn / attn.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(attn.dtype).tiny)
                allowed = weights_within(attn, FACTOR * moved)
                if epsilon > torch.finfo(torch.float32).eps:  # the model's own weights are rounded to its type
                    allowed = allowed + epsilon
                ours, own, most = (
                    part.transpose(1, 2)[rows] for part in (attn, weights.float().cpu(), allowed.unsqueeze(-1))
                )
                if said := _describe_difference(ours, own, most, f"{kind} weights of layer {layer}"):
                    return said
        moved = FACTOR * (spread.output + epsilon * largest_magnitude(self.output.float()).cpu())
        ours, own, most = (
            part.float().cpu()[self.rows] for part in (self.found.output, self.output, moved.unsqueeze(-1))
        )
        return _describe_difference(ours, own, most, "its outputs")


def _visible_scores(call: AttentionCall) -> Tensor:
    """Return the scores of the keys that a row may attend to; 0 for the others."""
    return call_scores(call).masked_fill(~visible_cells(call), 0.0)


def _describe_difference(found: Tensor, expected: Tensor, allowed: Tensor, what: str) -> str | None:
    """Describe a difference that is larger than allowed. Raises ModelError if the model itself computes NaN or
    infinity.
    """
    if not bool(expected.isfinite().all()):
        raise ModelError(
            f"The model computes NaN or infinity (in {what}), so its weights are probably damaged. Please "
            "download or save the weights again."
        )
    difference = (found - expected).abs()
    if bool((difference <= allowed).all()):  # NaN is refused too
        return None
    worst = int((difference - allowed).nan_to_num(nan=torch.inf).argmax())
    most = float(allowed.expand_as(difference).flatten()[worst])
    return (
        f"attnviz does not reproduce this model: {what} differ from transformers' own by "
        f"{float(difference.flatten()[worst]):.1e}, more than the {most:.1e} that rounding explains."
    )
