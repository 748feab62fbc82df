"""Find attention weights in the outputs of other libraries: transformers' outputs and `generate`, caches by name.

| object | where its weights are |
| --- | --- |
| output of a transformers model | `attentions`, or `encoder_attentions`, `decoder_attentions`, `cross_attentions` |
| `generate(…, output_attentions=True, return_dict_in_generate=True)` | the same names; a decoder has a tuple per step |
| the tuple alone | its layers, or its steps |
| TransformerLens' `run_with_cache` | `blocks.3.attn.hook_pattern` |
| timm's `AttentionExtract`, and your own hooks | any name that contains the layer's number |
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

# The field of a decoder-only model or an encoder: the name does not say which.
SELF = "attentions"
_FIELDS: Mapping[str, Kind | None] = {
    "encoder_attentions": "encoder_self", "decoder_attentions": "decoder_self", "cross_attentions": "cross", SELF: None,
}  # fmt: skip
_OTHERS = (  # fields of a model's output that hold no attention weights
    "logits", "last_hidden_state", "sequences", "hidden_states", "past_key_values", "cache",
)  # fmt: skip
_CROSS, _DECODER = re.compile(r"cross", re.IGNORECASE), re.compile(r"(^|\.)decoder\.")
_ENCODER = re.compile(r"(^|\.)encoder\.")
_PATTERN = re.compile(r"\.hook_(cross_)?pattern$")  # the cache also holds scores, queries and keys, by other names
HOW = "call the model with output_attentions=True, loaded with attn_implementation='eager'"
# Names of transformers' output classes. A plain `CausalLMOutput` can also come from a speech recognizer's encoder.
_DECODER_OUTPUT = re.compile(r"CausalLMOutputWith|DoubleHeadsModelOutput|^Generate(Beam)?DecoderOnly")
_ENCODER_OUTPUT = re.compile(r"MaskedLMOutput$|ForPreTrainingOutput$")
# Output classes whose attention columns are not tokens, with the error message for each.
_NOT_TOKENS: Sequence[tuple[re.Pattern[str], str]] = (
    (re.compile(r"^(Maskformer|Donut)?Swin"),
     "Swin returns the attention within each window of an image, not of texts. Please pass one "
         "window's weights, attentions[layer][window], and a name for each of its patches."),
    (re.compile(r"^Reformer"),
     "Reformer returns attention within buckets of tokens, so a column is not a token: "
     "its maps cannot be drawn from the output."),
    (re.compile(r"^Rwkv"),
     "RWKV has a recurrent state instead of attention: what it returns as attentions are hidden states, "
     "so there are no maps."),
)  # fmt: skip
_OF_BANDS = re.compile(r"^(Longformer|LED)")
_GLOBAL = (
    "This model returns a window of neighbours for each token, and some tokens have global attention, whose columns "
    "stand before the window: its maps cannot be drawn from the output. Without global attention they can."
)
_WINDOW_ALONE = "Each token attends only to its window: no token was given global attention."
_TWO_STREAMS = (
    "With target_mapping, XLNet returns two maps a layer, of its content stream and of its query stream: "
    "give one of them, [layer[0] for layer in outputs.attentions]."
)


@dataclass(frozen=True)
class OutputWeights:
    """The weights in a model's output: `(layers, heads, q_len, k_len)` for each requested kind.

    The key None is a model's only self-attention, if the output's class does not say whether it is a decoder. `steps`
    says how the rows of `generate` were stacked; it is None for a single pass. `sequences` is the number of texts, and
    `notes` say what the weights leave out.
    """

    weights: Mapping[Kind | None, Tensor]
    steps: "GenerateSteps | None" = None
    sequences: int = 1
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class GenerateSteps:
    """How rows of `generate` were stacked.

    The first `missing` rows are empty, because the model had processed their tokens before its first step. `first` is
    the number of these rows and the rows of the first step together.
    """

    missing: int
    first: int


def weights_of(given: Any, item: int | None, kind: str | None, *, every_kind: bool) -> OutputWeights | None:
    """Return the weights in a model's output or a cache, or None for anything else.

    `kind` is the kind that the caller asks for; with `every_kind` and no `kind`, all kinds are read. Raises ValueError,
    with a message of one sentence, if an output has no usable weights.
    """
    if _holds_nothing(given):
        raise ValueError(f"The given output contains no attention weights. Please {HOW}.")
    if _is_stepwise(given):  # `outputs.attentions` of generate
        given = {name: given for name, of in _FIELDS.items() if of == (kind or "decoder_self")}
    fields = {name: found for name in _FIELDS if (found := _field(given, name)) is not None}
    if fields:
        return _read_fields(given, fields, item, kind, every_kind=every_kind)
    if any(_field(given, name) is not None for name in _OTHERS):
        raise ValueError(f"The output contains no attention weights. Please {HOW}.")
    cache = getattr(given, "cache_dict", given)  # TransformerLens' cache is not a mapping, but contains one
    if isinstance(cache, Mapping) and cache and not any(name in KINDS for name in cache):
        names = _read_names(cache)
        if names is None:
            return None
        chosen = _choose_kinds(names, kind, every_kind=every_kind)
        return OutputWeights(
            {of: _stack_layers(of or SELF, [cache[name] for name in names[of]], item) for of in chosen}
        )
    return None


def select_item(kind: str, weights: Tensor, item: int | None) -> Tensor:
    """Return the weights of one batch item of `(batch, heads, q_len, k_len)`, without the batch axis."""
    return weights[require_item(f"The given {kind}", weights.shape[0], "texts", item)]


def require_item(what: str, size: int, things: str, item: int | None) -> int:
    """Return the index of the batch item. Raises ValueError if it is out of range, or needed but not given."""
    if item is None and size > 1:
        raise ValueError(f"{what} contains {size} {things}. Please choose one of them with item=0 to {size - 1}.")
    if not -size <= (item or 0) < size:
        raise ValueError(f"There is no item {item}: {what[:1].lower()}{what[1:]} has {size} {things}, 0 to {size - 1}.")
    return (item or 0) % size


def shared_item(item: int | None, size: int, sequences: int) -> int | None:
    """Return the batch index of the text that a sequence was generated from.

    `generate` may return several sequences for each text; `size` is the number of texts.
    """
    is_shared = item is not None and 0 < size < sequences and sequences % size == 0
    return item % sequences // (sequences // size) if is_shared and item is not None else item


def _holds_nothing(given: Any) -> bool:
    """Check for a tuple of None or empty tuples, which a model with fused attention returns instead of weights."""
    return isinstance(given, tuple) and all(part is None or part == () for part in given)


def _is_stepwise(given: Any) -> bool:
    """Check for a tuple of tuples of batched weights, as `generate` returns them."""
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
    if not held:  # an encoder's output has attentions and an empty cross_attentions
        raise ValueError(f"{' and '.join(fields)} contain no weights. Please {HOW}.")
    beams = _field(given, "beam_indices")
    sequences = _n_rows(held) if beams is None else len(beams)
    kinds = {_kind_of_field(name, given, held, kind): name for name in held}
    out = OutputWeights({}, sequences=sequences)
    for of in _choose_kinds(kinds, kind, every_kind=every_kind):
        name, layers = kinds[of], held[kinds[of]]
        _check_class(type(given).__name__, name, layers)
        if isinstance(layers[0], Sequence):
            weights, steps = _stack_steps(of or name, layers, item, beams)
            out = replace(out, steps=steps if of != "cross" else out.steps)
        else:
            if name in (SELF, "encoder_attentions") and _OF_BANDS.match(type(given).__name__):
                layers, out = _unroll_bands(given, layers), replace(out, notes=(_WINDOW_ALONE,))
            shared = shared_item(item, len(layers[0]), sequences)
            weights = _stack_layers(of or name, layers, shared, has_batch=hasattr(given, "to_tuple"))
            _check_weights(of or name, weights)
        out = replace(out, weights={**out.weights, of: weights})
    return out


def _kind_of_field(name: str, given: Any, held: Mapping[str, Any], kind: str | None) -> Any:
    """Return the kind of a field's weights; for a model's only self-attention, the output's class decides."""
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


