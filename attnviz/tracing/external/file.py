"""Read attention weights from an untrusted file: .npz or .safetensors, never pickle.

| key | what |
| --- | --- |
| `attn` | weights, `(layers, heads, q_len, k_len)`; leading axes of size 1 may be left out |
| `tokens` | the query tokens, one for each row |
| `key_tokens` | the key tokens, if they differ |
| `kind` | `encoder_self`, `decoder_self` or `cross`; if left out, `from_tensors` infers it |
| `mask` | bool `(q_len, k_len)`, True = may attend |

For several kinds in one file: `attn.encoder_self`, `attn.decoder_self`, `attn.cross`, `tokens.src`, `tokens.tgt` and
`mask.<kind>`, as `attnviz.save` writes them. If known, `pieces.<side>` and `ids.<side>` hold the vocabulary entries of
a side's tokens. In .npz, tokens are an array of strings. A .safetensors file holds only numbers, so tokens and kind are
in its metadata: tokens as a JSON list of strings.
"""

import io
import json
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.guards.npz import MOST_MEMBERS, Archive, first_line
from attnviz.tracing.external.from_tensors import from_tensors
from attnviz.tracing.external.weights import BareWeights
from attnviz.tracing.record import Sentence
from attnviz.tracing.trace import KINDS

MEGABYTE = 1024 * 1024
MAX_FILE, MAX_UNPACKED = 64 * MEGABYTE, 128 * MEGABYTE
MAX_WEIGHTS = MAX_UNPACKED // 4  # counted as float32: a weight that takes one byte in the file takes four in memory
MAX_MAPS = 4096  # heads of all layers; each is drawn as a square on the page
MAX_TOKENS, MAX_TOKEN = 4096, 200
MAX_HEADER = 4 * MEGABYTE  # for .safetensors: names of tensors, and the tokens of both sides
TEXTS = ("tokens", "key_tokens", *(f"{part}.{side}" for part in ("tokens", "pieces") for side in ("src", "tgt")))
IDS = ("ids.src", "ids.tgt")
MASK = re.compile(rf"mask\.({'|'.join(KINDS)})\.\d+")  # the mask of one layer, as `Trace.save` writes it
ARRAYS = ("attn", "mask", *(f"{part}.{kind}" for part in ("attn", "mask") for kind in KINDS))
_READABLE = f"{', '.join(('attn', 'tokens', 'key_tokens', 'kind', 'mask'))}, or attn.<kind>, tokens.src, tokens.tgt"


def read(content: bytes, name: str) -> BareWeights:
    """Read the weights in a file's content; the ending of `name` says the format.

    Raises ValueError, with a message of one sentence, if the file is too large, broken, or does not hold weights and
    tokens.
    """
    if len(content) > MAX_FILE:
        raise ValueError(
            f"{name} has {len(content) // MEGABYTE} MB, but attnviz reads files of at most {MAX_FILE // MEGABYTE} MB."
        )
    readers = {".npz": _npz, ".safetensors": _safetensors}
    reader = readers.get(name[name.rfind(".") :].lower())
    if reader is None:
        raise ValueError(
            f"{name} is neither a .npz nor a .safetensors file. Please save the weights in one of these formats."
        )
    try:
        found = reader(content)
        _check_count(found)
    except ValueError as error:
        raise ValueError(f"{name} cannot be read: {error}.") from None
    trace = trace_of(found)
    if (count := trace.n_layers * trace.n_heads) > MAX_MAPS:
        raise ValueError(
            f"{name} contains {count} heads, but at most {MAX_MAPS} can be drawn. Please leave some layers out."
        )
    return trace


def trace_of(found: dict[str, Any]) -> BareWeights:
    """Build a trace of weights from a file's entries. Raises ValueError if the entries do not fit together."""
    given = {kind: found[f"attn.{kind}"] for kind in KINDS if f"attn.{kind}" in found}
    if not given and "attn" not in found:
        raise ValueError(f"The file contains no array called attn. It must contain these keys: {_READABLE}.")
    if given:
        masks = {kind: mask for kind in given if (mask := _mask(found, kind)) is not None}
        sides = {side: found[f"tokens.{side}"] for side in ("src", "tgt") if f"tokens.{side}" in found}
        return replace(
            made := from_tensors(given, sides, mask=masks),
            sentences=(_add_vocabulary_entries(made.sentences[0], found),),
        )
    if "tokens" not in found:
        raise ValueError(
            "The file contains no tokens. Please add tokens, a list of strings with one string for each row of attn."
        )
    kind = found.get("kind")
    return from_tensors(
        found["attn"], found["tokens"], key_tokens=found.get("key_tokens"), kind=kind, mask=found.get("mask")
    )


