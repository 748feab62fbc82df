"""Read a GGUF file with transformers: its weights unpacked to float32, its tokenizer and chat template."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoTokenizer
from transformers.models.auto import modeling_auto

from attnviz.extras import LIBRARIES, needs
from attnviz.models.huggingface.architecture import Architecture, choose_architecture
from attnviz.models.huggingface.errors import ModelError, reason
from attnviz.models.huggingface.files import growth
from attnviz.models.huggingface.files.folder import Progress
from attnviz.models.huggingface.files.gguf import GgufHeader
from attnviz.models.huggingface.weights import MOST_MORE, MOST_TIMES, count_asked
from attnviz.text.limits import catch_panics

_WRITERS = (
    modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
)


def require_libraries() -> None:
    """Raise MissingExtraError, with the install command, if the libraries that unpack GGUF files are missing."""
    with needs("gguf", "A GGUF file"):
        for library in LIBRARIES["gguf"]:  # transformers imports them
            import_module(library)


def read_gguf(path: Path, header: GgufHeader, tell: Progress) -> tuple[Any, Any, Architecture]:
    """Return the model of a GGUF file in float32, its tokenizer and its architecture. Raises ModelError."""
    how: dict[str, Any] = {"gguf_file": path.name, "local_files_only": True, "trust_remote_code": False}
    try:
        config = AutoConfig.from_pretrained(path.parent, **how)
    except Exception as error:  # any type: the header may contain anything
        raise ModelError(
            f"transformers does not read {path.name!r}: its architecture is {header.architecture!r} ({reason(error)})."
        ) from error
    config.architectures = config.architectures or _writer(config)
    architecture = choose_architecture(config)
    if (asked := count_asked(config, architecture.auto)) > MOST_TIMES * header.numbers + MOST_MORE:
        raise ModelError(
            f"The weights in {path.name!r} contain {header.numbers:,} parameters, but the header of "
            f"the file asks for {asked:,}."
        )
    tell(0.3, "Reading the tokenizer")
    tokenizer = _tokenizer(path, how)
    tell(0.4, "Unpacking the weights")
    return _weights(path, config, architecture, how), tokenizer, architecture


def _writer(config: Any) -> list[str]:
    """Return the name of the text-generating class for a config, because a GGUF file does not name a class."""
    return [names[config.model_type] for names in _WRITERS if config.model_type in names][:1]


@catch_panics()
def _tokenizer(path: Path, how: dict[str, Any]) -> Any:
    try:
        tokenizer = AutoTokenizer.from_pretrained(path.parent, **how)
        backend = json.loads(tokenizer.backend_tokenizer.to_str())
    except Exception as error:
        raise ModelError(f"The tokenizer in {path.name!r} cannot be read ({reason(error)}).") from error
    growth.check_steps(backend, path.name)
    return tokenizer


def _weights(path: Path, config: Any, architecture: Architecture, how: dict[str, Any]) -> Any:
    try:
        model, info = architecture.auto.from_pretrained(
            path.parent,
            config=config,
            dtype=torch.float32,
            output_loading_info=True,
            **how,
        )
    except Exception as error:
        raise ModelError(f"The weights in {path.name!r} do not fit its header ({reason(error)}).") from error
    if missing := sorted({*info["missing_keys"], *(name for name, *_ in info["mismatched_keys"])}):
        raise ModelError(
            f"The weights in {path.name!r} do not contain {missing[0]!r}, so this parameter would be random."
        )
    # The weights are unpacked, so nothing may refer to GGUF any more.
    model.hf_quantizer = None
    vars(model.config).pop("quantization_config", None)
    return model
