"""Compare the tensors of a checkpoint with those that its config asks for, and name the first that differs."""

import re
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from transformers.initialization import no_init_weights

_OF_A_LAYER = re.compile(r"\.\d+\..*(attn|attention)", re.IGNORECASE)
Shape = tuple[int, ...]
# Numbers that a model may have beyond its files': tied weights and shared layers are counted once there and here, and
# what no file holds is a head, a pooler or tables of sines and masks of a few million.
MOST_TIMES, MOST_MORE = 2, 16_000_000


def count_asked(config: Any, auto: Any) -> int:
    """Count the numbers of a model with this config, tables that no file holds among them, each once.

    Raises what building raises.
    """
    model = _meta_model(config, auto)
    return sum(tensor.numel() for tensors in (model.parameters(), model.buffers()) for tensor in tensors)


def misfit(weights: tuple[Path, ...], config: Any, auto: Any) -> str | None:
    """Describe the first tensor of a different shape than its config asks for; None: all fit."""
    wanted = {name: tuple(tensor.shape) for name, tensor in _meta_model(config, auto).state_dict().items()}
    for name, shape in sorted(_shapes(weights).items()):
        # A checkpoint without a head names its tensors without the prefix that the whole model has.
        asked = next((wanted[full] for full in wanted if full == name or full.endswith(f".{name}")), shape)
        asked = next((wanted[short] for short in wanted if name.endswith(f".{short}")), asked)
        if asked != shape:
            return f"{name!r} has shape {shape}, but config.json asks for {asked}"
    return None


def _meta_model(config: Any, auto: Any) -> Any:
    """Build a model without memory for its numbers, so that a config may ask for any size; tied weights are tied."""
    with torch.device("meta"), no_init_weights():
        model = auto.from_config(config)
    model.tie_weights()
    return model


def left_over(unexpected: set[str]) -> str | None:
    """Return the name of an attention layer's tensor that its config has no place for: without it, it is
    another model.
    """
    return next((name for name in sorted(unexpected) if name.endswith("weight") and _OF_A_LAYER.search(name)), None)


def _shapes(weights: tuple[Path, ...]) -> dict[str, Shape]:
    shapes: dict[str, Shape] = {}
    for path in weights:
        with safe_open(path, framework="pt") as file:
            shapes |= {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    return shapes
