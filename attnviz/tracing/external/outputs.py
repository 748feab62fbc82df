"""Attention weights inside what other libraries return: transformers' outputs and `generate`, and caches by name.

| what | where its weights are |
| --- | --- |
| a forward pass of transformers | `attentions`, or `encoder_attentions`, `decoder_attentions`, `cross_attentions` |
| `generate(…, output_attentions=True, return_dict_in_generate=True)` | the same names; of a decoder a tuple a step |
| TransformerLens' `run_with_cache` | `blocks.3.attn.hook_pattern` |
| timm's `AttentionExtract`, and your own hooks | any name with the layer's number in it |
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnviz.tracing.trace_like import KINDS
from attnviz.transformer.probe import Kind

# Of a decoder-only model, or of an encoder: the field itself does not say which.
SELF = "attentions"
_FIELDS: Mapping[str, Kind | None] = {
    "encoder_attentions": "encoder_self", "decoder_attentions": "decoder_self", "cross_attentions": "cross", SELF: None,
}  # fmt: skip
_OTHERS = ("logits", "last_hidden_state", "sequences", "hidden_states", "past_key_values")  # an output without weights
_CROSS, _DECODER = re.compile(r"cross", re.IGNORECASE), re.compile(r"(^|\.)decoder\.")
_ENCODER = re.compile(r"(^|\.)encoder\.")
_PATTERN = ".hook_pattern"  # TransformerLens keeps scores, queries and keys under names beside this one
HOW = "call the model with output_attentions=True, loaded with attn_implementation='eager'"


@dataclass(frozen=True)
class OutputWeights:
    """The weights in an output: `(layers, heads, q_len, k_len)` of each kind.

    The key None is a model's only self-attention: an encoder's or a decoder's. `is_stepwise` where a decoder's rows are
    those of `generate`, stacked, a row a step: what a row could not see is 0.
    """

    weights: Mapping[Kind | None, Tensor]
    is_stepwise: bool = False


def weights_of(given: Any, item: int | None) -> OutputWeights | None:
    """Return the weights in an output or a cache, None for anything else. Raises ValueError with one sentence."""
    fields = {name: found for name in _FIELDS if (found := _field(given, name)) is not None}
    if fields:
        return _read_fields(fields, item, _field(given, "beam_indices"))
    if any(_field(given, name) is not None for name in _OTHERS):
        raise ValueError(f"The output has no attention weights: {HOW}.")
    cache = getattr(given, "cache_dict", given)  # TransformerLens' cache is no mapping, but holds one
    if isinstance(cache, Mapping) and cache and not any(name in KINDS for name in cache):
        found = _read_names(cache, item)
        return None if found is None else OutputWeights(found)
    return None


def select_item(kind: str, weights: Tensor, item: int | None) -> Tensor:
    """Return one item's weights, without the batch axis, of `(batch, heads, q_len, k_len)`."""
    return weights[require_item(f"What is given of {kind}", weights.shape[0], "texts", item)]


def require_item(what: str, size: int, things: str, item: int | None) -> int:
    """Return the item that is meant. Raises ValueError where there is none such, or where it has to be said."""
    if item is None and size > 1:
        raise ValueError(f"{what} is of {size} {things}: say which one with item=0 to {size - 1}.")
    if not -size <= (item or 0) < size:
        raise ValueError(
            f"There is no item {item}: {what[:1].lower()}{what[1:]} is of {size} {things}, 0 to {size - 1}."
        )
    return (item or 0) % size


def _field(given: Any, name: str) -> Any:
    if isinstance(given, Mapping):
        return given.get(name)
    return None if isinstance(given, Tensor | type) else getattr(given, name, None)


def _read_fields(fields: Mapping[str, Any], item: int | None, beams: Any) -> OutputWeights:
    rows = _n_rows(fields)
    found: dict[Kind | None, Tensor] = {}
    held = {name: layers for name, given in fields.items() if (layers := _layers_of(name, given))}
    if not held:  # an encoder has an empty cross_attentions beside its attentions
        raise ValueError(f"{' and '.join(fields)} hold no weights: {HOW}.")
    for name, layers in held.items():
        kind = _FIELDS[name] or ("decoder_self" if "cross_attentions" in held else None)
        if isinstance(layers[0], Sequence):
            found[kind] = _stack_steps(kind or name, layers, item, beams)
        else:
            text = _item_of(layers, item, rows if beams is None else len(beams))
            found[kind] = _stack_layers(kind or name, layers, text)
    return OutputWeights(found, is_stepwise=rows > 0)


def _n_rows(fields: Mapping[str, Any]) -> int:
    """Return how many rows a batch of `generate` has at a step, each beam counted; 0 without steps."""
    steps = next((given for given in fields.values() if given and isinstance(given[0], Sequence)), None)
    return 0 if steps is None else next((len(layer) for layer in steps[0] if layer is not None), 0)


