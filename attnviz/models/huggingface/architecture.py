"""Read a model's architecture from its config: its class in transformers, whether it generates text, and its limits."""

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import transformers
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForMultimodalLM,
    AutoModelForSeq2SeqLM,
)
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import AutoModelForTextEncoding

from attnviz.models.huggingface.errors import ModelError, reason
from attnviz.models.huggingface.files import folder as files_folder

_LAYERS = ("num_hidden_layers", "encoder_layers", "decoder_layers", "num_layers", "num_decoder_layers", "n_layer")
_AFTER_PADDING = ("camembert", "data2vec-text", "esm", "mpnet", "xmod")  # count positions like RoBERTa
_MOST_LAYERS_A_TENSOR = 10  # ALBERT's layers share sixteen tensors; no model has ten layers per tensor
# The reason for refusing a class that takes no token ids, although that is the name of its main input.
_NO_IDS = {"input ids": "its parts have a forward pass, but the whole model has none"}
_SEVERAL_CODES = "each position of its input holds several audio codes"
# Model families whose passes are not over the tokens of one text, and the reason.
_NOT_OVER_TOKENS = {
    "blt": "it attends among patches, each made of several bytes",
    "dia": "each position of its decoder's input holds several audio codes",
    "diffusion_gemma": "it fills a canvas with random tokens, so that no two of its passes are the same",
    "gemma4_assistant": "it drafts for another Gemma 4, whose keys and values it reads",
    "gemma4_unified_assistant": "it drafts for another Gemma 4, whose keys and values it reads",
    "kyutai_speech_to_text": "each position of its input holds a token and several audio codes",
    "musicgen_decoder": _SEVERAL_CODES,
    "musicgen_melody_decoder": _SEVERAL_CODES,
    "perceiver": "it attends from learned latents, which are not tokens, to bytes",
}
_PACKED = ("quantization_config", "compression_config")  # the latter in old files by compressed-tensors
_OF_DECODERS = {  # includes models of pictures and sounds, which are shown with text only
    AutoModelForCausalLM: modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING,
    AutoModelForMultimodalLM: modeling_auto.MODEL_FOR_MULTIMODAL_LM_MAPPING,
    AutoModelForSeq2SeqLM: modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING,
}
_WRITERS = ("CausalLM", "LMHead", "DoubleHeads", "ForConditionalGeneration", "MTModel")


@dataclass(frozen=True)
class Architecture:
    """How to build a model: `auto` is transformers' class for it.

    `writes` says whether it has a language-model head, `has_both` whether it has an encoder and a decoder.
    """

    auto: Any
    writes: bool = False
    has_both: bool = False


def read_config(folder: Path, tensors: int) -> Any:
    """Read the transformers config of a folder whose weights hold `tensors` tensors. Raises ModelError."""
    content = files_folder.read_json(folder / files_folder.CONFIG)
    if packed := next((content[key] for key in _PACKED if content.get(key)), None):
        raise ModelError(
            f"The model's weights are quantised{_method(packed)}, which attnviz does not read. Please "
            "pass the full weights, or load it with transformers and hand it to attnviz.load(model, "
            "tokenizer)."
        )
    kind = content.get("model_type")
    if not isinstance(kind, str):
        raise ModelError(
            f"{files_folder.CONFIG} in {folder.name!r} has no model_type, so it is not a transformers model."
        )
    if not _are_names(content.get("architectures")):
        raise ModelError(f"{files_folder.CONFIG} in {folder.name!r} has architectures that are not a list of names.")
    try:
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:  # any error: the config may contain anything
        if kind in CONFIG_MAPPING:
            raise ModelError(
                f"{files_folder.CONFIG} in {folder.name!r} is not a config of {kind} ({reason(error)})."
            ) from error
        unknown = "is of a type that transformers does not know"
        asks = "needs its own code to be run" if "auto_map" in content else unknown
        raise ModelError(f"The model in {folder.name!r} {asks} ({kind}).") from error
    _check_layers(config, tensors, folder.name)
    return config


def _method(packed: Any) -> str:
    """Return the quantisation method in a config, in brackets, or ""."""
    said = packed.get("quant_method") if isinstance(packed, dict) else None
    return f" ({said[:40]})" if isinstance(said, str) and said.isprintable() else ""


def has_layer_count(folder: Path) -> bool:
    """Check whether a config names a number of layers, because transformers fills in a missing one."""
    return any(name in files_folder.read_json(folder / files_folder.CONFIG) for name in (*_LAYERS, "n_layers"))


def choose_architecture(config: Any) -> Architecture:
    """Choose the class to load: the one the checkpoint was saved as, or its base model if attnviz cannot use the head.

    A classifier gets no language-model head, even if its embeddings could serve as one. Raises ModelError for a model
    that does not read text.
    """
    names, sort = tuple(config.architectures or ()), type(config)
    if sort in modeling_auto.MODEL_MAPPING:
        refuse_what_reads_no_text(config, _class_of(config, modeling_auto.MODEL_MAPPING))
    if sort in modeling_auto.MODEL_FOR_TEXT_ENCODING_MAPPING and any("EncoderModel" in name for name in names):
        return Architecture(AutoModelForTextEncoding)
    if config.is_encoder_decoder and sort in modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING:
        writes = not names or _writes(config, modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING)
        return Architecture(AutoModelForSeq2SeqLM if writes else AutoModel, writes, has_both=True)
    if is_encoder(config):
        masked = any("MaskedLM" in name for name in names)
        return Architecture(AutoModelForMaskedLM if masked else AutoModel)
    found = _decoder(config) or _named_class(config)
    if found is None and sort in modeling_auto.MODEL_MAPPING:
        found = Architecture(AutoModel, has_both=bool(config.is_encoder_decoder))
    if found is None:
        raise ModelError(f"{config.model_type!r} is not a text model that attnviz can read (encoder, decoder or both).")
    return found


