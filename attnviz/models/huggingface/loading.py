"""From a folder or a hub id to a model that was found faithful, or to one sentence that says why not."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from attnviz.models.huggingface import parity
from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.files import folder as files_folder
from attnviz.models.huggingface.files import growth, locate, state_dict
from attnviz.models.huggingface.files.folder import Progress
from attnviz.models.huggingface.files.loading_lock import exclusive_loading
from attnviz.models.huggingface.generate import GenerationRules
from attnviz.models.huggingface.model import HuggingFaceModel
from attnviz.models.huggingface.network import attention_interface, patches
from attnviz.models.huggingface.network.network import Batch, uses_segments
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer

_LAYERS = ("num_hidden_layers", "encoder_layers", "decoder_layers", "num_layers", "num_decoder_layers", "n_layer")
_AFTER_PADDING = ("camembert", "data2vec-text", "esm", "xmod")  # their positions are counted as RoBERTa's
_MOST_LAYERS_A_TENSOR = 10  # ALBERT shares a layer's sixteen tensors; no model makes ten layers of one


@dataclass(frozen=True)
class _Head:
    """How transformers should build a model, and whether it can write."""

    auto: Any
    writes: bool


def load(
    model: str | Path, *, device: torch.device, dtype: torch.dtype, limit: int | None = None,
    progress: Progress | None = None,
) -> HuggingFaceModel:  # fmt: skip
    """A checkpoint in transformers' format, from a local folder or from the hub.

    `limit` is in bytes of weights; left out, as ATTNVIZ_MAX_MODEL_GB says. `progress(share, what)` is told how far it
    is, 0 to 1. Raises ModelError (a ValueError) with one sentence: no such model, no tokenizer, only pickles, too
    large, or an attention that the package does not reproduce.
    """
    tell, limit = progress or (lambda share, what: None), files_folder.size_limit() if limit is None else limit
    folder = locate.folder_of(model, limit=limit, progress=tell)
    files_folder.check_folder(folder)
    weights = files_folder.weight_files(folder)
    tensors, numbers = files_folder.count_numbers(weights)
    files_folder.check_size(numbers, 4, limit)  # float32: every model is compared in it
    attention_interface.register()
    with exclusive_loading():
        config = _config(folder, tensors)
        tell(0.3, "Reading the tokenizer")
        text = _text(folder, config)
        tell(0.4, "Reading the weights")
        head = _head(config)
        _check_asked(weights, config, head, numbers)
        network = _weights(folder, config, head, weights)
        tell(0.8, "Comparing with transformers' own attention")
        made = _faithful(network, text, head)
    made.network.to(device, dtype)
    made.name, made.model_id = str(model) if not Path(model).is_dir() else folder.name, files_folder.weights_id(weights)
    made.folder = folder
    tell(1.0, "Ready")
    return made


def _config(folder: Path, tensors: int) -> Any:
    content = files_folder.read_json(folder / files_folder.CONFIG)
    if "quantization_config" in content:
        raise ModelError("The model's weights are quantised, which attnviz does not read: give the full weights.")
    kind = content.get("model_type")
    if not isinstance(kind, str):
        raise ModelError(
            f"{files_folder.CONFIG} in {folder.name!r} names no model_type: it is not one of transformers."
        )
    if not _are_names(content.get("architectures")):
        raise ModelError(f"{files_folder.CONFIG} in {folder.name!r} gives architectures that are no list of names.")
    try:
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:  # whatever is in the file; its author, not the reader, can mend it
        if kind in CONFIG_MAPPING:
            raise ModelError(
                f"{files_folder.CONFIG} in {folder.name!r} is no config of {kind} ({_reason(error)})."
            ) from error
        unknown = "is of a kind that transformers does not know"
        asks = "asks to run code of its own" if "auto_map" in content else unknown
        raise ModelError(f"The model in {folder.name!r} {asks} ({kind}).") from error
    said = [n for key in _LAYERS if isinstance(n := getattr(config, key, None), int)]
    layers = max(said, default=1)
    if layers < 1:
        raise ModelError(
            f"{files_folder.CONFIG} in {folder.name!r} asks for {layers} layers: there is nothing to show."
        )
    if layers > tensors * _MOST_LAYERS_A_TENSOR:  # or a config of a billion layers would be built, one by one
        raise ModelError(f"config.json asks for {layers:,} layers; the weights hold only {tensors} tensors.")
    return config


def _are_names(said: Any) -> bool:
    """Whether these are names of classes; a config may also leave them out."""
    return said is None or (isinstance(said, list) and all(isinstance(name, str) for name in said))


def _text(folder: Path, config: Any) -> CheckpointTokenizer:
    growth.check(folder)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            folder, config=config, use_fast=True, trust_remote_code=False, local_files_only=True
        )
    except Exception as error:
        raise ModelError(f"The tokenizer in {folder.name!r} cannot be read: a tokenizer.json would do.") from error
    known = config.get_text_config().vocab_size
    return CheckpointTokenizer(tokenizer, max_tokens=_positions(config), known=known, takes_pairs=_is_encoder(config))


def _positions(config: Any) -> int:
    """Tokens that there are positions for; RoBERTa's begin after its padding id."""
    positions = getattr(config, "max_position_embeddings", None)
    if not isinstance(positions, int) or positions < 1:
        return 10**9
    after_padding = "roberta" in config.model_type or config.model_type in _AFTER_PADDING
    return positions - ((config.pad_token_id or 0) + 1 if after_padding else 0)


