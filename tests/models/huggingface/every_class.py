"""Every class of transformers that reads text, each as a small random checkpoint in a folder."""

import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from transformers.models.auto import modeling_auto

from tests.models.huggingface.checkpoints import fill_at_random
from tests.models.huggingface.tiny_configs import tiny_config
from tests.models.huggingface.tokenizers_made import byte_prompts, pieces, word_pieces

HEADS = {
    "causal": modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING,
    "masked": modeling_auto.MODEL_FOR_MASKED_LM_MAPPING,
    "seq2seq": modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING,
}
_TOKENIZERS = {
    "causal": byte_prompts, "masked": word_pieces, "seq2seq": pieces, "base": byte_prompts, "multimodal": byte_prompts,
}  # fmt: skip
_BEYOND_TEXT = (
    "pixel", "input_features", "input_values", "audio", "image", "speech", "video", "visual", "bbox", "spectrogram",
    "codec",
)  # fmt: skip
# What transformers' own check of a class asks of its config.
_OF_A_CLASS: dict[str, dict[str, Any]] = {
    "ReformerModelWithLMHead": {"is_decoder": True},
    "ReformerForMaskedLM": {"is_decoder": False},
}
SORTS = {
    "causal": "Language models", "masked": "Masked language models", "seq2seq": "From one text to another",
    "base": "Text models without a head", "multimodal": "Models of pictures and sounds, on their text alone",
}  # fmt: skip
_ROOM = 16  # ids beyond the tokenizer's, for pictures and sounds


@cache
def text_classes() -> dict[str, tuple[type, str]]:
    """Return every causal, masked and seq2seq class and every base model that reads text alone, by name, with the
    sort of its head.
    """
    found: dict[str, tuple[type, str]] = {}
    configs = set()
    for sort, mapping in HEADS.items():
        for config, kind in _classes(mapping):
            configs.add(config)
            found.setdefault(kind.__name__, (kind, sort))
    for config, kind in _classes(modeling_auto.MODEL_MAPPING):
        if config not in configs and kind.__name__ not in found and _reads_text_alone(kind):
            found[kind.__name__] = kind, "base"
    for _, kind in _classes(modeling_auto.MODEL_FOR_MULTIMODAL_LM_MAPPING):
        found.setdefault(kind.__name__, (kind, "multimodal"))
    return found


def _classes(mapping: Any) -> Iterator[tuple[type, type]]:
    for config in mapping:
        try:
            kinds = mapping[config]
        except ValueError:  # a class that this transformers names and does not have
            continue
        yield from ((config, kind) for kind in (kinds if isinstance(kinds, tuple | list) else (kinds,)))


def _reads_text_alone(kind: type) -> bool:
    try:
        taken = inspect.signature(kind.forward).parameters  # type: ignore[attr-defined]
    except ImportError:  # of a class that asks for a package
        return False
    return "input_ids" in taken and not any(part in name for name in taken for part in _BEYOND_TEXT)


def save_class(kind: Any, sort: str, folder: Path) -> Path:
    """Write a small checkpoint of a class into a folder, with a tokenizer of the tests' own making."""
    tokenizer = _TOKENIZERS[sort]()
    vocab_size = len(tokenizer) + _ROOM
    ids = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}
    made = kind.config_class
    config = tiny_config(made, vocab_size=vocab_size, **_OF_A_CLASS.get(kind.__name__, {}))
    for part in (config, config.get_text_config(), config.get_text_config(decoder=True)):
        for name, id_ in ids.items():
            setattr(part, name, id_)
    if config.is_encoder_decoder:
        config.decoder_start_token_id = ids["eos_token_id"]
    fill_at_random(lambda: kind(config).eval(), noise=0.1).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
