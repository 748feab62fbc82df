"""Facts about a checkpoint's network and tokenizer, by name."""

import re
from pathlib import Path
from typing import Any

from torch import nn

from attnviz.models.chat import takes_chat
from attnviz.models.huggingface.images.image_model import ImageModel
from attnviz.models.huggingface.model import HuggingFaceModel
from attnviz.models.huggingface.network.network import embedding_of
from attnviz.models.huggingface.replay import ReplayedModel
from attnviz.text.display import display
from attnviz.text.limits import TextError

_FAMILIES = {"encoder": "encoder", "decoder": "decoder", "encoder-decoder": "encoder and decoder"}
_IN_CACHE = re.compile(r"models--(.+)")  # how huggingface_hub names the folder of a repository
_UNLIMITED = 10**9
_FEW_LABELS = 10  # labels of a classifier that are listed
_ENDS = {"bos": "begins", "eos": "ends", "cls": "begins", "sep": "separates", "pad": "padding", "mask": "mask"}


def checkpoint_facts(model: HuggingFaceModel | ReplayedModel | ImageModel) -> dict[str, dict[str, str]]:
    """Return facts about the model, its attention and its text."""
    network = model.torch_module
    kind = type(network).__name__
    writes = "text" if model.writes else "no text" + (", predicts masked words" if model.writes_logits else "")
    return {
        "model": {"architecture": f"{_FAMILIES[model.family]}, {kind}", "writes": writes} | _source(model.folder),
        "attention": positions_of(network, model) | _window(network.config.get_text_config()),
        "text": _image(model) if isinstance(model, ImageModel) else _text(model),
    }


def _source(folder: Path | None) -> dict[str, str]:
    """Return the hub's repository and revision of a model that is in the hub's cache."""
    inside = _IN_CACHE.fullmatch(folder.parent.parent.name) if folder is not None else None
    if folder is None or inside is None or folder.parent.name != "snapshots":
        return {}
    return {"from": f"huggingface.co/{inside[1].replace('--', '/')}, revision {folder.name[:12]}"}


def positions_of(network: nn.Module, model: HuggingFaceModel | ReplayedModel | ImageModel) -> dict[str, str]:
    """Describe how the model encodes positions, and how many positions it has."""
    names = {name.rpartition(".")[2]: module for name, module in network.named_modules()}
    kinds = {type(module).__name__ for module in names.values()}
    ways = []
    if any("Rotary" in kind for kind in kinds):
        ways.append("rotary")
    if any("Sinusoidal" in kind for kind in kinds):
        ways.append("sinusoidal")
    tables = {
        module.weight.shape[0]
        for name, module in network.named_modules()
        if isinstance(module, nn.Embedding) and _is_of_positions(name, type(module).__name__)
    }
    ways += [f"a learned table of {rows:,}" for rows in sorted(tables)]
    if any("relative_attention_bias" in name for name in names):
        ways.append("a learned bias by distance")
    most = _UNLIMITED if isinstance(model, ImageModel) else model.text.max_tokens
    places = {"room for": f"{most:,} tokens"} if most < _UNLIMITED else {}
    return ({"positions": ", ".join(ways)} if ways else {}) | places


def _is_of_positions(name: str, kind: str) -> bool:
    last = name.rpartition(".")[2]
    return ("position" in last or last in {"wpe", "embed_positions"}) and "Sinusoidal" not in kind


def _window(config: Any) -> dict[str, str]:
    """Describe the sliding window of a config and the layers that have it; {} if there is none."""
    window, types = getattr(config, "sliding_window", None), getattr(config, "layer_types", None)
    if not isinstance(window, int) or isinstance(window, bool):
        return {}
    layers = [at for at, kind in enumerate(types) if "sliding" in str(kind)] if types else None
    if layers == []:
        return {}
    where = (
        "every layer" if not types or layers is None or len(layers) == len(types) else f"layers {_join_layers(layers)}"
    )
    return {"sliding window": f"{window:,} (sliding_window of its config), in {where}"}


def _join_layers(layers: list[int]) -> str:
    few = ", ".join(map(str, layers[:8]))
    return few if len(layers) <= 8 else f"{few} … ({len(layers)} in all)"


def _image(model: ImageModel) -> dict[str, str]:
    """Describe how the model reads an image."""
    special = ", ".join((*model.order.before, *model.order.after)) or "none"
    patch = "{} × {} pixels".format(*model.order.patch)
    found = {"image processor": model.reader.name, "patches of": patch, "special tokens": special}
    if model.labels:
        more = " …" if len(model.labels) > _FEW_LABELS else ""
        found["labels"] = f"{len(model.labels):,}: {', '.join(map(display, model.labels[:_FEW_LABELS]))}{more}"
    return found


def _text(model: HuggingFaceModel | ReplayedModel) -> dict[str, str]:
    text = model.text
    tokenizer: Any = text._tokenizer  # the wrapper has names that its backend lacks
    backend = getattr(tokenizer, "backend_tokenizer", None)
    sort = type(tokenizer if backend is None else backend.model).__name__
    table = embedding_of(model.torch_module)
    rows = text.vocab_size if table is None else table.shape[0]
    beside = f"; the model has room for {rows:,}" if rows != text.vocab_size else ""
    found = {"vocabulary": f"{text.vocab_size:,} pieces, {sort}{beside}"}
    unknown = text.unknown_id
    if unknown is not None:
        found["unknown text"] = f"{display(text.piece(unknown))}, id {unknown}"
    ends = {name: getattr(tokenizer, f"{name}_token_id", None) for name in _ENDS}
    named = [f"{display(text.piece(id_))} {id_} ({_ENDS[name]})" for name, id_ in ends.items() if id_ is not None]
    try:
        if takes_chat(model):
            found["conversation"] = "has a chat template"
    except TextError as why:
        found["conversation"] = str(why)
    return found | ({"special tokens": ", ".join(dict.fromkeys(named))} if named else {})