def _choose_kinds(kinds: Mapping[Any, Any], kind: str | None, *, every_kind: bool) -> list[Any]:
    """Return the kinds in an output that the caller asks for. Raises ValueError if the request is ambiguous or
    missing.
    """
    names = ", ".join(of or "self-attention" for of in kinds)
    if kind is None and len(kinds) > 1 and not every_kind:
        raise ValueError(
            f"The output contains several kinds of attention ({names}). Please pass kind=… to choose "
            f'one of them, or pass tokens as {{"src": …, "tgt": …}} to keep all.'
        )
    if kind is None or None in kinds:
        return list(kinds)
    if kind not in kinds:
        raise ValueError(f"The output contains no weights of the kind {kind}; it contains {names}.")
    return [kind]


def _check_class(output: str, name: str, layers: Sequence[Any]) -> None:
    """Raise ValueError for output classes whose columns are not the text's tokens."""
    for outputs, sentence in _NOT_TOKENS:
        if name in (SELF, "encoder_attentions") and outputs.match(output):
            raise ValueError(sentence)
    is_pair = isinstance(layers[0], Sequence) and len(layers[0]) == 2
    if is_pair and (output.startswith("XLNet") or _has_equal_rows(layers)):
        raise ValueError(_TWO_STREAMS)


def _has_equal_rows(layers: Sequence[Sequence[Any]]) -> bool:
    """Check whether what looks like steps are layers: all have the same number of rows, more than one."""
    rows = {part.shape[-2] for layer in layers for part in layer[:1] if isinstance(part, Tensor)}
    return len(layers) > 1 and len(rows) == 1 and rows != {1}


