"""attnviz's attention as a function that transformers calls; the translator uses the same `attend`.

transformers 5 looks an attention function up by name each time a layer computes attention. This function turns the
arguments into an `AttentionCall`, and refuses arguments that it would have to ignore: an ignored argument changes the
weights, often too little on a short text for a comparison to notice.
"""

import math
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, eager_mask, sdpa_mask

from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.network.forward_pass import current_pass
from attnviz.transformer.attention import attend
from attnviz.transformer.masks import remember_causal
from attnviz.transformer.probe import AttentionCall

NAME, NAME_WITH_NUMBERS = "attnviz", "attnviz_numbers"
# Models whose other parts expect a float mask, 0 = may attend: NLLB-MoE's router would read a bool mask inverted.
_READ_MASKS = frozenset({"nllb-moe"})

# Arguments that do not change the weights: already part of query, key or mask, or only about what to return.
HARMLESS = frozenset(
    {
        *(
            "position_ids",
            "position_embeddings",
            "cache_position",
            "past_key_values",
            "cache",
            "use_cache",
            "token_type_ids",
        ),
        *(
            "input_ids",
            "output_attentions",
            "output_hidden_states",
            "output_router_logits",
            "return_dict",
            "logits_to_keep",
        ),
        *("encoder_hidden_states", "encoder_attention_mask", "is_causal", "deterministic", "hidden_states"),
    }
)
_TOO_LOW = torch.finfo(torch.float16).min / 2  # below every learned bias, above a masked score in any dtype


def attention(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None = None, **arguments: Any
) -> tuple[Tensor, None]:
    """Compute one attention call of a transformers model; return `(batch, q_len, heads, d_v)` and no weights.

    Raises ModelError for an argument that would be ignored.
    """
    arguments["chosen"] = chosen_keys(module, arguments, query.shape[1], key.shape[2])
    call = call_from_tensors((query, key, value), attention_mask, arguments)
    run = current_pass()
    context = attend(call) if run is None else run.attend(module, call)
    return context.transpose(1, 2).contiguous(), None


def explicit_mask(**arguments: Any) -> Tensor | None:
    """Return transformers' bool mask, written out even if its fused kernel would only be told `is_causal`.

    Return None if every key may be attended to.
    """
    written_out: dict[str, Any] = arguments | {"allow_is_causal_skip": False}
    mask = sdpa_mask(**written_out)
    return mask if mask is None else remember_causal(mask)


def register() -> None:
    """Register the attention implementations "attnviz" and "attnviz_numbers" with transformers."""
    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, explicit_mask)
    AttentionInterface.register(NAME_WITH_NUMBERS, attention)
    AttentionMaskInterface.register(NAME_WITH_NUMBERS, eager_mask)


def name_for(model: Any) -> str:
    """Return the name of the attention implementation, in transformers, that a model needs."""
    return NAME_WITH_NUMBERS if model.config.model_type in _READ_MASKS else NAME


def call_from_tensors(
    tensors: tuple[Tensor, Tensor, Tensor], mask: Tensor | None, arguments: dict[str, Any]
) -> AttentionCall:
    """Return an `AttentionCall` for query, key, value, a bool or float mask, and the other arguments by name.

    Raises ModelError for an argument that would be ignored.
    """
    query, key, value = tensors
    scale, bias = arguments.pop("scaling", None), arguments.pop("position_bias", None)
    softcap, sinks = arguments.pop("softcap", None), arguments.pop("s_aux", None)
    per_query, chosen = arguments.pop("sinks", None), arguments.pop("chosen", None)
    _refuse_what_is_ignored(arguments, mask, key.shape[2])
    mask, added = _mask_and_bias(mask, key.shape[2])
    mask = chosen if mask is None else mask if chosen is None else mask & chosen
    bias = _sum(_drop_zero_bias(bias), added)
    if per_query is not None:  # Inkling 2: scores minus a row's sink, with a sink of 0, have the same softmax
        bias, sinks = _sum(bias, -per_query), per_query.new_zeros(query.shape[1])
    return AttentionCall(
        query=query,
        key=_repeat_heads(key, query.shape[1]),
        value=_repeat_heads(value, query.shape[1]),
        scale=1 / math.sqrt(query.shape[-1]) if scale is None else float(scale),
        mask=mask,
        bias=bias,
        softcap=None if softcap is None else float(softcap),
        sinks=None if sinks is None else sinks.detach().reshape(1, -1, 1, 1),
        chosen=chosen,
    )


