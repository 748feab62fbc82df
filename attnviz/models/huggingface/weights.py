"""Compute an id for a checkpoint's weights, and compare the weights with the shapes that the config asks for."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor, nn
from transformers.initialization import no_init_weights

from attnviz.text.limits import catch_panics

# Entries of a config about how it was saved or is run, which do not change what the model computes.
_PASSING = {"architectures", "dtype", "torch_dtype", "transformers_version", "use_cache"}
_AFTER_ATTENTION = "pooler"  # random if it is missing in the file
_LANES = 4_093  # a prime, so that swapped rows, columns or heads change the sums
_OF_A_LAYER = re.compile(r"\.\d+\..*(attn|attention)", re.IGNORECASE)
# How many more parameters than its files a model may have. Tied weights and shared layers are counted once in both;
# a head, a pooler, and tables of sines and masks, of a few million values, are in no file.
MOST_TIMES, MOST_MORE = 2, 16_000_000

Shape = tuple[int, ...]


def weights_id(model: nn.Module, text_id: str) -> str:
    """Return sixteen hexadecimal digits that change whenever the weights, the config or the tokenizer change.

    The id is the same for equal values in memory and in files. Weights are summed in place, as integers in 4,093 lanes,
    which costs one read: the id is computed whenever it is asked for, because training changes a model without notice.
    Half-precision values count as their float32 values.
    """
    digest = hashlib.sha256(_config(model) + text_id.encode())
    for name, tensor in sorted(model.state_dict().items()):
        if _AFTER_ATTENTION not in name:
            digest.update(f"{name} {tuple(tensor.shape)}".encode() + _content(tensor))
    return digest.hexdigest()[:16]


@catch_panics()
def text_id(tokenizer: Any) -> str:
    """Return a hash of a tokenizer's behaviour: of its tokenizer.json, or of its vocabulary if it has none."""
    backend: Any = getattr(tokenizer, "backend_tokenizer", None)
    if hasattr(backend, "to_str"):
        said = json.loads(backend.to_str()) | {"truncation": None, "padding": None}
    else:
        said = sorted(tokenizer.get_vocab().items())
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=repr).encode()).hexdigest()


def _content(tensor: Any) -> bytes:
    if not isinstance(tensor, Tensor) or tensor.is_quantized:
        return repr(tensor).encode()
    tensor = tensor.detach()
    if tensor.dtype in (torch.float16, torch.bfloat16):
        tensor = tensor.float()
    return _sums(tensor.contiguous().flatten().view(torch.uint8))


def _sums(content: Tensor) -> bytes:
    """Return the 64-bit sums of the bytes in lanes, followed by the bytes after the last full row of lanes."""
    whole = len(content) // (8 * _LANES) * 8 * _LANES
    rows = content[:whole].clone() if content.storage_offset() % 8 else content[:whole]
    sums = rows.view(torch.int64).view(-1, _LANES).sum(dim=0).cpu()
    return sums.numpy().tobytes() + content[whole:].cpu().numpy().tobytes()


def _config(model: nn.Module) -> bytes:
    config: Any = getattr(model, "config", None)
    said = config.to_dict() if hasattr(config, "to_dict") else {}
    return json.dumps(_drop_passing_entries(said), sort_keys=True, default=repr).encode()


def _drop_passing_entries(said: Any) -> Any:
    """Drop entries of a config, and of nested configs, that do not change what the model computes."""
    if not isinstance(said, dict):
        return said
    return {
        str(key): _drop_passing_entries(value) for key, value in said.items() if _lasts(str(key)) and value is not None
    }


def _lasts(key: str) -> bool:
    return key not in _PASSING and not key.startswith("_")


def count_asked(config: Any, auto: Any) -> int:
    """Return the number of values in a model with this config, including tables that no file holds, each counted once.

    Raises the errors that building the model raises.
    """
    model = _meta_model(config, auto)
    return sum(tensor.numel() for tensors in (model.parameters(), model.buffers()) for tensor in tensors)


def misfit(weights: tuple[Path, ...], config: Any, auto: Any) -> str | None:
    """Describe the first tensor whose shape differs from what the config asks for, or return None."""
    wanted = {name: tuple(tensor.shape) for name, tensor in _meta_model(config, auto).state_dict().items()}
    for name, shape in sorted(_shapes(weights).items()):
        # A checkpoint without a head names its tensors without the prefix that the whole model has.
        asked = next((wanted[full] for full in wanted if full == name or full.endswith(f".{name}")), shape)
        asked = next((wanted[short] for short in wanted if name.endswith(f".{short}")), asked)
        if asked != shape:
            return f"{name!r} has shape {shape}, but config.json asks for {asked}"
    return None


def _meta_model(config: Any, auto: Any) -> Any:
    """Build a model without memory for its values, so that a config may ask for any size; tied weights are tied."""
    build = getattr(auto, "from_config", None) or auto._from_config  # the latter for a class that is not an auto class
    with torch.device("meta"), no_init_weights():
        model = build(config)
    model.tie_weights()
    return model


def left_over(unexpected: set[str]) -> str | None:
    """Return the name of an attention tensor for which the config has no place, or None.

    Without this tensor, attnviz would show a different model.
    """
    return next((name for name in sorted(unexpected) if name.endswith("weight") and _OF_A_LAYER.search(name)), None)


def _shapes(weights: tuple[Path, ...]) -> dict[str, Shape]:
    shapes: dict[str, Shape] = {}
    for path in weights:
        with safe_open(path, framework="pt") as file:
            shapes |= {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    return shapes
