"""Faithful or refused: a model is shown only if the package's attention computes what transformers' own computes.

Two sentences of different lengths, padded to one batch, run through the model's eager attention and through ours, in
float32 on the CPU. Weights of every layer and head, hidden states and logits must agree.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.network import patches
from attnviz.models.huggingface.network.attention_interface import NAME
from attnviz.models.huggingface.network.network import Batch, Network, Watch
from attnviz.tracing.recorder import Recorder
from attnviz.transformer.attention import call_attn
from attnviz.transformer.probe import Kind

TOLERANCE = 1e-4  # of weights; of hidden states and logits where their largest value is 1, else in proportion


@dataclass(frozen=True)
class Eager:
    """What transformers' own eager attention gave: weights of each kind, layer by layer (empty where it returns none),
    and the logits, or the last hidden states of a model without a head.
    """

    attn: dict[str, tuple[Tensor, ...]]
    output: Tensor


@torch.inference_mode()
def eager(model: Any, sample: Batch, target: Batch | None = None) -> Eager:
    """Run the model as transformers computes it."""
    arguments: dict[str, Any] = {"input_ids": sample.ids, "attention_mask": sample.mask}
    if sample.segments is not None:
        arguments["token_type_ids"] = sample.segments
    if target is not None:
        arguments["decoder_input_ids"] = target.ids
    model.set_attn_implementation("eager")
    out = model(**arguments, output_attentions=True)
    names = {"encoder_self": "encoder_attentions", "decoder_self": "decoder_attentions", "cross": "cross_attentions"}
    attn = (
        {kind: _weights(out, name) for kind, name in names.items()}
        if target is not None
        else {"": _weights(out, "attentions")}
    )
    return Eager({kind: weights for kind, weights in attn.items() if weights}, output_of(out))


def with_our_attention(model: Any, sample: Batch, target: Batch | None = None) -> Network:
    """The model with the package's attention in the place of its own, from now on. Raises ModelError."""
    patches.fuse(model)
    model.set_attn_implementation(NAME)
    if model.config._attn_implementation != NAME:  # transformers only warns
        raise ModelError("The model computes its attention without transformers' attention interface.")
    return Network(model, sample, target)


@torch.inference_mode()
def assert_equal(network: Network, expected: Eager, sample: Batch, target: Batch | None = None) -> None:
    """Compare a pass of `network` with transformers' own. Raises ModelError with the largest difference."""
    recorder = Recorder()
    watch = Watch(recorder)
    if target is None:
        output = output_of(network.single(sample, watch))
    else:
        memory = network.encode(sample, watch)
        output = output_of(network.decode(target, memory, sample.mask, watch))
    rows = (sample if target is None else target).mask.bool()
    for name, weights in expected.attn.items():
        kind: Kind = name or network.places[0].site.kind  # type: ignore[assignment]
        _check_kind(recorder, kind, weights, sample.mask.bool() if kind == "encoder_self" else rows)
    allowed = TOLERANCE * max(1.0, float(expected.output[rows].abs().max()))
    _refuse_beyond(output[rows], expected.output[rows], allowed, "its outputs")


def output_of(out: Any) -> Tensor:
    """Logits, or the last hidden states of a model without a head."""
    logits = getattr(out, "logits", None)
    return out.last_hidden_state if logits is None else logits


def _weights(out: Any, name: str) -> tuple[Tensor, ...]:
    return tuple(weights for weights in getattr(out, name, None) or () if weights is not None)


def _check_kind(recorder: Recorder, kind: Kind, expected: tuple[Tensor, ...], rows: Tensor) -> None:
    """Compare a kind's weights, but for the rows of padding: what they compute is never used, and need not agree where
    a window leaves them no key (even weights there, zeros here, and other queries from there on).
    """
    calls = [recorder.calls[site] for site in sorted(recorder.calls) if site.kind == kind]
    if len(calls) != len(expected):
        raise ModelError(
            f"The model has {len(expected)} layers of {kind} attention, but computed {len(calls)} of them."
        )
    for layer, (call, weights) in enumerate(zip(calls, expected, strict=True)):
        attn = call_attn(call)
        if attn.shape != weights.shape:
            raise ModelError(
                f"The model's {kind} maps have shape {tuple(weights.shape)}, ours {tuple(attn.shape)} (layer {layer})."
            )
        attn, weights = attn.transpose(1, 2)[rows], weights.transpose(1, 2)[rows]
        _refuse_beyond(attn, weights, TOLERANCE, f"{kind} weights of layer {layer}")


def _refuse_beyond(found: Tensor, expected: Tensor, allowed: float, what: str) -> None:
    if not bool(expected.isfinite().all()):
        raise ModelError(f"The model computes no numbers (NaN or infinity), seen in {what}: its weights are damaged.")
    difference = float((found.float() - expected.float()).abs().max())
    if not difference <= allowed:  # NaN is refused too
        raise ModelError(
            f"attnviz does not reproduce this model: {what} differ from transformers' own by {difference:.1e}, "
            f"more than {allowed:.0e}."
        )
