"""Find attention weights in what other libraries return: transformers' outputs and `generate`, and caches by name.

| what | where its weights are |
| --- | --- |
| a forward pass of transformers | `attentions`, or `encoder_attentions`, `decoder_attentions`, `cross_attentions` |
| `generate(…, output_attentions=True, return_dict_in_generate=True)` | the same names; of a decoder a tuple a step |
| such a tuple alone | its layers, or its steps |
| TransformerLens' `run_with_cache` | `blocks.3.attn.hook_pattern` |
| timm's `AttentionExtract`, and your own hooks | any name with the layer's number in it |
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.tracing.trace_like import KINDS
from attnviz.transformer.probe import Kind

# Of a decoder-only model, or of an encoder: the field itself does not say which.
SELF = "attentions"
_FIELDS: Mapping[str, Kind | None] = {
    "encoder_attentions": "encoder_self", "decoder_attentions": "decoder_self", "cross_attentions": "cross", SELF: None,
}  # fmt: skip
_OTHERS = (  # of an output without weights
    "logits", "last_hidden_state", "sequences", "hidden_states", "past_key_values", "cache",
)  # fmt: skip
_CROSS, _DECODER = re.compile(r"cross", re.IGNORECASE), re.compile(r"(^|\.)decoder\.")
_ENCODER = re.compile(r"(^|\.)encoder\.")
_PATTERN = re.compile(r"\.hook_(cross_)?pattern$")  # TransformerLens keeps scores, queries and keys beside this one
HOW = "call the model with output_attentions=True, loaded with attn_implementation='eager'"
# Names of transformers' output classes. `CausalLMOutput` alone is also what a speech recogniser's encoder returns.
_DECODER_OUTPUT = re.compile(r"CausalLMOutputWith|DoubleHeadsModelOutput|^Generate(Beam)?DecoderOnly")
_ENCODER_OUTPUT = re.compile(r"MaskedLMOutput$|ForPreTrainingOutput$")
# Output classes whose encoder's columns are not the tokens, with the sentence that refuses them.
_NOT_TOKENS: Sequence[tuple[re.Pattern[str], str]] = (
    (re.compile(r"^(Maskformer|Donut)?Swin"),
     "Swin returns the attention within each window of an image, not of texts: "
     "give one window's weights, attentions[layer][window], and a name for each of its patches."),
    (re.compile(r"^Reformer"),
     "Reformer returns attention within buckets of tokens, so a column is not a token: "
     "its maps cannot be drawn from the output."),
    (re.compile(r"^Rwkv"),
     "RWKV has a recurrent state in the place of attention: what it returns as attentions are hidden states, "
     "so there are no maps."),
)  # fmt: skip
_OF_BANDS = re.compile(r"^(Longformer|LED)")
_GLOBAL = (
    "This model returns a window of neighbours for each token, and some tokens have global attention, whose columns "
    "stand before the window: its maps cannot be drawn from the output. Without global attention they can."
)
_WINDOW_ALONE = "Each token looks at its window alone: no token was given global attention."
_TWO_STREAMS = (
    "With target_mapping, XLNet returns two maps a layer, of its content stream and of its query stream: "
    "give one of them, [layer[0] for layer in outputs.attentions]."
)


@dataclass(frozen=True)
class OutputWeights:
    """The weights in an output: `(layers, heads, q_len, k_len)` of each kind that was asked for.

    The key None is a model's only self-attention, if the output's class does not say whether it is a decoder's.
    `steps` says how the rows of `generate` were stacked, None for one pass. `sequences` is the number of texts, `notes`
    say what the weights leave out.
    """

    weights: Mapping[Kind | None, Tensor]
    steps: "GenerateSteps | None" = None
    sequences: int = 1
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class GenerateSteps:
    """Rows of `generate`. The first `missing` rows are empty: the model had read their tokens before its first step.
    `first` counts these rows and those of the first step.
    """

    missing: int
    first: int


def weights_of(given: Any, item: int | None, kind: str | None, *, every_kind: bool) -> OutputWeights | None:
    """Return the weights in an output or a cache, None for anything else. Raises ValueError with one sentence.

    `kind` is the kind that the caller asks for; with `every_kind` and no `kind`, all kinds are read.
    """
    if _holds_nothing(given):
        raise ValueError(f"The given output holds no attention weights: {HOW}.")
    if _is_stepwise(given):  # `outputs.attentions` of generate
        given = {name: given for name, of in _FIELDS.items() if of == (kind or "decoder_self")}
    fields = {name: found for name in _FIELDS if (found := _field(given, name)) is not None}
    if fields:
        return _read_fields(given, fields, item, kind, every_kind=every_kind)
    if any(_field(given, name) is not None for name in _OTHERS):
        raise ValueError(f"The output has no attention weights: {HOW}.")
    cache = getattr(given, "cache_dict", given)  # TransformerLens' cache is no mapping, but holds one
    if isinstance(cache, Mapping) and cache and not any(name in KINDS for name in cache):
        names = _read_names(cache)
        if names is None:
            return None
        chosen = _choose(names, kind, every_kind=every_kind)
        return OutputWeights(
            {of: _stack_layers(of or SELF, [cache[name] for name in names[of]], item) for of in chosen}
        )
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


def shared_item(item: int | None, size: int, sequences: int) -> int | None:
    """Return the index, in a batch of `size`, of the text that a sequence was made from: `generate` may return several
    sequences for each text.
    """
    is_shared = item is not None and 0 < size < sequences and sequences % size == 0
    return item % sequences // (sequences // size) if is_shared and item is not None else item


def _holds_nothing(given: Any) -> bool:
    """Check for the tuple of None, or of empty tuples, that fused attention leaves in place of weights."""
    return isinstance(given, tuple) and all(part is None or part == () for part in given)


def _is_stepwise(given: Any) -> bool:
    """Check for a tuple of tuples of weights with a batch, as `generate` returns them."""
    first = given[0] if isinstance(given, list | tuple) and given else None
    return (
        isinstance(first, list | tuple)
        and any(isinstance(layer, Tensor) for layer in first)
        and all(layer is None or (isinstance(layer, Tensor) and layer.ndim == 4) for layer in first)
    )


def _field(given: Any, name: str) -> Any:
    if isinstance(given, Mapping):
        return given.get(name)
    return None if isinstance(given, Tensor | type) else getattr(given, name, None)


def _read_fields(
    given: Any, fields: Mapping[str, Any], item: int | None, kind: str | None, *, every_kind: bool
) -> OutputWeights:
    held = {name: layers for name, found in fields.items() if (layers := _layers_of(found))}
    if not held:  # an encoder has an empty cross_attentions beside its attentions
        raise ValueError(f"{' and '.join(fields)} hold no weights: {HOW}.")
    beams = _field(given, "beam_indices")
    sequences = _n_rows(held) if beams is None else len(beams)
    kinds = {_kind_of_field(name, given, held, kind): name for name in held}
    out = OutputWeights({}, sequences=sequences)
    for of in _choose(kinds, kind, every_kind=every_kind):
        name, layers = kinds[of], held[kinds[of]]
        _check_class(type(given).__name__, name, layers)
        if isinstance(layers[0], Sequence):
            weights, steps = _stack_steps(of or name, layers, item, beams)
            out = replace(out, steps=steps if of != "cross" else out.steps)
        else:
            if name in (SELF, "encoder_attentions") and _OF_BANDS.match(type(given).__name__):
                layers, out = _unroll(given, layers), replace(out, notes=(_WINDOW_ALONE,))
            shared = shared_item(item, len(layers[0]), sequences)
            weights = _stack_layers(of or name, layers, shared, has_batch=hasattr(given, "to_tuple"))
            _check_weights(of or name, weights)
        out = replace(out, weights={**out.weights, of: weights})
    return out


def _kind_of_field(name: str, given: Any, held: Mapping[str, Any], kind: str | None) -> Any:
    """Return the kind of a field's weights; for a model's only self-attention, what the output's class says."""
    if (of := _FIELDS[name]) is not None:
        return of
    if (
        "cross_attentions" in held
        or _DECODER_OUTPUT.search(type(given).__name__)
        or isinstance(held[name][0], Sequence)
    ):
        return "decoder_self"
    if _ENCODER_OUTPUT.search(type(given).__name__):
        return "encoder_self"
    return kind if kind in ("encoder_self", "decoder_self") else None