def _item_of(layers: Sequence[Tensor], item: int | None, sequences: int) -> int | None:
    """Return the encoder's item for a sequence of `generate`, which runs the encoder once for all that it returns."""
    return item // (sequences // len(layers[0])) if item is not None and sequences > len(layers[0]) else item


def _layers_of(name: str, given: Any) -> list[Any]:
    """Return the layers that have weights (a hybrid model's others have None), or the steps."""
    if not isinstance(given, Sequence):
        raise ValueError(f"{name} is not a tuple with a tensor for each layer.")
    return [part for part in given if part is not None]


def _stack_layers(kind: str, layers: Iterable[Tensor], item: int | None) -> Tensor:
    parts = [select_item(kind, layer, item) if layer.ndim == 4 else layer for layer in layers]
    if len(shapes := {tuple(part.shape) for part in parts}) > 1:
        raise ValueError(f"The layers of {kind} differ in shape ({', '.join(map(str, sorted(shapes)))}).")
    return torch.stack([part.detach().float().cpu() for part in parts])


def _stack_steps(kind: str, steps: Sequence[Sequence[Tensor | None]], item: int | None, beams: Any) -> Tensor:
    """Stack the steps of `generate`: the first has the prompt's rows, each other one adds the row of its token."""
    rows = _row_of_each_step(kind, steps, item, beams)
    layers = [[layer for layer in step if layer is not None] for step in steps[: len(rows)]]
    n_prompt = layers[0][0].shape[-2]
    if any(layer.shape[-2] not in (1, n_prompt + at) for at, step in enumerate(layers) for layer in step[:1] if at):
        raise ValueError(f"A step of {kind} has several rows, as assisted decoding gives: generate without it.")
    return torch.stack([
        _stack_layer(kind, [step[layer][row] for step, row in zip(layers, rows, strict=True)])
        for layer in range(len(layers[0]))
    ])  # fmt: skip


def _stack_layer(kind: str, steps: Sequence[Tensor]) -> Tensor:
    """Stack one layer's `(heads, rows, keys)`. A step on a cache has one row, one without has all that there are."""
    first = steps[0].detach().float().cpu()
    heads, n_prompt = first.shape[:2]
    n_rows = n_prompt + len(steps) - 1
    n_keys = first.shape[-1] if kind == "cross" else n_rows
    out = first.new_zeros(heads, n_rows, n_keys)
    for at, step in enumerate(steps):
        rows = step.detach().float().cpu()[:, slice(None) if at == 0 else slice(-1, None)]
        seen = n_keys if kind == "cross" else n_prompt + at
        # A cache of fixed size has room behind the newest key, that of a sliding window only the newest keys.
        rows = rows[..., :seen] if rows.shape[-1] >= seen else torch.nn.functional.pad(rows, (seen - rows.shape[-1], 0))
        out[:, slice(0, n_prompt) if at == 0 else slice(n_prompt + at - 1, n_prompt + at), :seen] = rows
    return out


def _row_of_each_step(kind: str, steps: Sequence[Sequence[Tensor | None]], item: int | None, beams: Any) -> list[int]:
    """Return which row of the batch the item was at each step; a beam moves between rows."""
    if beams is not None:
        at = require_item("The output", len(beams), "sequences", item)
        return [int(row) for row in beams[at][: len(steps)] if row >= 0]  # -1 stands behind the end of a sequence
    size = next(len(layer) for layer in steps[0] if layer is not None)
    return [require_item(f"The output's {kind}", size, "texts", item)] * len(steps)


def _read_names(cache: Mapping[Any, Any], item: int | None) -> dict[Kind | None, Tensor] | None:
    """Return the weights of a mapping from the names of modules or hooks; None where the names have no numbers."""
    names = [name for name in cache if isinstance(name, str) and re.search(r"\d", name)]
    if patterns := [name for name in names if name.endswith(_PATTERN)]:
        names = patterns
    elif len(names) < len(cache) or not all(isinstance(cache[name], Tensor) for name in names):
        return None
    kinds: dict[Kind | None, list[str]] = {}
    for name in sorted(names, key=lambda name: [int(number) for number in re.findall(r"\d+", name)]):
        kinds.setdefault(_kind_of_name(name), []).append(name)
    return {kind: _stack_layers(kind or SELF, [cache[name] for name in each], item) for kind, each in kinds.items()}


def _kind_of_name(name: str) -> Kind | None:
    if _CROSS.search(name):
        return "cross"
    return "decoder_self" if _DECODER.search(name) else "encoder_self" if _ENCODER.search(name) else None
