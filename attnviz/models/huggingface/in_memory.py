"""Show a transformers model that is in memory: fine-tuned, merged or quantised.

attnviz copies the model's modules, which share the tensors, and changes only the copy. So the user's model keeps its
mode and its attention implementation.
"""

import copy
from collections.abc import Callable
from os import PathLike
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from attnviz.models.huggingface.architecture import (
    Architecture,
    is_encoder,
    positions,
    refuse_what_reads_no_text,
    vocabulary_of,
    without_head,
)
from attnviz.models.huggingface.as_given import GivenModel, remove_hooks
from attnviz.models.huggingface.errors import ModelError, reason
from attnviz.models.huggingface.files.folder import check_size, size_limit
from attnviz.models.huggingface.images.classifier import is_classifier
from attnviz.models.huggingface.images.image_model import ImageModel
from attnviz.models.huggingface.images.opening import (
    bare_vision_model,
    has_two_towers,
    is_image_processor,
    is_vision_model,
    reader_of,
    verified_image_model,
    vision_tower,
)
from attnviz.models.huggingface.model import HuggingFaceModel
from attnviz.models.huggingface.network import attention_interface
from attnviz.models.huggingface.replay import ReplayedModel
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer
from attnviz.models.huggingface.verification import verified_model
from attnviz.models.huggingface.weights import text_id, weights_id
from attnviz.transformer.device import DEVICES, is_out_of_memory

_HALF = (torch.float16, torch.bfloat16)


def from_memory(
    model: Any, tokenizer: Any, *, device: torch.device | None = None, dtype: torch.dtype | None = None
) -> HuggingFaceModel | ReplayedModel | ImageModel:
    """Wrap a transformers model and its tokenizer or image processor, after comparing attnviz's pass with its own pass.

    The model stays on its device and in its dtype unless the caller asks for others; then attnviz copies its weights. A
    model in half precision is compared in float32, a model with packed (quantised) weights in the dtype in which it
    computes. Raises ModelError, with a message of one sentence.
    """
    part = _unwrap_adapters(model)
    if is_vision_model(part):
        return _image_model(model, part, tokenizer, device, dtype)
    if is_image_processor(tokenizer):
        raise ModelError(
            f"{type(part).__name__} reads text and no images. Please pass its tokenizer, "
            "attnviz.load(model, tokenizer)."
        )
    _check_model(part, tokenizer)
    _check_device(part, moves=device is not None)
    if part.get_output_embeddings() is None:  # a classifier has no logits of tokens
        part = without_head(part)
    attention_interface.register()
    try:
        text = CheckpointTokenizer(
            copy.deepcopy(tokenizer), max_tokens=positions(part.config), known=vocabulary_of(part.config),
            takes_pairs=is_encoder(part.config),
        )  # fmt: skip
        given = _share_or_copy(GivenModel(model, part), device, dtype)
        architecture = _architecture(part)

        def wrap(given: GivenModel, is_known: bool) -> HuggingFaceModel | ReplayedModel:
            return verified_model(given.make_shown(), text, architecture, given=given, is_known=is_known)

        made = _verify_and_wrap(given, wrap)
    except Exception as error:
        if isinstance(error, ModelError) or is_out_of_memory(error):
            raise
        raise ModelError(f"{type(part).__name__} cannot be shown ({reason(error)}).") from error
    made.name, made.text_id = _name(part), text_id(tokenizer)
    made.as_given.notes = (*made.as_given.notes, *_adapter_notes(model))
    if not _share_tensors(part, given.part):  # no other code can change this copy's weights
        made.known_id = weights_id(part, made.text_id)
    text.warn_of_surplus()
    return made


def choose_tower(model: Any, tokenizer: Any) -> Any:
    """Return the text tower of a model of images and texts, such as CLIP, if it was given with a tokenizer; return
    any other model unchanged.
    """
    from transformers import PreTrainedTokenizerBase

    has_both = has_two_towers(getattr(model, "config", None)) and hasattr(model, "text_model")  # a classifier has one
    return model.text_model if has_both and isinstance(tokenizer, PreTrainedTokenizerBase) else model


