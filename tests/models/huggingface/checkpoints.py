"""Small checkpoints with random weights, saved as their authors would save them: config, weights, tokenizer.

Sizes that must not be mixed up differ wherever an architecture lets them. Weights are large enough for attention to be
far from even: on the tiny ones that transformers begins with, a forgotten mask or bias would hardly show.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers

from tests.models.huggingface.tokenizers_made import bos_pieces, byte_level, byte_prompts, pieces, word_pieces

POSITIONS = 61  # RoBERTa takes two of them for its padding

# BERT's names, which most configurations know.
_ENCODER = {
    "hidden_size": 35, "num_hidden_layers": 3, "num_attention_heads": 5, "intermediate_size": 23,
    "max_position_embeddings": POSITIONS, "type_vocab_size": 2,
}  # fmt: skip
_DECODER = {
    "hidden_size": 29, "num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 14,
    "intermediate_size": 23, "max_position_embeddings": POSITIONS,
}  # fmt: skip
_BART = {
    "d_model": 30, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 5,
    "decoder_attention_heads": 3, "encoder_ffn_dim": 23, "decoder_ffn_dim": 19, "max_position_embeddings": POSITIONS,
}  # fmt: skip


@dataclass(frozen=True)
class Recipe:
    """How to make a checkpoint: class of the model, its config's own arguments, and its tokenizer."""

    model: str
    config: str
    sizes: dict[str, Any]
    tokenizer: Callable[[], transformers.PreTrainedTokenizerFast]


ENCODERS = {
    "bert": Recipe("BertForMaskedLM", "BertConfig", _ENCODER, word_pieces),
    "roberta": Recipe("RobertaForMaskedLM", "RobertaConfig", _ENCODER | {"type_vocab_size": 1}, byte_level),
    "distilbert": Recipe(
        "DistilBertForMaskedLM",
        "DistilBertConfig",
        {"dim": 35, "n_layers": 3, "n_heads": 5, "hidden_dim": 23, "max_position_embeddings": POSITIONS},
        word_pieces,
    ),
    "albert": Recipe("AlbertForMaskedLM", "AlbertConfig", _ENCODER | {"embedding_size": 13}, word_pieces),
    "electra": Recipe("ElectraModel", "ElectraConfig", _ENCODER | {"embedding_size": 13}, word_pieces),
}
DECODERS = {
    "gpt2": Recipe(
        "GPT2LMHeadModel",
        "GPT2Config",
        {"n_embd": 35, "n_layer": 3, "n_head": 5, "n_positions": POSITIONS},
        byte_prompts,
    ),
    "gpt_neox": Recipe(
        "GPTNeoXForCausalLM",
        "GPTNeoXConfig",
        _DECODER | {"hidden_size": 84, "rotary_pct": 0.25, "num_key_value_heads": None, "head_dim": None},
        byte_prompts,
    ),
    "llama": Recipe("LlamaForCausalLM", "LlamaConfig", _DECODER | {"hidden_size": 84, "head_dim": 10}, bos_pieces),
    "mistral": Recipe("MistralForCausalLM", "MistralConfig", _DECODER | {"sliding_window": 7}, bos_pieces),
    "qwen2": Recipe("Qwen2ForCausalLM", "Qwen2Config", _DECODER | {"hidden_size": 84, "head_dim": None}, byte_prompts),
    "qwen3": Recipe("Qwen3ForCausalLM", "Qwen3Config", _DECODER, byte_prompts),
    "gemma": Recipe("GemmaForCausalLM", "GemmaConfig", _DECODER, bos_pieces),
    "phi": Recipe(
        "PhiForCausalLM", "PhiConfig", _DECODER | {"hidden_size": 96, "partial_rotary_factor": 0.5, "head_dim": None},
        byte_prompts,
    ),
}  # fmt: skip
PAIRS = {
    "marian": Recipe("MarianMTModel", "MarianConfig", _BART, pieces),
    "bart": Recipe("BartForConditionalGeneration", "BartConfig", _BART, byte_level),
    "t5": Recipe(
        "T5ForConditionalGeneration",
        "T5Config",
        {"d_model": 29, "d_kv": 7, "d_ff": 23, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 5},
        pieces,
    ),
}
ALL = ENCODERS | DECODERS | PAIRS


def save(folder: Path, recipe: Recipe, **changed: Any) -> Path:
    """Make a checkpoint and write it; `changed` goes over the config's sizes."""
    tokenizer = recipe.tokenizer()
    ids = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}
    extra: dict[str, Any] = {"vocab_size": len(tokenizer)} | ids
    if recipe in PAIRS.values():
        extra |= {"decoder_start_token_id": ids["pad_token_id"], "forced_eos_token_id": None}
    sizes = {name: value for name, value in (recipe.sizes | changed).items() if value is not None}
    config = getattr(transformers, recipe.config)(**(extra | sizes))
    random_model(recipe.model, config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def random_model(name: str, config: Any) -> Any:
    """Build a model of that class and config, with weights that are the same each time."""
    return fill_at_random(lambda: getattr(transformers, name)(config).eval())


def fill_at_random(build: Callable[[], Any], *, noise: float = 0.3) -> Any:
    """Build a model, and add to its weights noise that is the same each time."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        model = build()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn_like(parameter) * noise)
    return model


def reference(folder: Path) -> Any:
    """Load the same checkpoint by transformers alone, with its eager attention."""
    auto = {"MaskedLM": "AutoModelForMaskedLM", "CausalLM": "AutoModelForCausalLM", "LMHead": "AutoModelForCausalLM",
            "MTModel": "AutoModelForSeq2SeqLM", "ConditionalGeneration": "AutoModelForSeq2SeqLM"}  # fmt: skip
    config = transformers.AutoConfig.from_pretrained(folder)
    kind = next((auto[part] for part in auto if part in config.architectures[0]), "AutoModel")
    return getattr(transformers, kind).from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