def _unroll_bands(given: Any, bands: Sequence[Tensor]) -> list[Tensor]:
    """Turn each layer's bands into weights over all keys. Raises ValueError if a token has global attention."""
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
            f"What this model returns as {kind} has values below 0, so these are not attention weights. If they are "
            "scores, apply the model's mask and a softmax over the keys, and give the result."
        )


def _n_rows(held: Mapping[str, Any]) -> int:
    """Return the number of texts in an output: the largest batch in any field, with each beam counted."""
    firsts = [layers[0] if not isinstance(layers[0], Sequence) else layers[0][0] for layers in held.values()]
    return max((len(first) for first in firsts if isinstance(first, Tensor)), default=1)


def _layers_of(given: Any) -> list[Any]:
    """Return the layers that have weights, without the None of layers that have no attention; or the steps."""
    if not isinstance(given, Sequence):
        raise ValueError(f"attentions must be a tuple with the weights of each layer, not a {type(given).__name__}.")
    return [
        part for part in given
        if part is not None and not (isinstance(part, Sequence) and all(layer is None for layer in part))
    ]  # fmt: skip


def _stack_layers(kind: str, layers: Iterable[Any], item: int | None, *, has_batch: bool = False) -> Tensor:
    """Stack one text's weights `(heads, q_len, k_len)` of each layer.

    A layer with three axes is one text's weights. With `has_batch`, as in transformers' outputs, it is a hidden state
    and raises ValueError.
    """
    layers = [torch.as_tensor(layer) if isinstance(layer, np.ndarray) else layer for layer in layers]
    is_one_text = [not has_batch and isinstance(layer, Tensor) and layer.ndim == 3 for layer in layers]
    said = find_other_axes([layer[None] if one else layer for layer, one in zip(layers, is_one_text, strict=True)])
    if said is not None:
        raise ValueError(
            f"The given {kind} is not attention from token to token ({said}). This happens with models "
            "that pool or compress their text, or that return hidden states. Please pass only the "
            "layers that contain attention weights, as a list."
        )
    texts = [layer if one else select_item(kind, layer, item) for layer, one in zip(layers, is_one_text, strict=True)]
    return torch.stack([text.detach().float().cpu() for text in texts])


