"""Traces as npz files, readable with NumPy alone and without pickle.

Keys of the file; `<site>` is a kind and a layer, such as `cross.2`:

| key | what | shape |
| --- | --- | --- |
| `format_version` | 1 | `()` |
| `meta` | JSON in UTF-8: sentences with all token fields, and the run's info | bytes |
| `tokens.src`, `tokens.tgt` | token texts of item 0, for a quick look | `(length,)` str |
| `pieces.<side>`, `ids.<side>` | the tokens' vocabulary entries; "" and -1: unknown | `(length,)` str, int64 |
| `attn.<kind>`, `scores.<kind>` | weights; scores before the mask; padding 0 | `(batch, layers, heads, q_len, k_len)` |
| `mask.<site>` | True = may attend; absent if all may | broadcastable to `(batch, heads, q_len, k_len)` |
| `query.<site>`, `key.<site>`, `value.<site>`, `context.<site>` | per head | `(batch, heads, length, d_k)` |
| `scale.<site>`, `bias.<site>` | factor and addend of the scores | `()`, broadcastable |
| `softcap.<site>`, `sinks.<site>` | cap of the scores; scores of the attention sinks | `()`, `(1, heads, 1, 1)` |
| `input.<site>`, `memory.<site>` | hidden states from which query and key were projected | `(batch, length, d_model)` |
| `chosen.<site>` | True = the model's indexer chose the key; absent if it has no indexer | like `mask.<site>` |
| `edited.<site>`, `edited_rows.<site>` | weights that an intervention set; the rows it set | like maps |
| `intervention.<n>.<layer>` | values of the nth intervention, whose other fields are in `meta` | varies |
| `layer.<stack>.<n>` | hidden states after a layer; -1 is the embedding | `(batch, length, d_model)` |
| `image.<item>.<n>` | an image as the model saw it, in bytes | `(height, width, 3)` |
| `memory`, `logits` | encoder output; scores over the vocabulary | `(batch, length, …)` |
"""

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.guards import plain_file
from attnviz.guards.arguments import reads_arguments
from attnviz.guards.npz import DAMAGED, NOT_AN_ARRAY, Archive, first_line
from attnviz.text.tokens import Span, Token
from attnviz.tracing.causes import serialization
from attnviz.tracing.external.file import TEXTS, trace_of
from attnviz.tracing.external.weights import BareWeights
from attnviz.tracing.record import RunInfo, SeenImage, Sentence
from attnviz.tracing.trace import KINDS, Trace
from attnviz.transformer.probe import AttentionCall, EditedWeights, Kind, Site

FORMAT_VERSION = 1
# How large a file may unpack: queries and keys hardly compress, and no trace is twenty times as large as its file.
_UNPACKED, _TIMES_AS_LARGE = 256 * 1024 * 1024, 20
# Errors for a missing array (KeyError), or for meta that is JSON but does not describe a trace.
_NOT_A_TRACE = (KeyError, TypeError, AttributeError, IndexError)
_ANYTHING_ELSE = (*DAMAGED, *NOT_AN_ARRAY, *_NOT_A_TRACE)
_PARTS = {"query": "query", "key": "key", "value": "value", "mask": "mask", "bias": "bias", "chosen": "chosen",
          "input": "input_", "memory": "memory", "sinks": "sinks"}  # fmt: skip
_MOST_TOKENS, _LONGEST = 1_000_000, 4096  # limits for bare weights, which may be longer here than on a page
_FORMERLY = {"part": "segment"}
_COMPUTED = ("attn.", "scores.", "tokens.", "pieces.", "ids.")  # can be computed from the other arrays and meta


