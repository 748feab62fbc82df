"""Make a trace from given attention weights. Raises ValueError, with one sentence, for parts that do not fit each
other.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.text.arguments import reads_arguments
from attnviz.text.display import display
from attnviz.tracing.external.outputs import select_item, weights_of
from attnviz.tracing.external.tokens import join_sorted, sentence_of, sides, tokens_of
from attnviz.tracing.external.weights import BareWeights
from attnviz.tracing.record import RunInfo
from attnviz.tracing.trace import KINDS
from attnviz.transformer.probe import Kind

TOLERANCE = 2e-3  # rows of a bfloat16 softmax sum to 1 within this
# What NumPy and torch raise at what they cannot write out; RuntimeError for tensors with a gradient within lists, and
# for those that have a shape but no numbers (meta).
_NO_ARRAY = (TypeError, ValueError, RuntimeError)


@reads_arguments
def from_tensors(
    attn: Any, tokens: Any, *, key_tokens: Any = None, kind: str | None = None, mask: Any = None,
    item: int | None = None, tokenizer: Any = None,
) -> BareWeights:  # fmt: skip
    """Your own attention weights, for every view that needs nothing else: Heads, links, the whole model, heatmaps.

    Args:
        attn: `(layers, heads, q_len, k_len)`, `(heads, q_len, k_len)` or `(q_len, k_len)`, as a tensor, an array or
            nested lists; or one `(batch, heads, q_len, k_len)` a layer; or a mapping of such from kind to weights; or
            what a model of transformers returns with `output_attentions=True`, also from `generate`, whose steps are
            stacked, a row a step; or TransformerLens' cache, or a mapping from names with the layer's number in them.
        tokens: the query tokens, a string (or `Token`) a row, or ids with a `tokenizer`; of a batch also a list for
            each item. With weights of several kinds: `{"src": …, "tgt": …}`, where a target with one token more than
            there are decoder rows labels them `input → output`.
        key_tokens: the key tokens, where they are not the query tokens; as `tokens`.
        kind: "encoder_self", "decoder_self" or "cross". Left out: "cross" with `key_tokens`; "decoder_self" where rows
            look back and none looks ahead; else "encoder_self".
        mask: bool `(q_len, k_len)`, True = may attend; with a mapping of weights, a mapping from kind to mask. Rows of
            `generate` have the causal one.
        item: which text of a batch.
        tokenizer: what ids are tokens of: one of transformers or of tokenizers.

    Rows that do not sum to 1 are kept as they are and named in `info.notes`. Raises ValueError, with one sentence, for
    shapes that do not fit each other or the tokens, for weights that are not finite and for an unknown kind.
    """
    tokens, key_tokens = tokens_of(tokens, tokenizer, item), tokens_of(key_tokens, tokenizer, item)
    output = weights_of(attn, item)
    if output is not None:
        (attn, kind), item = _choose(output.weights, kind, tokens), None
    kind = kind or ("cross" if key_tokens is not None else _kind_of(attn, item))
    given: Mapping[Any, Any] = attn if isinstance(attn, Mapping) else {kind: attn}
    if output is not None and output.is_stepwise and mask is None and "decoder_self" in given:
        mask = {"decoder_self": torch.ones(given["decoder_self"].shape[-2:], dtype=torch.bool).tril()}
    masks: Mapping[Any, Any] = mask if isinstance(mask, Mapping) else {} if mask is None else {kind: mask}
    if unknown := [name for name in (*given, *masks) if name not in KINDS]:
        raise ValueError(f"There is no kind {unknown[0]!r} of attention; it is one of {', '.join(KINDS)}.")
    if not given:
        raise ValueError("There are no weights: give attn for at least one kind.")
    weights: dict[Kind, Tensor] = {name: _maps(name, given[name], item) for name in KINDS if name in given}
    sentence = sentence_of(weights, tokens if isinstance(attn, Mapping) else sides(kind, tokens, key_tokens))
    trace = BareWeights(
        weights=weights,
        sentences=(sentence,),
        masks={name: _mask(name, made, weights) for name, made in masks.items()},
    )
    info = RunInfo(model_id=_name(trace), notes=tuple(note for name in weights for note in _flaws(trace, name)))
    return replace(trace, info=info)


def _choose(weights: Mapping[Kind | None, Tensor], kind: str | None, tokens: Any) -> tuple[Any, str | None]:
    """Return the weights of the kind that is meant, and that kind; or of all kinds, by kind, and None."""
    if None in weights:
        return weights[None], kind
    if kind is None and isinstance(tokens, Mapping):
        return weights, None
    names = ", ".join(map(str, weights))
    if kind is None and len(weights) > 1:
        raise ValueError(f'The output holds {names}: give one kind=…, or tokens as {{"src": …, "tgt": …}} for all.')
    if kind is not None and kind not in weights:
        raise ValueError(f"The output holds no {kind}, but {names}.")
    kind = kind or next(iter(weights))
    return weights[kind], kind  # type: ignore[index]  # it is one of them


def _kind_of(attn: Any, item: int | None) -> Kind:
    """Tell the kind of weights from tokens to themselves: a decoder's where some look back and none looks ahead."""
    if isinstance(attn, Mapping):  # which says it itself
        return "encoder_self"
    maps = _maps("encoder_self", attn, item)
    is_square = maps.shape[-2] == maps.shape[-1]
    is_causal = is_square and not bool(maps.triu(1).any()) and bool(maps.tril(-1).any())
    return "decoder_self" if is_causal else "encoder_self"