def _head(config: Any) -> _Head:
    """The class to load: what the checkpoint was saved as, without heads that the package has no use for."""
    names, sort = " ".join(config.architectures or ()), type(config)
    if config.is_encoder_decoder and sort in modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING:
        return _Head(AutoModelForSeq2SeqLM, writes=True)
    if _is_encoder(config):
        return _Head(AutoModelForMaskedLM if "MaskedLM" in names else AutoModel, writes=False)
    if sort in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING:
        writes = "CausalLM" in names or "LMHead" in names
        return _Head(AutoModelForCausalLM if writes else AutoModel, writes=writes)
    raise ModelError(f"{config.model_type!r} is not a model of text that attnviz reads: encoder, decoder or both.")


def _is_encoder(config: Any) -> bool:
    """Whether the model reads a text, or a pair, as a whole and writes none."""
    reads = type(config) in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING
    return reads and not config.is_encoder_decoder and not getattr(config, "is_decoder", False)


def _check_asked(weights: tuple[Path, ...], config: Any, head: _Head, numbers: int) -> None:
    """Raises ModelError where a config asks for far more numbers than the files hold, before there is room for any.

    transformers makes what a file lacks: tables of positions from the config's own sizes, a tensor that is missing.
    """
    try:
        asked = state_dict.asked(config, head.auto)
    except Exception:  # what cannot even be built says so when it is loaded
        return
    if asked > state_dict.MOST_TIMES * numbers + state_dict.MOST_MORE:
        counts = f"they hold {numbers:,} numbers, and it asks for {asked:,}"
        how = _misfit(weights, config, head) or counts
        raise ModelError(f"The weights in {weights[0].parent.name!r} do not fit their config ({how}).")


def _weights(folder: Path, config: Any, head: _Head, weights: tuple[Path, ...]) -> Any:
    try:
        model, info = head.auto.from_pretrained(
            folder, config=config, dtype=torch.float32, attn_implementation="eager", use_safetensors=True,
            trust_remote_code=False, local_files_only=True, output_loading_info=True,
        )  # fmt: skip
    except Exception as error:
        how = _misfit(weights, config, head) or _reason(error)
        raise ModelError(f"The weights in {folder.name!r} do not fit their config ({how}).") from error
    missing = sorted(name for name in info["missing_keys"] if "pooler" not in name)  # a pooler comes after attention
    if missing or info["mismatched_keys"]:
        name = missing[0] if missing else sorted(info["mismatched_keys"])[0]
        raise ModelError(f"The weights in {folder.name!r} lack {name!r} as its config has it: it would be random.")
    if name := state_dict.left_over(set(info["unexpected_keys"])):
        raise ModelError(f"The weights in {folder.name!r} hold {name!r}, for which their config has no place.")
    patches.keep_apart(model)
    return model.requires_grad_(False).eval()


def _misfit(weights: tuple[Path, ...], config: Any, head: _Head) -> str | None:
    try:
        return state_dict.misfit(weights, config, head.auto)
    except Exception:  # a model that cannot even be built has said so in its own words
        return None


def _faithful(model: Any, text: CheckpointTokenizer, head: _Head) -> HuggingFaceModel:
    """The model with our attention in it, once it was found to compute what its own does."""
    sample, target = _samples(model.config, text)
    try:
        expected = parity.eager(model, sample, target)
        network = parity.with_our_attention(model, sample, target)
        parity.assert_equal(network, expected, sample, target)
        rules = GenerationRules.of(model)
    except ModelError:
        raise
    except Exception as error:  # a model that cannot even run has its own reasons, of every type
        raise ModelError(f"The model cannot be run on a sentence ({_reason(error)}).") from error
    return HuggingFaceModel(network, text, rules, writes=head.writes)


def _samples(config: Any, text: CheckpointTokenizer) -> tuple[Batch, Batch | None]:
    long, short = text.probe()
    highest = max((*long.ids, *short.ids, text.pad_id))
    if highest >= config.get_text_config().vocab_size:
        raise ModelError(f"The tokenizer gives ids up to {highest}; the model knows {config.vocab_size} tokens.")
    segments = [long.segments, short.segments] if uses_segments(config) else None
    sample = Batch.of([long.ids, short.ids], text.pad_id, segments)
    if not config.is_encoder_decoder:
        return sample, None
    start = config.decoder_start_token_id or 0
    return sample, Batch.of([(start, *long.ids[:3]), (start, *short.ids[:2])], text.pad_id)


def _reason(error: Exception) -> str:
    """The first line of what an error says, in brackets behind our own sentence."""
    lines = str(error).strip().splitlines()
    return lines[0][:200].rstrip(".") if lines else type(error).__name__