def unwrap(model: Any) -> Any:
    """Return the model inside a transformers pipeline, or inside a torch.compile or DataParallel wrapper."""
    from transformers import Pipeline

    while True:
        if isinstance(model, Pipeline):
            model = model.model
        elif isinstance(model, nn.DataParallel | nn.parallel.DistributedDataParallel):
            model = model.module
        elif isinstance(inner := getattr(model, "_orig_mod", None), nn.Module):
            model = inner
        else:
            return model


def _share_tensors(model: nn.Module, shown: nn.Module) -> bool:
    return next(model.parameters()).data_ptr() == next(shown.parameters()).data_ptr()


def _unwrap_adapters(model: Any) -> Any:
    """Return the transformers model inside a PEFT model, whose adapters are in its layers.

    Raises ModelError for a PEFT method that acts outside the layers.
    """
    if not _is_peft(model):
        return model
    for config in _active_adapters(model):
        method = str(getattr(config.peft_type, "value", config.peft_type))
        if config.is_prompt_learning:
            raise ModelError(
                f"The adapter ({method}) puts {config.num_virtual_tokens} virtual tokens before each text, and attnviz "
                "does not show their keys: model.get_base_model() is the model without them."
            )
        if getattr(config, "alora_invocation_tokens", None):
            raise ModelError(
                f"The adapter ({method} with alora_invocation_tokens) acts only after certain tokens of a text, which "
                "attnviz does not follow: model.unload() is the model without it."
            )
        if method == "XLORA":
            raise ModelError(
                "The adapter (XLORA) computes new weights for its LoRAs for each text, which attnviz "
                "does not follow. Please load one of them alone with PeftModel.from_pretrained."
            )
    return model.get_base_model()


def _is_peft(model: Any) -> bool:
    return hasattr(model, "get_base_model") and hasattr(model, "peft_config")


def _active_adapters(model: Any) -> list[Any]:
    """Return the configs of the active PEFT adapters; X-LoRA names only the adapters that it weights."""
    named = getattr(model, "active_adapters", ())
    active = {named} if isinstance(named, str) else set(named)
    return [config for name, config in model.peft_config.items() if name in active or "XLORA" in str(config.peft_type)]


def _adapter_notes(model: Any) -> tuple[str, ...]:
    """Return a note on an adapter that attends to learned positions in addition to the text's."""
    if not _is_peft(model):
        return ()
    return tuple(
        f"In the last {config.adapter_layers} layers, an adapter ({config.peft_type.value}) adds "
        f"attention to {config.adapter_len} learned positions, with a softmax of its own. The maps do "
        "not show this additional attention."
        for config in _active_adapters(model)
        if config.is_adaption_prompt
    )


def _check_model(model: Any, tokenizer: Any) -> None:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    if not isinstance(model, PreTrainedModel):
        held = _where_held(model, PreTrainedModel)
        raise ModelError(
            f"attnviz.load takes a model of transformers with its tokenizer, not {type(model).__name__}: "
            + (f"hand over its model{held}." if held else "for another model's weights there is attnviz.from_tensors.")
        )
    if tokenizer is None:
        raise ModelError("A model in memory needs its tokenizer. Please call attnviz.load(model, tokenizer).")
    if isinstance(tokenizer, str | PathLike):
        raise ModelError(
            "A tokenizer is transformers' own, not its name: "
            f"transformers.AutoTokenizer.from_pretrained({str(tokenizer)!r}) reads one."
        )
    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise ModelError(f"The tokenizer must be a tokenizer of transformers, not a {type(tokenizer).__name__}.")
    _check_placed(model)


def _check_placed(model: nn.Module) -> None:
    """Raise ModelError for a model whose weights are not in memory."""
    if any(parameter.is_meta for parameter in model.parameters()):
        raise ModelError(
            "Some of the model's weights are not in memory (they are meta tensors). Please load all "
            "weights of the model."
        )


def _where_held(model: Any, sort: type) -> str | None:
    """Return where an object holds a model of a class, as Python code to append to the object's name: `[0].auto_model`.

    Return None if it holds no such model.
    """
    if not isinstance(model, nn.Module):
        return ".model" if isinstance(getattr(model, "model", None), sort) else None
    name = next((name for name, module in model.named_modules() if isinstance(module, sort)), None)
    if name is None:
        return None
    return "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in name.split("."))