def _maps(kind: str, given: Any, item: int | None = None) -> Tensor:
    """`(layers, heads, q_len, k_len)` in float32, on the CPU."""
    if isinstance(given, (list, tuple)) and given and all(isinstance(part, (Tensor, np.ndarray)) for part in given):
        shapes = {tuple(part.shape) for part in given}
        if len(shapes) > 1:
            raise ValueError(
                f"The layers of {kind} differ in shape ({join_sorted(shapes)}); they must be equal. "
                "Of nn.MultiheadAttention give the second of what it returns."
            )
        parts = [_tensor(kind, part) for part in given]
        has_batch = parts[0].ndim == 4 or (item is not None and parts[0].ndim == 3)
        attn = torch.stack([select_item(kind, part, item) if has_batch else part for part in parts])
    else:
        attn = _tensor(kind, given)
        if item is not None and attn.ndim in (3, 4):
            attn = select_item(kind, attn, item)
    if attn.ndim == 5 and 1 in attn.shape[:2]:
        attn = attn[0] if attn.shape[0] == 1 else attn[:, 0]
    if attn.ndim == 5:
        raise ValueError(
            f"attn of {kind} has five axes, {tuple(attn.shape)}, and which one is the batch cannot be told: "
            "give one text's, attn[0] or attn[:, 0]."
        )
    if not 2 <= attn.ndim <= 4 or 0 in attn.shape:
        shape = tuple(attn.shape)
        raise ValueError(f"attn of {kind} has the shape {shape}; expected (layers, heads, q_len, k_len) of one text.")
    attn = attn.reshape(*(1,) * (4 - attn.ndim), *attn.shape)
    if not bool(attn.isfinite().all()):
        at = [int(i) for i in (~attn.isfinite()).nonzero()[0]]
        raise ValueError(
            f"attn of {kind} is not finite at layer {at[0]}, head {at[1]}, row {at[2]}, key {at[3]}: "
            "replace such weights, by zeros for example."
        )
    return attn


def _tensor(kind: str, given: Any) -> Tensor:
    try:
        tensor = _to_cpu(given)
        if tensor.is_complex():
            raise ValueError("it holds complex numbers, and weights are real")
        return tensor.float().contiguous()
    except _NO_ARRAY as error:
        raise ValueError(f"attn of {kind} is not an array of numbers: {_first_line(error)}.") from None


def _to_cpu(given: Any) -> Tensor:
    """Convert to a dense tensor on the CPU. Raises one of `_NO_ARRAY` for anything but an array."""
    tensor = given.detach().cpu() if isinstance(given, Tensor) else torch.from_numpy(np.array(given))
    return tensor if tensor.layout is torch.strided else tensor.to_dense()


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")


def _mask(kind: Kind, given: Any, weights: Mapping[Kind, Tensor]) -> Tensor:
    try:
        mask = _to_cpu(given)
    except _NO_ARRAY as error:
        raise ValueError(f"The mask of {kind} is not an array of bool: {_first_line(error)}.") from None
    if kind not in weights or mask.dtype != torch.bool or mask.shape != weights[kind].shape[-2:]:
        wanted = tuple(weights[kind].shape[-2:]) if kind in weights else "no weights of that kind"
        raise ValueError(f"The mask of {kind} is bool {wanted}, True = may attend; given is {tuple(mask.shape)}.")
    return mask


def _flaws(trace: BareWeights, kind: Kind) -> list[str]:
    """Describe what is unusual about weights: rows that do not sum to 1, weights outside 0 to 1."""
    attn, notes = trace.weights[kind], []
    # Head by head: in float64 all at once, they would take twice their room, and be held for a sum of each row.
    sums = torch.stack([maps.double().sum(dim=-1) for maps in attn.flatten(0, 1)]).unflatten(0, attn.shape[:2])
    sees = trace.mask(kind).any(dim=-1)
    off = ((sums - 1).abs() > TOLERANCE) & ~((sums == 0) & ~sees)
    if count := int(off.sum()):
        layer, head, row = (int(i) for i in off.nonzero()[0])
        token = display(trace.query_tokens(kind)[row].text)
        notes.append(
            f"{count} of {off.numel()} rows of {kind} do not sum to 1 (their sums run from "
            f"{float(sums[off].min()):.4g} to {float(sums[off].max()):.4g}; the first is L{layer} H{head}, row {row}, "
            f"“{token}”); they are drawn as given."
        )
    if count := int(((attn < 0) | (attn > 1)).sum()):
        notes.append(
            f"{count} weights of {kind} lie outside 0 to 1 (from {float(attn.min()):.4g} to {float(attn.max()):.4g}); "
            "colours and lines end there, the numbers do not."
        )
    return notes


def _name(trace: BareWeights) -> str:
    """Make a short name of weights and masks, as models have one: equal ones have an equal name."""
    content = hashlib.blake2b(digest_size=6)
    for kind, given in (*trace.weights.items(), *trace.masks.items()):
        content.update(f"{kind} {tuple(given.shape)} {given.dtype}".encode())
        content.update(given.contiguous().numpy().data)
    return f"own-{content.hexdigest()}"
