"""Show a model of transformers that is in memory, fine-tuned, merged or quantised, as one from a folder is shown.

What is shown shares its weights and nothing else: modules are built a second time around the same tensors, so that the
model that was given stays as it was, its mode and its attention included.
"""

import copy
from os import PathLike
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.models.huggingface.architecture import (
    Architecture,
    is_encoder,
    positions,
    refuse_what_reads_no_text,
    vocabulary_of,
)
from attnviz.models.huggingface.errors import ModelError, reason
from attnviz.models.huggingface.files.folder import check_size, size_limit
from attnviz.models.huggingface.model import HuggingFaceModel
from attnviz.models.huggingface.network import attention_interface, patches
from attnviz.models.huggingface.replay import ReplayedModel
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer
from attnviz.models.huggingface.verification import verified_model
from attnviz.models.huggingface.weights import text_id, weights_id
from attnviz.transformer.device import DEVICES

_HALF = (torch.float16, torch.bfloat16)


def from_memory(
    model: Any, tokenizer: Any, *, device: torch.device | None = None, dtype: torch.dtype | None = None
) -> HuggingFaceModel | ReplayedModel:
    """Show a transformers model with its tokenizer, once it was compared with its own eager pass.

    It stays on its device and in its type unless others are asked for; then its weights are copied. A model in half
    precision is compared in float32, and one whose weights are packed (quantised) in what it computes in. Raises
    ModelError with one sentence.
    """
    whole = _unwrap_adapters(model)
    _check_model(whole, tokenizer)
    _check_device(whole, moves=device is not None)
    if whole.get_output_embeddings() is None:  # a classifier's answer is no token's
        whole = whole.base_model
    attention_interface.register()
    try:
        text = CheckpointTokenizer(
            copy.deepcopy(tokenizer), max_tokens=positions(whole.config), known=vocabulary_of(whole.config),
            takes_pairs=is_encoder(whole.config),
        )  # fmt: skip
        shown = _share_or_copy(whole, device, dtype)
        made = _verify(shown, text, _architecture(whole))
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{type(whole).__name__} cannot be shown ({reason(error)}).") from error
    made.name, made.text_id = _name(whole), text_id(tokenizer)
    if not _shares(whole, shown):  # no code outside can train these
        made.known_id = weights_id(whole, made.text_id)
    return made


def _shares(model: nn.Module, shown: nn.Module) -> bool:
    return next(model.parameters()).data_ptr() == next(shown.parameters()).data_ptr()


def _unwrap_adapters(model: Any) -> Any:
    """Return the transformers model inside a PEFT model, whose adapters sit in its layers."""
    return model.get_base_model() if hasattr(model, "get_base_model") and hasattr(model, "peft_config") else model


def _check_model(model: Any, tokenizer: Any) -> None:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    if not isinstance(model, PreTrainedModel):
        raise ModelError(
            f"attnviz.load takes a model of transformers with its tokenizer, not {type(model).__name__}: for another "
            "model's weights there is attnviz.from_tensors."
        )
    if tokenizer is None:
        raise ModelError("A model in memory needs its tokenizer: attnviz.load(model, tokenizer).")
    if isinstance(tokenizer, str | PathLike):
        raise ModelError(
            "A tokenizer is transformers' own, not its name: "
            f"transformers.AutoTokenizer.from_pretrained({str(tokenizer)!r}) reads one."
        )
    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise ModelError(f"A tokenizer is one of transformers, not a {type(tokenizer).__name__}.")
    if any(parameter.is_meta for parameter in model.parameters()):
        raise ModelError("Some of the model's weights are not in memory (meta tensors): load it whole.")


def _check_device(model: nn.Module, *, moves: bool) -> None:
    """Raise ModelError for a model on several devices, or on one of another type than attnviz runs on."""
    found, *others = sorted({parameter.device for parameter in model.parameters()}, key=str)
    if others:
        names = ", ".join(str(device) for device in (found, *others))
        raise ModelError(
            f"The model lies on several devices ({names}), and attnviz runs a model on one: load it without device_map."
        )
    if found.type not in DEVICES and not moves:
        raise ModelError(f"The model is on {found}, where attnviz does not run: move it to {' or '.join(DEVICES)}.")


def _architecture(model: Any) -> Architecture:
    """Read a model's architecture from its own class."""
    refuse_what_reads_no_text(model.config, type(model))
    has_both = bool(getattr(model.config, "is_encoder_decoder", False)) and "EncoderModel" not in type(model).__name__
    can_write = getattr(model, "can_generate", lambda: False)() and model.get_output_embeddings() is not None
    return Architecture(None, writes=can_write and (has_both or not is_encoder(model.config)), has_both=has_both)


def _verify(shown: Any, text: CheckpointTokenizer, architecture: Architecture) -> HuggingFaceModel | ReplayedModel:
    """Wrap the model as ours, once it was compared: in float32 where its numbers can be widened."""
    if is_known := _is_plain_half(shown):
        check_size(sum(parameter.numel() for parameter in shown.parameters()), 4, size_limit())
        wide = copy.deepcopy(shown).float()
        verified_model(wide, text, architecture)
    return verified_model(shown, text, architecture, is_known=is_known)


def _is_plain_half(model: nn.Module) -> bool:
    """Check whether numbers are of half precision, and none is packed."""
    types = {tensor.dtype for tensor in model.state_dict().values() if isinstance(tensor, Tensor)}
    return bool(types & set(_HALF)) and all(found.is_floating_point or found == torch.bool for found in types)


def _share_or_copy(model: Any, device: torch.device | None, dtype: torch.dtype | None) -> Any:
    """Copy the modules around the same tensors; copy the tensors too for another device or type."""
    tensors = (*model.parameters(), *model.buffers())
    shown = copy.deepcopy(model, {id(tensor): tensor for tensor in tensors})
    shown.eval()
    first = next(model.parameters())
    device = None if device is None else torch.empty(0, device=device).device  # with its index, as tensors have it
    if (device in (None, first.device)) and dtype in (None, first.dtype):
        return shown
    moved = copy.deepcopy(shown)
    patches.cast(moved, device or first.device, dtype or first.dtype)
    return moved


def _name(model: Any) -> str:
    """Return the folder or id that the model came from, or its class."""
    return str(getattr(model, "name_or_path", "") or type(model).__name__).rstrip("/").rpartition("/")[2]