def _choose(kinds: Mapping[Any, Any], kind: str | None, *, every_kind: bool) -> list[Any]:
    """Return which of the kinds in an output the caller means. Raises ValueError if the caller has to say so."""
    names = ", ".join(of or "self-attention" for of in kinds)
    if kind is None and len(kinds) > 1 and not every_kind:
        raise ValueError(f'The output holds {names}: give one kind=…, or tokens as {{"src": …, "tgt": …}} for all.')
    if kind is None or None in kinds:
        return list(kinds)
    if kind not in kinds:
        raise ValueError(f"The output holds no {kind}, but {names}.")
    return [kind]


def _check_class(output: str, name: str, layers: Sequence[Any]) -> None:
    """Raise ValueError for outputs whose columns are not the text's tokens."""
    for outputs, sentence in _NOT_TOKENS:
        if name in (SELF, "encoder_attentions") and outputs.match(output):
            raise ValueError(sentence)
    is_pair = isinstance(layers[0], Sequence) and len(layers[0]) == 2
    if is_pair and (output.startswith("XLNet") or _has_equal_rows(layers)):
        raise ValueError(_TWO_STREAMS)


def _has_equal_rows(layers: Sequence[Sequence[Any]]) -> bool:
    """Check whether apparent steps are layers: each has as many rows as the first, and more than one."""
    rows = {part.shape[-2] for layer in layers for part in layer[:1] if isinstance(part, Tensor)}
    return len(layers) > 1 and len(rows) == 1 and rows != {1}


