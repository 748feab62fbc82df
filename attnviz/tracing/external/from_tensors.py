"""Make a trace from given attention weights.

Raises ValueError, with a message of one sentence, for arguments that do not fit together.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.guards.arguments import reads_arguments
from attnviz.text.display import display
from attnviz.text.tokens import Token
from attnviz.tracing.external.outputs import GenerateSteps, OutputWeights, select_item, weights_of
from attnviz.tracing.external.padding import PaddedSide, Padding, masks_by_side, read_side
from attnviz.tracing.external.tokens import OWN, batch_size, join_sorted, sentence_of, sides, tokens_of
from attnviz.tracing.external.weights import BareWeights, block_starts
from attnviz.tracing.record import RunInfo
from attnviz.tracing.trace import KINDS
from attnviz.transformer.probe import Kind

TOLERANCE = 2e-3  # rows of a bfloat16 softmax sum to 1 within this
# Errors that NumPy and torch raise for what is not an array. RuntimeError: tensors with a gradient inside lists, and
# meta tensors, which have a shape but no values.
_NO_ARRAY = (TypeError, ValueError, RuntimeError)


_JOINT = (
    "The decoder has one softmax over the tokens of its target and of the source: a row of decoder_self and the same "
    "row of cross sum to 1 together."
)


@dataclass(frozen=True)
class _GivenWeights:
    """Weights as the user gave them, padding included, and the tokens of both sides.

    The key None is self-attention whose kind is inferred from the weights after padding is removed.
    """

    weights: Mapping[Any, Tensor]
    texts: Mapping[str, PaddedSide]
    masks: Mapping[Any, Any]
    steps: GenerateSteps | None = None
    notes: tuple[str, ...] = ()
    are_output: bool = False  # a model's output object, not bare tensors


@reads_arguments
def from_tensors(  # noqa: PLR0913 - users describe their own weights by these arguments
    attn: Any, tokens: Any, *, key_tokens: Any = None, kind: str | None = None, mask: Any = None,
    item: int | None = None, tokenizer: Any = None, attention_mask: Any = None,
) -> BareWeights:  # fmt: skip
    """Make a trace from your own attention weights, for every view that needs only weights.

    Such views are Heads, links, the whole model, and heatmaps.

    Args:
        attn: `(layers, heads, q_len, k_len)`, `(heads, q_len, k_len)` or `(q_len, k_len)`, as a tensor, an array or
            nested lists; or a list with `(batch, heads, q_len, k_len)` for each layer; or a mapping from kind to any
            of these; or the output of a transformers model with `output_attentions=True`, also from `generate`,
            whose steps are stacked, one row for each step; or TransformerLens' cache, or a mapping from names that
            contain the layer's number.
        tokens: the query tokens, a string (or `Token`) for each row, or ids with a `tokenizer`; for a batch also a
            list for each item. With weights of several kinds: `{"src": …, "tgt": …}`, where a target with one token
            more than there are decoder rows labels the rows `input → output`.
        key_tokens: the key tokens, if they are not the query tokens; in the same form as `tokens`.
        kind: "encoder_self", "decoder_self" or "cross". By default: "cross" with `key_tokens`; otherwise the kind
            that the class of a model's output implies; otherwise "decoder_self" if rows attend to earlier tokens and
            none to later ones; otherwise "encoder_self".
        mask: bool `(q_len, k_len)`, True = may attend; with a mapping of weights, a mapping from kind to mask. Rows of
            `generate` get the causal mask. A cell that holds weight counts as allowed even if the mask forbids it,
            and a note says so.
        item: which text of a batch, or which of the sequences that `generate` returned.
        tokenizer: the tokenizer of the ids, from transformers or tokenizers.
        attention_mask: the attention mask that a transformers tokenizer returns: 1 for a token, 0 for padding, which
            is left out. In cross-attention it belongs to the keys; for several kinds it can be a mapping,
            `{"src": …, "tgt": …}`. Without a mask, padding is recognized by the tokenizer's padding id.

    Rows that do not sum to 1 are kept as they are and named in `info.notes`. Raises ValueError, with a message of one
    sentence, for shapes that do not fit each other or the tokens, for weights that are not finite, for an unknown
    kind, and for maps whose columns are not the tokens.
    """
    is_by_side = isinstance(tokens, Mapping) and "input_ids" not in tokens
    asked = kind or ("cross" if key_tokens is not None else None)
    output: OutputWeights | None = weights_of(attn, item, asked, every_kind=is_by_side)
    if output is None and isinstance(attn, Mapping) and not is_by_side:
        raise ValueError('If there are weights of several kinds, tokens must be a dictionary: {"src": …, "tgt": …}.')
    given: Mapping[Any, Any] = output.weights if output else attn if isinstance(attn, Mapping) else {asked: attn}
    masks = mask if isinstance(mask, Mapping) else {} if mask is None else {next(iter(given), None): mask}
    _check_kinds(given, (*masks, kind))
    sequences = max(batch_size(tokens), batch_size(key_tokens), output.sequences if output else 1)
    read = [tokens_of(each, tokenizer, item, sequences) for each in (tokens, key_tokens)]
    named = read[0] if is_by_side else sides(next(iter(given)), *read)
    hidden = masks_by_side(attention_mask, tokens, key_tokens, tuple(named))
    texts = {side: read_side(each, hidden.get(side), tokenizer, item, sequences) for side, each in named.items()}
    weights = {name: _maps(name or "self-attention", given[name], None if output else item) for name in given}
    if output:
        return _trace_of(_GivenWeights(weights, texts, masks, output.steps, output.notes, are_output=True))
    notes = tuple(note for each in given.values() for note in _axis_notes(each, item))
    return _trace_of(_GivenWeights(weights, texts, masks, notes=notes))


def _check_kinds(given: Mapping[Any, Any], others: Iterable[Any]) -> None:
    if unknown := [name for name in (*given, *others) if name not in (None, *KINDS)]:
        raise ValueError(f"There is no kind of attention called {unknown[0]!r}. Please use one of {', '.join(KINDS)}.")
    if not given:
        raise ValueError("No weights were given. Please pass attn for at least one kind of attention.")


def _axis_notes(given: Any, item: int | None) -> list[str]:
    """Return notes that say which axis was taken for the heads or the batch, if the shape is ambiguous."""
    is_list = isinstance(given, list | tuple) and bool(given) and isinstance(given[0], Tensor | np.ndarray)
    shape = tuple(getattr(given[0] if is_list else given, "shape", ()))
    if len(shape) == 3 and item is None and shape[0] > 1:
        return [
            f"The first axis of {shape} was taken for {shape[0]} heads of one text. If these are {shape[0]} texts "
            "(nn.MultiheadAttention averages its heads unless asked not to), say which one with item=…."
        ]
    if len(shape) == 4 and item is not None and not is_list and 1 not in shape[:2]:
        return [
            f"The first axis of {shape} was taken as the axis of {shape[0]} texts, and the second as the axis of heads."
        ]
    return []


def _trace_of(given: _GivenWeights) -> BareWeights:
    """Build the trace, after removing padding and inferring the kind if it is unknown."""
    for name, maps in given.weights.items():
        _check_axes(name, maps, given)
    padding = Padding.of(given.weights, given.texts)
    cut = {name: padding.cut(maps, name) for name, maps in given.weights.items()}
    names: dict[Kind, Any] = {name or _kind_of(cut[name]): name for name in cut}
    weights: dict[Kind, Tensor] = {kind: cut[names[kind]] for kind in KINDS if kind in names}
    own = "src" if "encoder_self" in names else "tgt"
    sentence = sentence_of(weights, {own if side == OWN else side: each for side, each in padding.tokens().items()})
    masks, notes = _read_masks(given, names, padding)
    trace = BareWeights(weights=weights, sentences=(sentence,), masks=masks)
    notes = (*given.notes, *padding.notes(), *notes, *_step_notes(given, padding, sentence.tgt))
    if is_joint := _is_joint(weights):
        notes = (*notes, _JOINT)
    each = (partial(_flaws, is_joint=is_joint), _looks_ahead, _packed_texts)
    flaws = (note for name in weights for describe in each for note in describe(trace, name))
    return replace(trace, info=RunInfo(model_id=_name(trace), notes=(*notes, *flaws)))


def _check_axes(name: str | None, maps: Tensor, given: _GivenWeights) -> None:
    """Raise ValueError if the columns of self-attention maps are not the tokens."""
    q_len, k_len = maps.shape[-2:]
    if name == "cross":
        return
    extra, n_tokens = k_len - q_len, {len(text.tokens) for text in given.texts.values() if text.tokens}
    if extra > 0 and q_len in n_tokens and given.are_output:
        raise ValueError(
            f"The maps have {q_len} rows and {k_len} columns for {q_len} tokens, so the model also "
            "attends to keys that are not tokens of this text, such as compressed keys, a prefix or a "
            "memory. To see these keys, pass outputs.attentions with kind='cross' and key_tokens with "
            f"names for all {k_len} columns."
        )
    if extra in (1, 2) and q_len in n_tokens:
        added = "bias_kv or zero_attn" if extra == 1 else "bias_kv, zero_attn"
        raise ValueError(
            f"The maps have {q_len} rows and {k_len} columns, so some keys are not tokens. "
            "nn.MultiheadAttention(add_bias_kv=True) and add_zero_attn=True append such keys. Please "
            f"leave them out, attn[..., :{q_len}], or give kind='cross' and key_tokens with names for "
            f"all {k_len} columns, the last of them {added}."
        )
    if extra == 0 and _is_band(maps):
        raise ValueError(
            "The columns are a window of neighbours around each token, as Longformer returns it, and not the tokens: "
            "such maps cannot be drawn."
        )


def _is_band(maps: Tensor) -> bool:
    """Check whether the columns of maps are a window of neighbours, by the empty corners: column j is key q - width / 2
    + j.
    """
    length = maps.shape[-1]
    if length < 3 or length % 2 == 0:
        return False
    places = torch.arange(length)
    key = places[:, None] - length // 2 + places
    is_empty = maps.eq(0).flatten(0, 1)
    outside = (key < 0) | (key >= length)
    return bool(is_empty[:, outside].all()) and not bool(is_empty[:, ~outside].any())


def _kind_of(maps: Tensor) -> Kind:
    """Infer the kind of self-attention: a decoder's if some rows attend to earlier tokens and none to later ones.

    Leading rows of padding are ignored: their weights are uniform, and no other row attends to them.
    """
    if maps.shape[-2] != maps.shape[-1]:
        return "encoder_self"
    spread = (maps.amax(dim=-1) - maps.amin(dim=-1)).amax(dim=(0, 1))
    even = int((spread > 1e-6).int().argmax()) if bool((spread > 1e-6).any()) else 0
    if not bool(maps[..., even:, :even].any()):
        maps = maps[..., even:, even:]
    is_causal = not bool(maps.triu(1).any()) and bool(maps.tril(-1).any())
    return "decoder_self" if is_causal else "encoder_self"


def _maps(kind: str, given: Any, item: int | None = None) -> Tensor:
    """Convert weights to `(layers, heads, q_len, k_len)` in float32 on the CPU."""
    if isinstance(given, (list, tuple)) and given and all(isinstance(part, (Tensor, np.ndarray)) for part in given):
        attn = _stack_parts(kind, given, item)
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
            f"attn of {kind} is not finite at layer {at[0]}, head {at[1]}, row {at[2]}, key {at[3]}. "
            "Please replace such weights, by zeros for example."
        )
    return attn


def _stack_parts(kind: str, given: Any, item: int | None) -> Tensor:
    """Stack a list of layers. With an item, a layer with three axes is `(batch, q_len, k_len)`, averaged over heads."""
    shapes = {tuple(part.shape) for part in given}
    if len(shapes) > 1:
        hint = (
            "If the weights come from nn.MultiheadAttention, please pass the second of the two values that it returns."
        )
        if all(len(shape) == 4 for shape in shapes):
            hint = (
                "This happens with models that pool or compress their text, or that return hidden "
                "states. Please pass only the other layers."
            )
        raise ValueError(
            f"The layers of {kind} have different shapes ({join_sorted(shapes)}), but all layers must have "
            f"the same shape. {hint}"
        )
    parts = [_tensor(kind, part) for part in given]
    if parts[0].ndim == 4:
        parts = [select_item(kind, part, item) for part in parts]
    elif parts[0].ndim == 3 and item is not None:
        parts = [select_item(kind, part, item)[None] for part in parts]
    return torch.stack(parts)


def _tensor(kind: str, given: Any) -> Tensor:
    try:
        tensor = _to_cpu(given)
        if tensor.is_complex():
            raise ValueError("it holds complex numbers, and weights are real")
        return tensor.float().contiguous()
    except _NO_ARRAY as error:
        raise ValueError(f"attn of {kind} is not an array of numbers: {_first_line(error)}.") from None


def _to_cpu(given: Any) -> Tensor:
    """Convert an array to a dense tensor on the CPU. Raises one of `_NO_ARRAY` for anything else."""
    tensor = given.detach().cpu() if isinstance(given, Tensor) else torch.from_numpy(np.array(given))
    return tensor if tensor.layout is torch.strided else tensor.to_dense()


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")


def _read_masks(
    given: _GivenWeights, names: Mapping[Kind, Any], padding: Padding
) -> tuple[dict[Kind, Tensor], list[str]]:
    """Return the mask of each kind without padding, and notes on masks that forbid cells that hold weight."""
    masks: dict[Kind, Tensor] = {}
    notes = []
    by_kind: dict[Kind, Any] = {
        kind: given.masks[key] for kind, name in names.items() for key in {kind, name} if key in given.masks
    }
    if unknown := [key for key in given.masks if key not in (*names, *names.values())]:
        raise ValueError(f"You passed a mask for {unknown[0]}, but no weights of this kind.")
    for kind, made in by_kind.items():
        maps = given.weights[names[kind]]
        mask = padding.cut(_mask(kind, made, maps), names[kind])
        held = padding.cut(maps, names[kind]).ne(0).flatten(0, 1).any(dim=0)
        if count := int((held & ~mask).sum()):
            row, key = (int(at) for at in (held & ~mask).nonzero()[0])
            notes.append(
                f"The mask of {kind} forbids {count} cells that hold weight, the first at row {row}, "
                f"key {key}, so these weights were not computed with this mask. attnviz ignores the "
                "mask in these cells."
            )
        masks[kind] = mask | held
    if given.steps is not None and "decoder_self" in names and not masks:
        maps = given.weights[names["decoder_self"]]
        causal = torch.ones(maps.shape[-2:], dtype=torch.bool).tril()
        causal[: given.steps.missing] = False
        masks["decoder_self"] = padding.cut(causal | maps.ne(0).flatten(0, 1).any(dim=0), names["decoder_self"])
    return masks, notes


def _mask(kind: Kind, given: Any, maps: Tensor) -> Tensor:
    try:
        mask = _to_cpu(given)
    except _NO_ARRAY as error:
        raise ValueError(f"The mask of {kind} is not an array of bool: {_first_line(error)}.") from None
    if mask.dtype != torch.bool or mask.shape != maps.shape[-2:]:
        wanted = tuple(maps.shape[-2:])
        raise ValueError(
            f"The mask of {kind} must be a bool tensor of shape {wanted}, in which True means “may "
            f"attend”. The given mask has the shape {tuple(mask.shape)}."
        )
    return mask


def _step_notes(given: _GivenWeights, padding: Padding, tokens: Sequence[Token]) -> list[str]:
    """Return notes on rows that are missing in the output of `generate`, and on rows that belong to another token.

    The latter occur with assisted or prompt-lookup decoding: transformers returns rows of the prompt in their place.
    """
    name = next((name for name in given.weights if name in ("decoder_self", None)), "cross")
    if given.steps is None or name == "cross":
        return []
    kept = [place for place in padding.kept(name) if place < given.weights[name].shape[-2]]
    notes = []
    if count := sum(row < given.steps.missing for row in kept):
        rows = "The first row is" if count == 1 else f"The first {count} rows are"
        notes.append(
            f"{rows} empty: the model had read these tokens before, and generate returned no weights for them."
        )
    written = [row for row in kept if row >= given.steps.first]
    on_first = given.weights[name][:, :, written, kept[0]].eq(1).flatten(0, 1).all(dim=0)
    if bool(on_first.any()):
        row = kept.index(written[int(on_first.int().argmax())])
        notes.append(
            f"Row {row}, “{display(tokens[row].text)}”, gives all its weight to the first token in every head, as the "
            "first row does: with assisted or prompt-lookup decoding transformers returns rows of the prompt in place "
            "of the new tokens'. Generate without it."
        )
    return notes


def _looks_ahead(trace: BareWeights, kind: Kind) -> list[str]:
    """Return a note if rows of a decoder attend to later tokens."""
    if kind != "decoder_self":
        return []
    rows = trace.weights[kind].triu(1).flatten(0, 1).any(dim=0).any(dim=-1).nonzero().flatten().tolist()
    if not rows:
        return []
    token = display(trace.query_tokens(kind)[rows[0]].text)
    return [
        f"{len(rows)} of {trace.weights[kind].shape[-2]} rows of decoder_self look at later tokens (the first is row "
        f"{rows[0]}, “{token}”). Rows of padding do so; attention_mask=… leaves them out."
    ]


def _is_joint(weights: Mapping[Kind, Tensor]) -> bool:
    """Check whether rows of decoder self-attention and of cross-attention sum to 1 together, as in T5Gemma 2."""
    own, cross = weights.get("decoder_self"), weights.get("cross")
    if own is None or cross is None or own.shape[:3] != cross.shape[:3]:
        return False
    return bool(((own.sum(dim=-1) + cross.sum(dim=-1) - 1).abs() <= TOLERANCE).all())


def _flaws(trace: BareWeights, kind: Kind, *, is_joint: bool = False) -> list[str]:
    """Return notes on rows that do not sum to 1 and on weights outside 0 to 1.

    With `is_joint`, rows of a decoder need not sum to 1.
    """
    attn, notes = trace.weights[kind], []
    # Head by head: all maps in float64 at once would take twice the memory of the weights.
    sums = torch.stack([maps.double().sum(dim=-1) for maps in attn.flatten(0, 1)]).unflatten(0, attn.shape[:2])
    sees = trace.mask(kind).any(dim=-1)
    off = ((sums - 1).abs() > TOLERANCE) & ~((sums == 0) & ~sees)
    if is_joint and kind != "encoder_self":
        off = torch.zeros_like(off)
    if count := int(off.sum()):
        layer, head, row = (int(i) for i in off.nonzero()[0])
        token = display(trace.query_tokens(kind)[row].text)
        notes.append(
            f"{count} of {off.numel()} rows of {kind} do not sum to 1 (their sums run from "
            f"{float(sums[off].min()):.4g} to {float(sums[off].max()):.4g}; the first is L{layer} "
            f"H{head}, row {row}, “{token}”); the maps show them unchanged."
        )
    if count := int(((attn < 0) | (attn > 1)).sum()):
        notes.append(
            f"{count} weights of {kind} lie outside 0 to 1 (from {float(attn.min()):.4g} to "
            f"{float(attn.max()):.4g}); in the picture, colours and lines are limited to this range, "
            "but the numbers are shown as they are."
        )
    return notes


def _packed_texts(trace: BareWeights, kind: Kind) -> list[str]:
    starts = block_starts(trace, kind)
    if len(starts) == 1:
        return []
    return [
        f"The rows of {kind} fall into {len(starts)} blocks that do not look at each other, as packed texts do (they "
        f"begin at tokens {join_sorted(starts)}). A row's first token is therefore the first token of its block."
    ]


def _name(trace: BareWeights) -> str:
    """Return a short hash of the weights and masks, used as a model id."""
    content = hashlib.blake2b(digest_size=6)
    for kind, given in (*trace.weights.items(), *trace.masks.items()):
        content.update(f"{kind} {tuple(given.shape)} {given.dtype}".encode())
        content.update(given.contiguous().numpy().data)
    return f"own-{content.hexdigest()}"