def _check_device(model: nn.Module, *, moves: bool) -> None:
    """Raise ModelError for a model on several devices, or on a device type that attnviz does not support."""
    found, *others = sorted({parameter.device for parameter in model.parameters()}, key=str)
    if others:
        names = ", ".join(str(device) for device in (found, *others))
        raise ModelError(
            f"The model is spread over several devices ({names}), but attnviz runs a model on one "
            "device only. Please load the model without device_map."
        )
    if found.type not in DEVICES and not moves:
        raise ModelError(f"The model is on {found}, where attnviz does not run: move it to {' or '.join(DEVICES)}.")


def _architecture(model: Any) -> Architecture:
    """Derive a model's architecture from its class."""
    refuse_what_reads_no_text(model.config, type(model))
    has_both = bool(getattr(model.config, "is_encoder_decoder", False)) and "EncoderModel" not in type(model).__name__
    can_write = getattr(model, "can_generate", lambda: False)() and model.get_output_embeddings() is not None
    return Architecture(None, writes=can_write and (has_both or not is_encoder(model.config)), has_both=has_both)


def _image_model(
    model: Any, inner: Any, processor: Any, device: torch.device | None, dtype: torch.dtype | None
) -> ImageModel:
    """Wrap a vision model and its image processor, like `from_memory` wraps a text model.

    `inner` is the transformers model inside `model`, such as a classifier.
    """
    part = vision_tower(inner)
    reader = reader_of(processor, type(part).__name__)
    _check_placed(part)
    _check_device(part, moves=device is not None)
    shown, has_head = bare_vision_model(part), is_classifier(inner)
    attention_interface.register()
    whole = model if has_head or isinstance(model, type(part)) or _is_peft(model) else part
    try:
        given = _share_or_copy(GivenModel(whole, shown), device, dtype)
        made = _verify_and_wrap(given, lambda given, is_known: verified_image_model(
            given.make_shown(), reader, given=given, is_known=is_known))  # fmt: skip
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{type(part).__name__} cannot be shown ({reason(error)}).") from error
    made.name, made.text_id = _name(inner if has_head else part), reader.identity
    if not _share_tensors(shown, given.part):
        made.known_id = weights_id(shown if made.head is None else inner, made.text_id)
    return made


Made = TypeVar("Made", bound=HuggingFaceModel | ReplayedModel | ImageModel)


def _verify_and_wrap(given: GivenModel, wrap: Callable[[GivenModel, bool], Made]) -> Made:
    """Wrap a model after attnviz's attention was compared with the model's own.

    A model in half precision is compared as a float32 copy, if its weights can be converted.
    """
    if not _is_plain_half(given.part):
        return wrap(given, False)
    check_size(sum(parameter.numel() for parameter in given.part.parameters()), 4, size_limit())
    wide = given.widen()
    compared = wrap(wide, False).as_given
    remove_hooks(given.whole)
    made = wrap(given, True)
    made.as_given.notes, made.as_given.longest = compared.notes, compared.longest
    return made


def _is_plain_half(model: nn.Module) -> bool:
    """Check whether a model has weights in half precision and no packed (quantised) weights."""
    types = {tensor.dtype for tensor in model.state_dict().values() if isinstance(tensor, Tensor)}
    return bool(types & set(_HALF)) and all(found.is_floating_point or found == torch.bool for found in types)


def _share_or_copy(given: GivenModel, device: torch.device | None, dtype: torch.dtype | None) -> GivenModel:
    """Return the model unchanged, or a converted copy if the caller asks for another device or dtype."""
    first = next(given.part.parameters())
    device = None if device is None else torch.empty(0, device=device).device  # with an index, like a tensor's device
    if (device in (None, first.device)) and dtype in (None, first.dtype):
        return given
    return given.convert(device or first.device, dtype or first.dtype)


def _name(model: Any) -> str:
    """Return the name of the folder or repository that the model was loaded from, or the name of its class."""
    return str(getattr(model, "name_or_path", "") or type(model).__name__).rstrip("/").rpartition("/")[2]