def chosen_keys(module: Any, arguments: dict[str, Any], heads: int, k_len: int) -> Tensor | None:
    """Return a mask `(batch, heads or 1, q_len, k_len)`, True for keys that an indexer chose; None if there is no
    indexer.

    transformers applies the choice itself for its own attention functions; any other function receives `indices`
    `(batch, q_len, keys)`, or MiniMax-M3's `block_indices` `(batch, groups, q_len, blocks)`, where -1 means no block.
    """
    indices, blocks = arguments.pop("indices", None), arguments.pop("block_indices", None)
    if indices is not None:
        chosen = torch.zeros((*indices.shape[:2], k_len), dtype=torch.bool, device=indices.device)
        return chosen.scatter(-1, indices.long(), value=True).unsqueeze(1)
    if blocks is None:
        return None
    size = module.indexer.block_size
    count = -(-k_len // size)
    kept = torch.zeros((*blocks.shape[:3], count + 1), dtype=torch.bool, device=blocks.device)
    kept = kept.scatter(-1, blocks.masked_fill(blocks < 0, count).long(), value=True)[..., :count]
    return kept.repeat_interleave(size, dim=-1)[..., :k_len].repeat_interleave(heads // blocks.shape[1], dim=1)


def _refuse_what_is_ignored(arguments: dict[str, Any], mask: Tensor | None, k_len: int) -> None:
    if arguments.pop("dropout", 0.0):
        raise ModelError(
            "The model is in training mode, so dropout would remove weights at random. Please call model.eval() first."
        )
    window = arguments.pop("sliding_window", None)
    if window is not None and mask is None and k_len > window:
        raise ModelError(f"The model limits attention to a window of {window} tokens, but its mask does not.")
    unknown = sorted(name for name, value in arguments.items() if value is not None and name not in HARMLESS)
    if unknown:
        raise ModelError(
            f"The model's attention takes {', '.join(map(repr, unknown))}, which attnviz does not implement. Its maps "
            "would be wrong."
        )


def _mask_and_bias(mask: Tensor | None, k_len: int) -> tuple[Tensor | None, Tensor | None]:
    """Split a bool or float mask into a bool mask (True = may attend) and the bias that a float mask adds."""
    if mask is None:
        return None, None
    if mask.dim() != 4:
        raise ModelError(f"The model's mask has shape {tuple(mask.shape)}; attnviz reads (batch, heads, query, key).")
    mask = mask if mask.shape[-1] == k_len else mask[..., :k_len]  # the same tensor for all layers, stored once
    if mask.dtype is torch.bool:
        return mask, None
    visible = mask > _TOO_LOW
    return visible, _drop_zero_bias(mask.masked_fill(~visible, 0.0))


def _drop_zero_bias(bias: Tensor | None) -> Tensor | None:
    """Return None for a bias of zeros, which T5 passes to its cross-attention: without a bias the fused kernel is
    faster.
    """
    return None if bias is None or not bool(bias.any()) else bias


def _sum(bias: Tensor | None, added: Tensor | None) -> Tensor | None:
    if bias is None or added is None:
        return added if bias is None else bias
    return bias + added


def _repeat_heads(tensor: Tensor, heads: int) -> Tensor:
    """Repeat key or value heads to the number of query heads; with grouped queries, neighbouring heads share one."""
    groups, rest = divmod(heads, tensor.shape[1])
    if rest:
        raise ModelError(f"The model has {heads} query heads and {tensor.shape[1]} key heads, which cannot be grouped.")
    return tensor if groups == 1 else tensor.repeat_interleave(groups, dim=1)