def _unroll(given: Any, bands: Sequence[Tensor]) -> list[Tensor]:
    """Give each layer of bands a column for each key. Raises ValueError if any token has global attention."""
    if any(_field(given, f"{side}global_attentions") for side in ("", "encoder_")) or bands[0].shape[-1] % 2 == 0:
        raise ValueError(_GLOBAL)
    return [unroll_band(band, band.shape[-1] // 2) for band in bands]


def unroll_band(band: Tensor, reach: int) -> Tensor:
    """Turn a band `(…, q_len, 2 reach + 1)` around each query into weights `(…, q_len, q_len)`.

    Column j of a band is key q - reach + j of query q (Beltagy et al. 2020).
    """
    length = band.shape[-2]
    wide = band.new_zeros((*band.shape[:-1], length + 2 * reach))
    keys = torch.arange(length, device=band.device)[:, None] + torch.arange(2 * reach + 1, device=band.device)
    wide.scatter_(-1, keys.expand(band.shape), band)
    return wide[..., reach : reach + length]


def _check_weights(kind: str, weights: Tensor) -> None:
    if bool((weights < 0).any()):
        raise ValueError(
            f"What this model returns as {kind} has values below 0, so these are no attention weights. If they are "
            "scores, apply the model's mask and a softmax over the keys, and give the result."
        )


def _n_rows(held: Mapping[str, Any]) -> int:
    """Count the texts of an output: the largest batch in any field, each beam counted."""
    firsts = [layers[0] if not isinstance(layers[0], Sequence) else layers[0][0] for layers in held.values()]
    return max((len(first) for first in firsts if isinstance(first, Tensor)), default=1)


def _layers_of(given: Any) -> list[Any]:
    """Return the layers that have weights (a hybrid model's others have None), or the steps."""
    if not isinstance(given, Sequence):
        raise ValueError(f"attentions is a tuple of each layer's weights, not a {type(given).__name__}.")
    return [
        part for part in given
        if part is not None and not (isinstance(part, Sequence) and all(layer is None for layer in part))
    ]  # fmt: skip


def _stack_layers(kind: str, layers: Iterable[Any], item: int | None, *, has_batch: bool = False) -> Tensor:
    """Stack one text's `(heads, q_len, k_len)` of each layer. A layer of three axes is one text's, but not in what a
    model of transformers returns, which always has a batch: there it is a hidden state.
    """
    layers = [torch.as_tensor(layer) if isinstance(layer, np.ndarray) else layer for layer in layers]
    is_one_text = [not has_batch and isinstance(layer, Tensor) and layer.ndim == 3 for layer in layers]
    said = find_other_axes([layer[None] if one else layer for layer, one in zip(layers, is_one_text, strict=True)])
    if said is not None:
        raise ValueError(
            f"What is given of {kind} is not attention from token to token ({said}), as in a model that pools or "
            "compresses its text, or returns states: give the layers that are attention, as a list."
        )
    texts = [layer if one else select_item(kind, layer, item) for layer, one in zip(layers, is_one_text, strict=True)]
    return torch.stack([text.detach().float().cpu() for text in texts])


def find_other_axes(layers: Sequence[Any], q_len: int | None = None, k_len: int | None = None) -> str | None:
    """Describe the first layer that is not `(batch, heads, q_len, k_len)`; None if every layer is.

    Lengths that are not given are those of the first layer, as is the number of heads.
    """
    heads = None
    for number, layer in enumerate(layers):
        if not isinstance(layer, Tensor):
            return f"layer {number} is a {type(layer).__name__} and no table of queries and keys"
        if layer.dim() != 4:
            return f"layer {number} has the shape {tuple(layer.shape)}, and not (texts, heads, queries, keys)"
        found_heads, rows, columns = layer.shape[1:]
        heads, q_len, k_len = heads or found_heads, q_len or rows, k_len or columns
        if rows != q_len:
            return f"layer {number} has {rows} rows for {q_len} tokens"
        if columns != k_len:
            return f"layer {number} has {columns} columns for {k_len} tokens"
        if found_heads != heads:
            return f"layer {number} has {found_heads} heads, and layer 0 has {heads}"
    return None


def _stack_steps(
    kind: str, steps: Sequence[Sequence[Tensor | None]], item: int | None, beams: Any
) -> tuple[Tensor, GenerateSteps]:
    """Stack the steps of `generate`: the first has the prompt's rows, each other one adds the row of its token."""
    rows = _row_of_each_step(kind, steps, item, beams)
    layers = [[layer for layer in step if layer is not None] for step in steps[: len(rows)]]
    n_prompt = layers[0][0].shape[-2]
    if any(layer.shape[-2] not in (1, n_prompt + at) for at, step in enumerate(layers) for layer in step[:1] if at):
        raise ValueError(f"A step of {kind} has several rows, as assisted decoding gives: generate without it.")
    each = [[step[layer][row].detach().float().cpu() for step, row in zip(layers, rows, strict=True)]
            for layer in range(len(layers[0]))]  # fmt: skip
    missing = 0 if kind == "cross" else max(_n_seen(layer[0]) for layer in each) - n_prompt
    told = GenerateSteps(max(missing, 0), max(missing, 0) + n_prompt)
    return torch.stack([_stack_layer(kind, layer, told) for layer in each]), told


def _n_seen(first: Tensor) -> int:
    """Count the keys up to the newest token's own in a first step. A cache of fixed size has empty room behind it."""
    return int(first[:, -1].any(dim=0).nonzero().max()) + 1 if bool(first[:, -1].any()) else first.shape[-2]


def _stack_layer(kind: str, steps: Sequence[Tensor], told: GenerateSteps) -> Tensor:
    """Stack one layer's `(heads, rows, keys)`. A step on a cache has one row, one without has all that there are."""
    n_rows = told.first + len(steps) - 1
    n_keys = steps[0].shape[-1] if kind == "cross" else n_rows
    out = steps[0].new_zeros(len(steps[0]), n_rows, n_keys)
    for at, step in enumerate(steps):
        rows = step[:, slice(None) if at == 0 else slice(-1, None)]
        seen = n_keys if kind == "cross" else told.first + at
        # A cache of fixed size has room behind the newest key, that of a sliding window only the newest keys.
        rows = rows[..., :seen] if rows.shape[-1] >= seen else torch.nn.functional.pad(rows, (seen - rows.shape[-1], 0))
        start = told.missing if at == 0 else told.first + at - 1
        out[:, start : told.first + at, :seen] = rows
    return out


def _row_of_each_step(kind: str, steps: Sequence[Sequence[Tensor | None]], item: int | None, beams: Any) -> list[int]:
    """Return which row of the batch the item was at each step; a beam moves between rows."""
    if beams is not None:
        at = require_item("The output", len(beams), "sequences", item)
        return [int(row) for row in beams[at][: len(steps)] if row >= 0]  # -1 stands behind the end of a sequence
    size = next(len(layer) for layer in steps[0] if layer is not None)
    return [require_item(f"The output's {kind}", size, "texts", item)] * len(steps)


def _read_names(cache: Mapping[Any, Any]) -> dict[Kind | None, list[str]] | None:
    """Return the names of modules or hooks of each kind, in the order of their layers; None if the names have no
    numbers.

    Raises ValueError if the names of a kind belong to several stacks.
    """
    names = [name for name in cache if isinstance(name, str) and re.search(r"\d", name)]
    if patterns := [name for name in names if _PATTERN.search(name)]:
        names = patterns
    elif len(names) < len(cache) or not all(isinstance(cache[name], Tensor) for name in names):
        return None
    kinds: dict[Kind | None, list[str]] = {}
    for name in sorted(names, key=lambda name: [int(number) for number in re.findall(r"\d+", name)]):
        kinds.setdefault(_kind_of_name(name), []).append(name)
    for kind, each in kinds.items():
        stacks = list(dict.fromkeys(re.sub(r"\d+", "N", name) for name in each))
        if len(stacks) > 1:
            raise ValueError(
                f"The names of {kind or 'self-attention'} belong to {len(stacks)} stacks ({', '.join(stacks)}): "
                "give the weights of one stack."
            )
    return kinds


def _kind_of_name(name: str) -> Kind | None:
    if _CROSS.search(name):
        return "cross"
    return "decoder_self" if _DECODER.search(name) else "encoder_self" if _ENCODER.search(name) else None
