"""Casting a transformers model, less what transformers itself keeps in float32 whatever the type: angles above all."""

import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor


def cast(model: Any, device: torch.device, dtype: torch.dtype) -> None:
    """Move a model that was loaded in float32 to `device`, and its numbers to `dtype`, as transformers would load it.

    Rotary frequencies stay in float32: rounded to bfloat16, they put a token a thousand places on several places away.
    So do the few weights whose class asks for it, such as T5's `wo` in float16.
    """
    model.to(device)
    exact = {name: tensor.data for name, tensor in _tensors(model) if _is_exact(model, name, dtype)}
    model.to(dtype)
    for name, tensor in _tensors(model):
        if name in exact:
            tensor.data = exact[name]


def _tensors(model: Any) -> Iterator[tuple[str, Tensor]]:
    yield from model.named_parameters()
    yield from model.named_buffers()


def _is_exact(model: Any, name: str, dtype: torch.dtype) -> bool:
    """Whether transformers loads this tensor in float32 where `dtype` is asked for."""
    kept = set(getattr(model, "_keep_in_fp32_modules_strict", None) or ())
    if dtype is torch.float16:
        kept |= set(getattr(model, "_keep_in_fp32_modules", None) or ())
    return name.endswith("inv_freq") or any(re.search(part.replace("*", ".*"), name) for part in kept)
