"""Changes to a loaded transformers model: its dtype, its attention implementation, its activations, its positions."""

import copy
import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from transformers.activations import ACT2FN

from attnviz.transformer.device import explain_shortage


def share_weights(model: Any) -> Any:
    """Copy a model's modules so that the copy shares the tensors; the copy is in evaluation mode."""
    tensors = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    for module in model.modules():
        tensors |= {id(value): value for value in vars(module).values() if isinstance(value, Tensor)}
    return copy.deepcopy(model, tensors).eval()


def cast(model: Any, device: torch.device, dtype: torch.dtype) -> None:
    """Move a model that was loaded in float32 to a device and a dtype, in the way transformers would load it.

    Rotary frequencies stay in float32: rounded to bfloat16, they would move a token at position one thousand by several
    positions. So do the few weights whose class asks for it, such as T5's `wo` in float16.
    """
    exact = {name: tensor.data for name, tensor in _tensors(model) if _is_exact(model, name, dtype)}
    model.to(dtype)  # before they are moved, so that a GPU never holds more than the model in its own type
    for name, tensor in _tensors(model):
        if name in exact:
            tensor.data = exact[name]
    with explain_shortage(device, "The model", done=lambda: _share_on(model, device)):
        model.to(device)


def _share_on(model: Any, device: torch.device) -> float:
    """Return the share of a model's parameters that is on a device of the given type."""
    sizes = [(tensor.device.type == device.type, tensor.numel()) for _, tensor in _tensors(model)]
    return sum(size for is_there, size in sizes if is_there) / max(1, sum(size for _, size in sizes))


def set_attention(model: Any, name: str) -> None:
    """Set the attention implementation of a model by its name in transformers' interface.

    transformers' own method misses modules whose config is a different object from their model's (an
    EncoderDecoderModel that was composed in memory), and classes that only read their config (Falcon), for which only
    "eager" can be set.
    """
    models = [module for module in model.modules() if hasattr(module, "_can_set_attn_implementation")]
    can_set = all(module._can_set_attn_implementation() for module in models)
    if can_set:
        model.set_attn_implementation(name)
    if can_set or name == "eager":
        for module in model.modules():
            config: Any = getattr(module, "config", None)
            if getattr(config, "_attn_implementation", name) != name:
                config._attn_implementation = name


def attend_fully(model: nn.Module) -> None:
    """Make a model that attends in blocks (BigBird) use full attention, as it does itself after reading a
    short text.
    """
    for module in model.modules():
        if getattr(module, "attention_type", None) == "block_sparse":
            module.set_attention_type("original_full")  # type: ignore[operator]  # this also switches all modules inside it


def set_fused(model: Any) -> bool:
    """Make a model whose class calls PyTorch's fused kernel itself (Falcon) use that kernel; return whether this
    worked.
    """
    if model._can_set_attn_implementation() or not model._supports_sdpa:
        return False
    model.config._attn_implementation = "sdpa"
    return True


def _tensors(model: Any) -> Iterator[tuple[str, Tensor]]:
    yield from model.named_parameters()
    yield from model.named_buffers()


def _is_exact(model: Any, name: str, dtype: torch.dtype) -> bool:
    """Check whether transformers loads this tensor in float32 even if `dtype` is requested."""
    kept = set(getattr(model, "_keep_in_fp32_modules_strict", None) or ())
    if dtype is torch.float16:
        kept |= set(getattr(model, "_keep_in_fp32_modules", None) or ())
    return name.endswith("inv_freq") or any(re.search(part.replace("*", ".*"), name) for part in kept)


_WRITTEN_OUT, _FUSED = type(ACT2FN["gelu_new"]), "gelu_pytorch_tanh"


def fuse(model: nn.Module) -> None:
    """Replace every activation that is written in several operations by the fused kernel."""
    for name in [name for name, module in model.named_modules() if type(module) is _WRITTEN_OUT]:
        model.set_submodule(name, ACT2FN[_FUSED])


def keep_apart(model: nn.Module) -> None:
    """Make every pass compute its own rotary frequencies, if these depend on the text's length.

    Otherwise two simultaneous visitors would overwrite each other's frequencies, and a text would use those of a longer
    one before it ("dynamic").
    """
    for module in model.modules():
        if _depends_on_length(getattr(module, "rope_type", None)):
            module.forward = _run_on_copy(module)


def _depends_on_length(rope_type: Any) -> bool:
    kinds = rope_type.values() if isinstance(rope_type, dict) else (rope_type,)  # Gemma has one for each type of layer
    return any(isinstance(kind, str) and (kind == "longrope" or "dynamic" in kind) for kind in kinds)


def _run_on_copy(module: nn.Module) -> Any:
    """Return a `forward` that runs on a copy of the module, which is discarded with everything written into it."""

    def forward(*args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        own = copy.copy(module)
        own._buffers = {name: None if buffer is None else buffer.clone() for name, buffer in module._buffers.items()}
        return type(module).forward(own, *args, **kwargs)

    return forward
