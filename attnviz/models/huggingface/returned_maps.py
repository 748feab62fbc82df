"""Read the attention weights that transformers returns as maps with tokens on both axes, or say why that is impossible.

Some model families return something else as `attentions`: a band around each query, blocks, landmarks, pooled lengths,
or scores before the softmax. This file unrolls a band, and leaves out anything else with a note.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.parity import Eager
from attnviz.tracing.external.outputs import find_other_axes, unroll_band
from attnviz.transformer.probe import Kind

_ROUNDING = 1e-3  # tolerance for the sum of a row
_NAMES: dict[Kind, str] = {
    "encoder_self": "encoder", "decoder_self": "decoder", "cross": "cross-attention",
}  # fmt: skip
# The reason why a model family's returned tensors have no tokens on both axes, or are not weights.
_REASONS = {
    "reformer": "it attends within chunks of the text, which LSH layers sort by hash",
    "longt5": "its encoder attends within blocks of neighbouring tokens",
    "pegasus_x": "its encoder attends within blocks, and to global tokens that stand in no text",
    "nystromformer": "its columns are landmarks, each the mean of several tokens",
    "funnel": "it pools neighbouring tokens, so that its layers differ in length",
    "canine": "it pools neighbouring characters, so that its layers differ in length",
    "rwkv": "it has a recurrent state instead of attention weights",
    "yoso": "it samples keys by hash and computes no weights",
    "cpmant": "transformers cuts off the columns of prompt tokens that the model puts before each text",
    "deepseek_v4": "it also attends to compressed keys, each made of several tokens",
    "squeezebert": "they are scores before the softmax",
    "prophetnet": "they are scores before the softmax, and in cross-attention its predicting streams have rows too",
}
_NONE = {
    "mra": "it approximates attention in blocks and computes no weights of single tokens",
    "big_bird": "it switches its kind of attention by the length of a text, and then returns no weights",
}


@dataclass(frozen=True)
class ReturnedMaps:
    """Weights `(batch, heads, q_len, k_len)` of each layer, by kind, and notes on weights that were left out or
    changed.
    """

    weights: dict[Kind, tuple[Tensor, ...]]
    notes: tuple[str, ...] = ()


def read_returned_maps(expected: Eager, config: Any, src_len: int, tgt_len: int | None) -> ReturnedMaps:
    """Read the maps that transformers returned for texts of these lengths. Raises ModelError if none can be shown."""
    weights, notes = _by_kind(expected), []
    if (window := getattr(config, "attention_window", None)) and "encoder_self" in weights:
        weights["encoder_self"] = _unroll_bands(weights["encoder_self"], window)
        notes.append("Each token attends only to its window: no token was given global attention.")
    if is_joint := are_joint(expected):
        notes.append(
            "The decoder has one softmax over the tokens of its target and of the source: a row of decoder "
            "self-attention and the same row of cross-attention sum to 1 together."
        )
    kept: dict[Kind, tuple[Tensor, ...]] = {}
    for kind, layers in weights.items():
        said = find_other_axes(layers, *_lengths(kind, src_len, tgt_len))
        if said is None and not is_joint:
            said = _find_no_weights(layers)
        if said is None:
            kept[kind] = tuple(layers)
        else:
            notes.append(_left_out(config.model_type, "" if tgt_len is None else kind, said))
    if not kept:
        raise ModelError(notes[-1] if notes else _nothing(config.model_type))
    return ReturnedMaps(kept, tuple(notes))


def require_token_axes(expected: Eager, config: Any, src_len: int, tgt_len: int | None) -> None:
    """Raise ModelError unless the axes of all weights that transformers returned are the tokens of these texts."""
    for kind, layers in _by_kind(expected).items():
        if (said := find_other_axes(layers, *_lengths(kind, src_len, tgt_len))) is not None:
            raise ModelError(_left_out(config.model_type, "" if tgt_len is None else kind, said))


def _lengths(kind: Kind, src_len: int, tgt_len: int | None) -> tuple[int, int]:
    q_len = src_len if kind == "encoder_self" or tgt_len is None else tgt_len
    return q_len, src_len if kind == "cross" else q_len


def _by_kind(expected: Eager) -> dict[Kind, Sequence[Any]]:
    """Return the weights by kind; for a model with one stack, decoder_self if no row sees a later token."""
    only = expected.attn.get("")
    if only is None:
        return {kind: layers for kind, layers in expected.attn.items() if layers}  # type: ignore[misc]
    return {"decoder_self" if _is_causal(only) else "encoder_self": only}


def _is_causal(layers: Sequence[Any]) -> bool:
    """Check that no query has weight on a later key."""
    return all(isinstance(layer, Tensor) and layer.dim() >= 2 and not bool(layer.triu(1).any()) for layer in layers)


def _unroll_bands(layers: Sequence[Any], window: int | Sequence[int]) -> tuple[Any, ...]:
    """Turn each layer's bands `(batch, heads, q_len, window + 1)` into maps with a column for each key."""
    windows = [window] * len(layers) if isinstance(window, int) else window
    return tuple(
        unroll_band(layer, size // 2) if isinstance(layer, Tensor) and layer.shape[-1] == size // 2 * 2 + 1 else layer
        for layer, size in zip(layers, windows, strict=True)
    )


def are_joint(expected: Eager) -> bool:
    """Check whether rows of decoder self-attention and cross-attention sum to 1 together, and not separately."""
    own, cross = expected.attn.get("decoder_self"), expected.attn.get("cross")
    if not own or not cross or find_other_axes(own) or find_other_axes(cross):
        return False
    sums = [layer.float().sum(dim=-1) for layer in (own[0], cross[0])]
    return sums[0].shape == sums[1].shape and bool(((sums[0] + sums[1] - 1).abs() < _ROUNDING).all())


def _find_no_weights(layers: Sequence[Tensor]) -> str | None:
    """Describe the first row that cannot come from a softmax: it does not sum to 1, and is not all zeros."""
    for number, layer in enumerate(layers):
        rows = layer.float().sum(dim=-1)
        wrong = ((rows - 1).abs() > _ROUNDING) & (rows != 0) | ~rows.isfinite()
        if bool(wrong.any()):
            batch, head, row = (int(at) for at in wrong.nonzero()[0])
            return f"in layer {number} row {row} of head {head} sums to {float(rows[batch, head, row]):.3g}"
    return None


def _left_out(model_type: str, kind: str, said: str) -> str:
    """Return the sentence that says why there is no map; `kind` is "" for a model with one stack."""
    reason = f": {_REASONS[model_type]}" if model_type in _REASONS else ""
    where = f"the {_NAMES[kind]} of {model_type}" if kind else model_type  # type: ignore[index]
    return f"What transformers returns for {where} is not attention from token to token ({said}){reason}."


def _nothing(model_type: str) -> str:
    reason = f": {_NONE[model_type]}" if model_type in _NONE else ""
    return f"No layer of this model ({model_type}) returns attention weights, so there is nothing to show{reason}."