def find_other_axes(layers: Sequence[Any], q_len: int | None = None, k_len: int | None = None) -> str | None:
    """Describe the first layer that is not `(batch, heads, q_len, k_len)`, or return None if every layer is.

    The number of heads, and lengths that are not given, must equal those of the first layer.
    """
    heads = None
    for number, layer in enumerate(layers):
        if not isinstance(layer, Tensor):
            return f"layer {number} is a {type(layer).__name__} and not a table of queries and keys"
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
    """Stack the steps of `generate`: the first has the rows of the prompt, each further step adds its token's row."""
    rows = _row_of_each_step(kind, steps, item, beams)
    layers = [[layer for layer in step if layer is not None] for step in steps[: len(rows)]]
    n_prompt = layers[0][0].shape[-2]
    if any(layer.shape[-2] not in (1, n_prompt + at) for at, step in enumerate(layers) for layer in step[:1] if at):
        raise ValueError(f"A step of {kind} has several rows, as in assisted decoding. Please generate without it.")
    each = [[step[layer][row].detach().float().cpu() for step, row in zip(layers, rows, strict=True)]
            for layer in range(len(layers[0]))]  # fmt: skip
    missing = 0 if kind == "cross" else max(_n_seen(layer[0]) for layer in each) - n_prompt
    told = GenerateSteps(max(missing, 0), max(missing, 0) + n_prompt)
    return torch.stack([_stack_layer(kind, layer, told) for layer in each]), told


def _n_seen(first: Tensor) -> int:
    """Return the number of keys up to the newest token in the first step; a cache of fixed size has empty slots after
    it.
    """
    return int(first[:, -1].any(dim=0).nonzero().max()) + 1 if bool(first[:, -1].any()) else first.shape[-2]


def _stack_layer(kind: str, steps: Sequence[Tensor], told: GenerateSteps) -> Tensor:
    """Stack one layer's `(heads, rows, keys)`. A step with a cache has one row, a step without a cache has all rows."""
    n_rows = told.first + len(steps) - 1
    n_keys = steps[0].shape[-1] if kind == "cross" else n_rows
    out = steps[0].new_zeros(len(steps[0]), n_rows, n_keys)
    for at, step in enumerate(steps):
        rows = step[:, slice(None) if at == 0 else slice(-1, None)]
        seen = n_keys if kind == "cross" else told.first + at
        # A cache of fixed size has empty slots after the newest key; a sliding-window cache holds only the newest keys.
        rows = rows[..., :seen] if rows.shape[-1] >= seen else torch.nn.functional.pad(rows, (seen - rows.shape[-1], 0))
        start = told.missing if at == 0 else told.first + at - 1
        out[:, start : told.first + at, :seen] = rows
    return out


def _row_of_each_step(kind: str, steps: Sequence[Sequence[Tensor | None]], item: int | None, beams: Any) -> list[int]:
    """Return the batch row of the item at each step; with beam search the row changes between steps."""
    if beams is not None:
        at = require_item("The output", len(beams), "sequences", item)
        return [int(row) for row in beams[at][: len(steps)] if row >= 0]  # -1 follows the end of a sequence
    size = next(len(layer) for layer in steps[0] if layer is not None)
    return [require_item(f"The output's {kind}", size, "texts", item)] * len(steps)


def _read_names(cache: Mapping[Any, Any]) -> dict[Kind | None, list[str]] | None:
    """Return the names of modules or hooks for each kind, sorted by layer; None if the names have no numbers.

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
                f"The names of {kind or 'self-attention'} belong to {len(stacks)} stacks "
                f"({', '.join(stacks)}). Please pass the weights of one stack."
            )
    return kinds


def _kind_of_name(name: str) -> Kind | None:
    if _CROSS.search(name):
        return "cross"
    return "decoder_self" if _DECODER.search(name) else "encoder_self" if _ENCODER.search(name) else None
