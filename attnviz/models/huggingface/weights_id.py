"""The id of a checkpoint: of its weights as they are, of its config and of its tokenizer."""

import hashlib
import json
from typing import Any

import torch
from torch import Tensor, nn

# What a config says of where it was saved and how it is to be run, and not of what the model computes.
_PASSING = {"architectures", "dtype", "torch_dtype", "transformers_version", "use_cache"}
_AFTER_ATTENTION = "pooler"  # a file may lack it, and then it is random
_LANES = 4_093  # a prime, so that rows, columns and heads that change places change the sums


def weights_id(model: nn.Module, text_id: str) -> str:
    """Return sixteen hexadecimal digits that change whenever the weights do, the config or the tokenizer.

    They are the same for the same numbers in memory and in files. Weights are summed where they lie, as integers in
    4,093 lanes, which costs one reading of them: an id is computed whenever it is asked for, since who trains a model
    tells nobody. Numbers of half precision count as what they are in float32.
    """
    digest = hashlib.sha256(_config(model) + text_id.encode())
    for name, tensor in sorted(model.state_dict().items()):
        if _AFTER_ATTENTION not in name:
            digest.update(f"{name} {tuple(tensor.shape)}".encode() + _content(tensor))
    return digest.hexdigest()[:16]


def text_id(tokenizer: Any) -> str:
    """Digest a tokenizer's behaviour: its backend as tokenizer.json has it, or its vocabulary where it has none."""
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
    """Return the 64-bit sums of bytes in lanes, and the bytes that fill no whole row of them."""
    whole = len(content) // (8 * _LANES) * 8 * _LANES
    rows = content[:whole].clone() if content.storage_offset() % 8 else content[:whole]
    sums = rows.view(torch.int64).view(-1, _LANES).sum(dim=0).cpu()
    return sums.numpy().tobytes() + content[whole:].cpu().numpy().tobytes()


def _config(model: nn.Module) -> bytes:
    config: Any = getattr(model, "config", None)
    said = config.to_dict() if hasattr(config, "to_dict") else {}
    return json.dumps(_lasting(said), sort_keys=True, default=repr).encode()


def _lasting(said: Any) -> Any:
    """Drop entries of a config, and of the configs in it, that say nothing on what the model computes."""
    if not isinstance(said, dict):
        return said
    return {str(key): _lasting(value) for key, value in said.items() if _lasts(str(key)) and value is not None}


def _lasts(key: str) -> bool:
    return key not in _PASSING and not key.startswith("_")