def _add_vocabulary_entries(sentence: Sentence, found: dict[str, Any]) -> Sentence:
    """Add vocabulary entries to the tokens, if the file has exactly one for each token."""
    sides: dict[str, Any] = {}
    for side, tokens in (("src", sentence.src), ("tgt", sentence.tgt)):
        pieces, ids = found.get(f"pieces.{side}", ()), found.get(f"ids.{side}", ())
        if len(tokens) == len(pieces) == len(ids):
            told = zip(tokens, pieces, ids, strict=True)
            sides[side] = tuple(replace(token, piece=piece, id=id_) for token, piece, id_ in told)
    return replace(sentence, **sides)


def _mask(found: dict[str, Any], kind: str) -> Any:
    """Return the mask of a kind, or the mask that all its layers and heads share; None if there is no such mask."""
    if f"mask.{kind}" in found:
        return found[f"mask.{kind}"]
    layers = [torch.as_tensor(found[key]) for key in found if MASK.fullmatch(key) and key.split(".")[1] == kind]
    shape = tuple(found[f"attn.{kind}"].shape)
    if len(shape) != 5 or len(layers) != shape[1] or any(layer.ndim != 4 for layer in layers):
        return None
    try:
        each = [layer[0].expand(-1, *shape[-2:]) for layer in layers]
    except RuntimeError:  # a mask of a different shape
        return None
    first = each[0][0]
    return first if all(bool((layer == first).all()) for layer in each) else None


def _check_count(found: dict[str, Any]) -> None:
    count = sum(math.prod(array.shape) for key, array in found.items() if key.startswith("attn"))
    if count > MAX_WEIGHTS:
        raise ValueError(f"it contains {count:,} weights, but attnviz reads at most {MAX_WEIGHTS:,}")


def _npz(content: bytes) -> dict[str, Any]:
    """Read the known keys of a NumPy archive; other keys are not unpacked."""
    archive = Archive(io.BytesIO(content), most=MAX_UNPACKED)
    texts = {key: archive.texts(key, most=MAX_TOKENS, longest=MAX_TOKEN) for key in archive.keys if key in TEXTS}
    kind = archive.texts("kind", most=1, longest=MAX_TOKEN) if "kind" in archive.keys else []
    arrays = archive.arrays(key for key in archive.keys if key in (*ARRAYS, *IDS) or MASK.fullmatch(key))
    found: dict[str, Any] = {key: array for key, array in arrays.items() if key not in IDS} | texts
    found |= {key: arrays[key].tolist() for key in IDS if key in arrays and _are_ids(arrays[key])}
    return found | ({"kind": kind[0]} if kind else {})


def _are_ids(array: np.ndarray) -> bool:
    return array.dtype.kind == "i" and array.ndim == 1 and len(array) <= MAX_TOKENS


def _safetensors(content: bytes) -> dict[str, Any]:
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        length = int.from_bytes(content[:8], "little")
        if length > MAX_HEADER:
            raise ValueError(f"its header has more than {MAX_HEADER // MEGABYTE} MB")
        header = json.loads(content[8 : 8 + length])
        if isinstance(header, dict) and len(header) > MOST_MEMBERS:
            raise ValueError(f"it has more than {MOST_MEMBERS:,} tensors")
        tensors: dict[str, Tensor] = load(content)
        said = header.get("__metadata__", {})
        texts = {key: _texts(key, json.loads(said[key])) for key in TEXTS if key in said}
    except (SafetensorError, ValueError, RecursionError) as error:  # from JSON, UTF-8, or a number with too many digits
        raise ValueError(
            f"it is not a .safetensors file, or its tokens are not a JSON list ({first_line(error)})"
        ) from None
    except KeyError as error:  # a dtype that torch does not have
        raise ValueError(f"it holds numbers of the type {error}, which are not read") from None
    found: dict[str, Any] = {key: tensor for key, tensor in tensors.items() if key in ARRAYS} | texts
    found |= {key: found[key].to(torch.bool) for key in found if key.startswith("mask")}
    return found | ({"kind": said["kind"]} if "kind" in said else {})


def _texts(key: str, given: Any) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise ValueError(f"{key} is not a list of strings")
    if len(given) > MAX_TOKENS or any(len(text) > MAX_TOKEN for text in given):
        raise ValueError(
            f"{key} contains more than {MAX_TOKENS} tokens, or a token with more than {MAX_TOKEN} characters"
        )
    return given