def save(trace: Trace | BareWeights, path: str | Path, *, maps: bool = True) -> None:
    """Save a trace as npz; with `maps`, also save the weights and scores that `load_trace` can compute again.

    Bare weights are saved in the format that `attnviz.tracing.external.file` reads.
    """
    plain_file.require_place(path)
    arrays = _bare_arrays(trace) if isinstance(trace, BareWeights) else _arrays(trace, maps=maps)
    with Path(path).open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def to_bytes(trace: Trace) -> bytes:
    """Write a trace as the content of an uncompressed npz file, without arrays that can be computed from the others."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **_arrays(trace, maps=False))
    return file.getvalue()


def from_bytes(content: bytes | bytearray | memoryview) -> Trace:
    """Read the trace that `to_bytes` wrote. Raises ValueError, with a message of one sentence, for anything else."""
    try:
        file = Archive(io.BytesIO(content), most=max(_UNPACKED, _TIMES_AS_LARGE * len(content)))
        return _trace(file.arrays(key for key in file.keys if not key.startswith(_COMPUTED)))
    except _ANYTHING_ELSE as error:
        raise ValueError(f"What was received is not a trace ({first_line(error)}).") from error


def _bare_arrays(trace: BareWeights) -> dict[str, Any]:
    arrays: dict[str, Any] = {f"attn.{kind}": attn.numpy() for kind, attn in trace.weights.items()}
    arrays |= {f"mask.{kind}": mask.numpy() for kind, mask in trace.masks.items()}
    return arrays | _token_arrays(trace)


def _arrays(trace: Trace, *, maps: bool) -> dict[str, Any]:
    arrays: dict[str, Any] = {"format_version": np.array(FORMAT_VERSION), "meta": _meta(trace)}
    arrays |= _token_arrays(trace)
    for site, call in trace.calls.items():
        name = f"{site.kind}.{site.layer}"
        arrays[f"scale.{name}"] = np.array(call.scale)
        arrays |= {} if call.softcap is None else {f"softcap.{name}": np.array(call.softcap)}
        parts = {key: getattr(call, field) for key, field in _PARTS.items()} | {"context": trace.contexts.get(site)}
        parts |= {} if call.edited is None else {"edited": call.edited.attn, "edited_rows": call.edited.rows}
        arrays |= {f"{key}.{name}": _array(part) for key, part in parts.items() if part is not None}
    arrays |= {f"layer.{stack}.{layer}": _array(output) for (stack, layer), output in trace.layers.items()}
    arrays |= {key: _array(t) for key, t in (("memory", trace.memory), ("logits", trace.logits)) if t is not None}
    arrays |= {key: _array(put) for key, put in serialization.arrays(trace.interventions).items()}
    arrays |= _image_arrays(trace)
    for kind in trace.kinds if maps else ():
        arrays[f"attn.{kind}"] = _stack_items(trace, kind, trace.attn)
        arrays[f"scores.{kind}"] = _stack_items(trace, kind, trace.scores)
    return arrays


def _stack_items(trace: Trace, kind: Kind, maps: Callable[..., Tensor]) -> np.ndarray:
    """Stack the maps of every batch item; maps of shorter sentences are padded with zeros."""
    q_len, k_len = trace.call(kind, 0).query.shape[2], trace.call(kind, 0).key.shape[2]
    each = (maps(kind, item=item) for item in range(len(trace.sentences)))
    pad = torch.nn.functional.pad
    return torch.stack([pad(one, (0, k_len - one.shape[-1], 0, q_len - one.shape[-2])) for one in each]).numpy()


def _token_arrays(trace: Trace | BareWeights) -> dict[str, np.ndarray]:
    """Return the token texts of item 0, and the vocabulary entries if any token has one."""
    found: dict[str, np.ndarray] = {}
    for side, tokens in (("src", trace.sentences[0].src), ("tgt", trace.sentences[0].tgt)):
        if tokens or not trace.weights_only:
            found[f"tokens.{side}"] = np.array([token.text for token in tokens], dtype=np.str_)
        if any(token.piece or token.id >= 0 for token in tokens):
            found[f"pieces.{side}"] = np.array([token.piece for token in tokens], dtype=np.str_)
            found[f"ids.{side}"] = np.array([token.id for token in tokens], dtype=np.int64)
    return found


@reads_arguments
def load_trace(path: str | Path) -> Trace | BareWeights:
    """Load a trace or bare weights that `save` wrote.

    Raises ValueError, with a message of one sentence, for any other file.
    """
    path = Path(path)
    try:
        with plain_file.open_file(path) as content:
            file = Archive(content, most=max(_UNPACKED, _TIMES_AS_LARGE * path.stat().st_size))
            if {"steps", "losses"} <= {*file.keys}:
                raise ValueError("it holds a recording, which attnviz.load_recording reads")
            if "format_version" not in file.keys and any(f"attn.{kind}" in file.keys for kind in KINDS):
                return _read_bare_weights(file)
            return _trace(file.arrays(key for key in file.keys if not key.startswith(_COMPUTED)))
    except _ANYTHING_ELSE as error:
        raise ValueError(f"{path.name} is not a trace saved by attnviz ({first_line(error)}).") from error


def _read_bare_weights(file: Archive) -> BareWeights:
    found: dict[str, Any] = {
        key: file.texts(key, most=_MOST_TOKENS, longest=_LONGEST) for key in file.keys if key in TEXTS
    }
    return trace_of(found | file.arrays(key for key in file.keys if key not in TEXTS))


def _trace(arrays: dict[str, np.ndarray]) -> Trace:
    if (version := int(arrays["format_version"])) != FORMAT_VERSION:
        raise ValueError(f"its format_version is {version}, this attnviz reads {FORMAT_VERSION}")
    meta = json.loads(arrays["meta"].tobytes().decode("utf-8"))
    tensors = {key: torch.from_numpy(array) for key, array in arrays.items() if key not in ("meta", "format_version")}
    sites = [_site(key) for key in tensors if key.startswith("query.")]
    return Trace(
        calls={site: _call(tensors, site) for site in sites},
        contexts={site: t for site in sites if (t := tensors.get(f"context.{site.kind}.{site.layer}")) is not None},
        layers={_layer(key): tensor for key, tensor in tensors.items() if key.startswith("layer.")},
        sentences=tuple(sentence_of(sentence, _pixels(arrays, at)) for at, sentence in enumerate(meta["sentences"])),
        memory=tensors.get("memory"),
        logits=tensors.get("logits"),
        info=RunInfo(**(meta["info"] | {"notes": tuple(meta["info"]["notes"])})),
        numbers={kind: tuple(map(int, numbers)) for kind, numbers in meta.get("numbers", {}).items()},
        names={kind: tuple(map(str, names)) for kind, names in meta.get("names", {}).items()},
        interventions=serialization.read(meta.get("interventions", ()), tensors),
    )


def _meta(trace: Trace) -> np.ndarray:
    meta = {"info": asdict(trace.info), "sentences": [_fields(sentence) for sentence in trace.sentences]}
    meta |= {"numbers": dict(trace.numbers)} if trace.numbers else {}
    meta |= {"names": dict(trace.names)} if trace.names else {}
    meta |= {"interventions": serialization.descriptions(trace.interventions)} if trace.interventions else {}
    return np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)


def _fields(sentence: Sentence) -> dict[str, Any]:
    """Return a sentence as JSON types, without its images' pixels, which are stored as separate arrays."""
    fields = asdict(replace(sentence, images=()))
    for token in (*fields["src"], *fields["tgt"]):
        if token["place"] is None:  # attnviz 1.0 reads a file whose tokens have no field that it does not know
            del token["place"]
    del fields["images"]
    grids = [{"size": image.size, "grid": image.grid, "patch": image.patch} for image in sentence.images]
    return fields | ({"images": grids} if grids else {})


