"""Rotary frequencies that depend on a text's length: transformers writes them into the module that all passes share."""

import copy
from typing import Any

from torch import Tensor, nn


def keep_apart(model: nn.Module) -> None:
    """Let every pass have frequencies of its own, made for its length, where they depend on it.

    Else two visitors at once overwrite each other's, and a text is turned as a longer one before it was ("dynamic").
    """
    for module in model.modules():
        if _depends_on_length(getattr(module, "rope_type", None)):
            module.forward = _alone(module)


def _depends_on_length(rope_type: Any) -> bool:
    kinds = rope_type.values() if isinstance(rope_type, dict) else (rope_type,)  # Gemma has one for each sort of layer
    return any(isinstance(kind, str) and (kind == "longrope" or "dynamic" in kind) for kind in kinds)


def _alone(module: nn.Module) -> Any:
    """The module's own forward, run on a copy that is thrown away with whatever was written into it."""

    def forward(*args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        own = copy.copy(module)
        own._buffers = {name: None if buffer is None else buffer.clone() for name, buffer in module._buffers.items()}
        return type(module).forward(own, *args, **kwargs)

    return forward