def _decoder(config: Any) -> Architecture | None:
    """Return the class of a model that writes text after a prompt, or the class of the same model without its head."""
    sort = type(config)
    mappings = [(auto, mapping) for auto, mapping in _OF_DECODERS.items() if sort in mapping]
    mappings.sort(key=lambda pair: _class_of(config, pair[1]).__name__ not in (config.architectures or ()))
    for auto, mapping in mappings:
        if _writes(config, mapping) or sort in modeling_auto.MODEL_MAPPING:
            refuse_what_reads_no_text(config, _class_of(config, mapping))
            writes = _writes(config, mapping)
            return Architecture(auto if writes else AutoModel, writes, has_both=bool(config.is_encoder_decoder))
    return None


def _named_class(config: Any) -> Architecture | None:
    """Return the class named in a config if transformers maps no class to the config.

    Examples are the language model of an image model, saved alone, and Evolla.
    """
    for name in config.architectures or ():
        named: Any = getattr(transformers, name, None)
        if getattr(named, "config_class", None) is type(config) and (named.can_generate() or name.endswith("Model")):
            refuse_what_reads_no_text(config, named)
            return Architecture(named, named.can_generate(), has_both=bool(config.is_encoder_decoder))
    return None


def refuse_what_reads_no_text(config: Any, model: Any) -> None:
    """Raise ModelError for a class whose `forward` takes no token ids, or requires other inputs too."""
    if says := _NOT_OVER_TOKENS.get(config.model_type):
        raise ModelError(f"{config.model_type!r} is not a text model that attnviz can read: {says}.")
    taken = inspect.signature(model.forward).parameters
    if "input_ids" not in taken:
        what = model.main_input_name.replace("_", " ")
        says = _NO_IDS.get(what, f"its input is {what}")
        raise ModelError(f"{config.model_type!r} is not a text model that attnviz can read: {says}.")
    if "text" not in getattr(model, "input_modalities", "text"):
        what = " and ".join(model.input_modalities)
        raise ModelError(f"{config.model_type!r} is not a text model that attnviz can read: its ids are {what} data.")
    needs = [
        name
        for name, one in list(taken.items())[1:]
        if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD
    ]
    if needs := [name.replace("_", " ") for name in needs if name != "input_ids"]:
        raise ModelError(f"{config.model_type!r} cannot read a text alone: its pass needs {' and '.join(needs)} too.")


def is_encoder(config: Any) -> bool:
    """Check whether the model reads a whole text, or a pair of texts, and writes no text."""
    if any("EncoderModel" in name for name in config.architectures or ()):
        return True
    sort = type(config)
    reads = sort in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING or (
        sort in modeling_auto.MODEL_MAPPING and not any(sort in mapping for mapping in _OF_DECODERS.values())
        and getattr(config, "type_vocab_size", 0) > 1
    )  # fmt: skip
    return reads and not config.is_encoder_decoder and not getattr(config, "is_decoder", False)


def without_head(model: Any) -> Any:
    """Return the innermost base model; DPR wraps two classes around a BERT."""
    while (inner := model.base_model) is not model:
        model = inner
    return model


def positions(config: Any) -> int:
    """Return the model's number of positions. RoBERTa's positions begin after its padding id."""
    text = config.get_text_config()
    said = next((n for part in (config, text) if (n := getattr(part, "max_position_embeddings", None))), None)
    if not isinstance(said, int) or said < 1:
        return 10**9
    after_padding = "roberta" in config.model_type or config.model_type in _AFTER_PADDING
    return said - ((getattr(config, "pad_token_id", None) or 0) + 1 if after_padding else 0)


def vocabulary_of(config: Any) -> int:
    """Return the size of a model's vocabulary, or of the decoder's if it differs from the encoder's (FSMT).

    Raises ModelError for a model that reads characters or bytes, without a vocabulary of tokens.
    """
    known = getattr(config.get_text_config(decoder=True), "vocab_size", None)
    if known is None:
        raise ModelError(
            f"{config.model_type!r} reads characters and has no vocabulary of tokens, so its maps would have no labels."
        )
    return known


def _check_layers(config: Any, tensors: int, name: str) -> None:
    text = config.get_text_config()
    said = [n for part in (config, text) for key in _LAYERS if isinstance(n := getattr(part, key, None), int)]
    layers = max(said, default=1)
    if layers < 1:
        raise ModelError(f"{files_folder.CONFIG} in {name!r} asks for {layers} layers, so there is nothing to show.")
    if layers > tensors * _MOST_LAYERS_A_TENSOR:  # otherwise a config of a billion layers would be built
        raise ModelError(f"config.json asks for {layers:,} layers; the weights hold only {tensors} tensors.")


def _are_names(said: Any) -> bool:
    """Check whether a config's `architectures` is a list of class names or missing."""
    return said is None or (isinstance(said, list) and all(isinstance(name, str) for name in said))


def _writes(config: Any, mapping: Any) -> bool:
    """Check whether the config names a class with a language-model head, or exactly the class that transformers maps to
    it.
    """
    own = _class_of(config, mapping).__name__
    names = config.architectures or ()
    return any(name == own or any(part in name for part in _WRITERS) for name in names)


def _class_of(config: Any, mapping: Any) -> type:
    """Return the class that transformers maps to a config, or the first of several."""
    found = mapping[type(config)]
    return found[0] if isinstance(found, list | tuple) else found