def _image_arrays(trace: Trace) -> dict[str, np.ndarray]:
    return {
        f"image.{item}.{number}": image.array
        for item, sentence in enumerate(trace.sentences)
        for number, image in enumerate(sentence.images)
    }


def _array(tensor: Tensor) -> np.ndarray:
    tensor = tensor.detach().cpu()
    return (tensor.float() if tensor.dtype is torch.bfloat16 else tensor).numpy()


def _call(tensors: dict[str, Tensor], site: Site) -> AttentionCall:
    parts = {field: tensors.get(f"{key}.{site.kind}.{site.layer}") for key, field in _PARTS.items()}
    if missing := [field for field in ("query", "key", "value") if parts[field] is None]:
        raise ValueError(f"it has no {missing[0]} of {site.kind}, layer {site.layer}")
    scale, cap = (tensors.get(f"{name}.{site.kind}.{site.layer}") for name in ("scale", "softcap"))
    if scale is None:
        raise ValueError(f"it has no scale of {site.kind}, layer {site.layer}")
    attn, rows = (tensors.get(f"{name}.{site.kind}.{site.layer}") for name in ("edited", "edited_rows"))
    edited = None if attn is None or rows is None else EditedWeights(attn, rows)
    cap = None if cap is None else float(cap)
    return AttentionCall(**parts, scale=float(scale), softcap=cap, edited=edited)  # type: ignore[arg-type]


def _site(key: str) -> Site:
    _, kind, layer = key.split(".")
    if kind not in KINDS:
        raise ValueError(f"it has maps of an unknown kind {kind!r}")
    return Site(kind, int(layer))


def _layer(key: str) -> tuple[Any, int]:
    _, stack, layer = key.split(".")
    return stack, int(layer)


def _token(fields: dict[str, Any]) -> Token:
    """Read a saved token. In old files, the field `segment` has the name `part`."""
    values: dict[str, Any] = {_FORMERLY.get(name, name): value for name, value in fields.items()}
    if values.get("place") is not None:
        values["place"] = tuple(map(int, values["place"]))
    return Token(**values)


def _pixels(arrays: dict[str, np.ndarray], item: int) -> list[np.ndarray]:
    """Return the pixels of the images of a sentence, in order."""
    count = sum(key.startswith(f"image.{item}.") for key in arrays)
    return [arrays[f"image.{item}.{number}"] for number in range(count)]


def _seen_image(fields: dict[str, Any], pixels: np.ndarray) -> SeenImage:
    size, grid, patch = (tuple(map(int, fields[name])) for name in ("size", "grid", "patch"))
    if pixels.shape != (*size, 3) or pixels.dtype != np.uint8:
        raise ValueError(f"an image has {pixels.shape} pixels, not {(*size, 3)} bytes")
    return SeenImage(pixels.tobytes(), size, grid, patch)  # type: ignore[arg-type]  # each is two numbers


def sentence_of(fields: dict[str, Any], pixels: Sequence[np.ndarray] = ()) -> Sentence:
    """Return a sentence from its fields as written by `dataclasses.asdict`, and the pixels of its images."""
    tokens = {side: tuple(map(_token, fields[side])) for side in ("src", "tgt")}
    spans = tuple(Span(**span) for span in fields.get("spans", ()))
    images = tuple(_seen_image(*each) for each in zip(fields.get("images", ()), pixels, strict=True))
    values: dict[str, Any] = fields | tokens | {"spans": spans, "images": images}
    return Sentence(**values)
