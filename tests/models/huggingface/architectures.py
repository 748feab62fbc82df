"""Architectures beyond the sixteen of `checkpoints`: small, random, written by transformers' own classes.

Each is a name and a builder, which writes the checkpoint into a folder. Names are the architecture's own, with what is
odd about the checkpoint behind them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.models.huggingface import checkpoints
from tests.models.huggingface.checkpoints import DECODERS, ENCODERS, PAIRS, POSITIONS, Recipe
from tests.models.huggingface.tokenizers_made import bos_pieces, byte_level, byte_prompts, pieces, word_pieces

Builder = Callable[[Path], Path]
Sizes = dict[str, Any]
_ENCODER, _BART, _T5 = ENCODERS["bert"].sizes, PAIRS["bart"].sizes, PAIRS["t5"].sizes
_DECODER = DECODERS["qwen3"].sizes
_EVEN = _DECODER | {"hidden_size": 84, "head_dim": None}
_WINDOWS = {"sliding_window": 7, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}
_GEMMA3 = _DECODER | _WINDOWS | {"hidden_size": 84}
_T5GEMMA = _DECODER | _WINDOWS | {"attn_logit_softcapping": 2.0, "hidden_size": 84}
_MAMBA = {"mamba_n_heads": 4, "mamba_d_head": 12, "mamba_n_groups": 1, "mamba_d_state": 8}
_VISION = {
    "hidden_size": 24, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 16,
    "patch_size": 8,
}  # fmt: skip


def _recipe(name: str, sizes: Sizes, tokenizer: Any, *, config: str = "") -> Builder:
    """Build a model of a class of transformers, such as `BertModel`, with its `BertConfig` unless another is named."""
    family = config or next(name.split(part)[0] for part in ("For", "Model", "LMHead") if part in name)
    return lambda folder: checkpoints.save(folder, Recipe(name, f"{family}Config", sizes, tokenizer))


ENCODERS_MORE: dict[str, Builder] = {
    "xlm_roberta": _recipe("XLMRobertaForMaskedLM", _ENCODER | {"type_vocab_size": 1}, byte_level),
    "modernbert": _recipe(
        "ModernBertForMaskedLM",
        {"hidden_size": 40, "intermediate_size": 23, "num_hidden_layers": 4, "num_attention_heads": 5,
         "local_attention": 6, "cls_token_id": 2, "sep_token_id": 3, "max_position_embeddings": POSITIONS},
        word_pieces, config="ModernBert",
    ),
    "t5_encoder": _recipe("T5EncoderModel", _T5, pieces, config="T5"),
    "bert_generation_encoder": _recipe("BertGenerationEncoder", _ENCODER, byte_level, config="BertGeneration"),
}  # fmt: skip
DECODERS_MORE: dict[str, Builder] = {
    "opt": _recipe(
        "OPTForCausalLM",
        {"hidden_size": 36, "num_hidden_layers": 3, "num_attention_heads": 6, "ffn_dim": 23,
         "max_position_embeddings": POSITIONS, "word_embed_proj_dim": 36},
        byte_prompts, config="OPT",
    ),
    "gpt2_double_heads": _recipe("GPT2DoubleHeadsModel", DECODERS["gpt2"].sizes, byte_prompts, config="GPT2"),
    "bert_generation_decoder": _recipe(
        "BertGenerationDecoder", _ENCODER | {"is_decoder": True}, byte_level, config="BertGeneration"
    ),
    "gemma2": _recipe("Gemma2ForCausalLM", _GEMMA3 | {"attn_logit_softcapping": 2.0}, bos_pieces, config="Gemma2"),
    "gemma3_text": _recipe("Gemma3ForCausalLM", _GEMMA3, bos_pieces, config="Gemma3Text"),
    "gemma3_pictures": _recipe(
        "Gemma3ForConditionalGeneration",
        {"text_config": _GEMMA3 | {"vocab_size": 113}, "vision_config": _VISION, "mm_tokens_per_image": 4,
         "image_token_index": 100, "boi_token_index": 101, "eoi_token_index": 102},
        bos_pieces, config="Gemma3",
    ),
    "gemma3n_text": _recipe(
        "Gemma3nForCausalLM",
        _GEMMA3 | {"vocab_size_per_layer_input": 113, "hidden_size_per_layer_input": 6, "num_kv_shared_layers": 0,
                   "laurel_rank": 4, "intermediate_size": [23] * 3, "activation_sparsity_pattern": [0.0] * 3},
        bos_pieces, config="Gemma3nText",
    ),
    "gpt_oss": _recipe(
        "GptOssForCausalLM",
        _DECODER | _WINDOWS | {"hidden_size": 48, "intermediate_size": 32, "head_dim": 16, "num_local_experts": 2,
                               "num_experts_per_tok": 1},
        byte_prompts,
    ),
    "deepseek_v32": _recipe(
        "DeepseekV32ForCausalLM",
        {"hidden_size": 32, "intermediate_size": 24, "moe_intermediate_size": 16, "num_hidden_layers": 3,
         "num_attention_heads": 4, "num_key_value_heads": 4, "n_routed_experts": 4, "n_shared_experts": 1,
         "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1, "kv_lora_rank": 16, "q_lora_rank": 20,
         "qk_rope_head_dim": 4, "v_head_dim": 8, "qk_nope_head_dim": 8, "index_topk": 5, "index_head_dim": 8,
         "index_n_heads": 3, "head_dim": 4, "first_k_dense_replace": 1, "max_position_embeddings": POSITIONS},
        byte_prompts,
    ),
    "minimax_m3": _recipe(
        "MiniMaxM3VLForCausalLM",
        {"hidden_size": 32, "intermediate_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4,
         "num_key_value_heads": 2, "head_dim": 8, "num_local_experts": 4, "num_experts_per_tok": 2,
         "dense_intermediate_size": 20, "shared_intermediate_size": 12, "rotary_dim": 4, "index_n_heads": 2,
         "index_head_dim": 8, "index_block_size": 4, "index_topk_blocks": 2, "max_position_embeddings": POSITIONS,
         "layer_types": ["minimax_m3_sparse"] * 3},
        byte_prompts, config="MiniMaxM3VLText",
    ),
    "bamba": _recipe(
        "BambaForCausalLM",
        _EVEN | {"hidden_size": 48, "num_hidden_layers": 4, "num_attention_heads": 4, "attn_layer_indices": [1, 3],
                 "mamba_n_heads": 4, "mamba_d_head": 24, "mamba_n_groups": 1, "mamba_d_state": 8, "mamba_expand": 2},
        byte_prompts,
    ),
    "falcon_h1": _recipe("FalconH1ForCausalLM", _EVEN | _MAMBA | {"mamba_d_ssm": 48}, byte_prompts),
}  # fmt: skip
PAIRS_MORE: dict[str, Builder] = {
    "t5gemma": _recipe(
        "T5GemmaForConditionalGeneration",
        {"encoder": _T5GEMMA,
         "decoder": _T5GEMMA | {"num_hidden_layers": 2, "layer_types": _WINDOWS["layer_types"][:2]}},
        bos_pieces, config="T5Gemma",
    ),
    "switch": _recipe(
        "SwitchTransformersForConditionalGeneration",
        _T5 | {"num_experts": 2, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1, "expert_capacity": 64},
        pieces, config="SwitchTransformers",
    ),
    "nllb_moe": _recipe(
        "NllbMoeForConditionalGeneration",
        _BART | {"num_experts": 4, "expert_capacity": 8, "encoder_sparse_step": 2, "decoder_sparse_step": 3}, pieces,
        config="NllbMoe",
    ),
    "bart_classifier": _recipe("BartForSequenceClassification", _BART, byte_level, config="Bart"),
    "t5_classifier": _recipe("T5ForSequenceClassification", _T5, pieces, config="T5"),
}  # fmt: skip
HYBRIDS: dict[str, Builder] = {
    "lfm2": _recipe(
        "Lfm2ForCausalLM",
        _EVEN | {"num_hidden_layers": 5, "conv_L_cache": 3,
                 "layer_types": ["conv", "full_attention", "conv", "conv", "full_attention"]},
        byte_prompts,
    ),
    "granite_hybrid": _recipe(
        "GraniteMoeHybridForCausalLM",
        _EVEN | {"hidden_size": 96, "layer_types": ["mamba", "attention", "mamba"], "num_local_experts": 0,
                 "shared_intermediate_size": 16, "mamba_n_heads": 4, "mamba_d_head": 48, "mamba_n_groups": 1,
                 "mamba_d_state": 8},
        byte_prompts,
    ),
}  # fmt: skip
# Without transformers' attention interface: the pass is watched.
WATCHED: dict[str, Builder] = {
    "mpnet": _recipe("MPNetForMaskedLM", _ENCODER | {"type_vocab_size": None}, byte_level),
    "deberta": _recipe(
        "DebertaModel", _ENCODER | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}, word_pieces
    ),
    "deberta_v2": _recipe(
        "DebertaV2ForMaskedLM", _ENCODER | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}, word_pieces
    ),
    "xlnet": _recipe(
        "XLNetLMHeadModel", {"d_model": 36, "n_layer": 3, "n_head": 6, "d_inner": 23}, pieces,
        config="XLNet",
    ),
    "gpt_neo": _recipe(
        "GPTNeoForCausalLM",
        {"hidden_size": 35, "num_layers": 3, "num_heads": 5, "intermediate_size": 23, "window_size": 7,
         "max_position_embeddings": POSITIONS, "attention_types": [[["global", "local", "global"], 1]]},
        byte_prompts,
    ),
    "gptj": _recipe(
        "GPTJForCausalLM",
        {"n_embd": 40, "n_layer": 3, "n_head": 5, "rotary_dim": 4, "n_inner": 23, "n_positions": POSITIONS},
        byte_prompts,
    ),
    "falcon": _recipe(
        "FalconForCausalLM",
        {"hidden_size": 40, "num_hidden_layers": 3, "num_attention_heads": 5, "num_kv_heads": 1, "multi_query": True,
         "max_position_embeddings": POSITIONS},
        byte_prompts,
    ),
    "falcon_alibi": _recipe(
        "FalconForCausalLM",
        {"hidden_size": 40, "num_hidden_layers": 3, "num_attention_heads": 5, "alibi": True, "multi_query": False,
         "max_position_embeddings": POSITIONS},
        byte_prompts,
    ),
    "openai": _recipe(
        "OpenAIGPTLMHeadModel", {"n_embd": 35, "n_layer": 3, "n_head": 5, "n_positions": POSITIONS}, byte_prompts,
        config="OpenAIGPT",
    ),
    "xlm": _recipe(
        "XLMWithLMHeadModel",
        {"emb_dim": 40, "n_layers": 3, "n_heads": 5, "n_langs": 1, "max_position_embeddings": POSITIONS}, pieces,
        config="XLM",
    ),
    "squeezebert": _recipe(
        "SqueezeBertForMaskedLM",
        _ENCODER | {"hidden_size": 40, "embedding_size": 40, "intermediate_size": 80, "num_attention_heads": 4},
        word_pieces, config="SqueezeBert",
    ),
    "mvp_decoder": _recipe("MvpForCausalLM", _BART, byte_level, config="Mvp"),
    "bloom": _recipe("BloomForCausalLM", {"hidden_size": 35, "n_layer": 3, "n_head": 5}, byte_prompts),
    "mpt": _recipe(
        "MptForCausalLM", {"d_model": 40, "n_layers": 3, "n_heads": 5, "max_seq_len": POSITIONS}, byte_prompts
    ),
    "fsmt": _recipe(
        "FSMTForConditionalGeneration",
        _BART | {"langs": ["en", "de"], "src_vocab_size": 113, "tgt_vocab_size": 113}, pieces, config="FSMT",
    ),
}  # fmt: skip
# Those of them whose eager pass is no reference: SqueezeBERT returns scores as weights, Falcon adds ALiBi twice.
# GraniteSWA returns weights from before the sink.
NO_REFERENCE = {"squeezebert", "falcon_alibi", "granite_swa"}
REPLAYED: dict[str, Builder] = {
    "prophetnet": _recipe(
        "ProphetNetForCausalLM",
        {"hidden_size": 30, "encoder_ffn_dim": 23, "num_encoder_layers": 3, "num_encoder_attention_heads": 5,
         "decoder_ffn_dim": 19, "num_decoder_layers": 3, "num_decoder_attention_heads": 3,
         "max_position_embeddings": POSITIONS},
        pieces, config="ProphetNet",
    ),
}  # fmt: skip
_SMALL = {
    "hidden_size": 32, "intermediate_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": POSITIONS,
}  # fmt: skip
ODD: dict[str, Builder] = {
    "granite_swa": _recipe("GraniteSWAForCausalLM", _SMALL | {"sliding_window": 6}, byte_prompts, config="GraniteSWA"),
    "doge": _recipe("DogeForCausalLM", _SMALL | {"keep_window_size": 6}, byte_prompts),
    "hrm_text": _recipe(
        "HrmTextForCausalLM",
        _SMALL
        | {
            "num_hidden_layers": None,
            "num_key_value_heads": 4,
            "head_dim": 8,
            "num_layers_per_stack": 2,
            "L_cycles": 2,
            "H_cycles": 1,
        },
        byte_prompts,
    ),
    "diffllama": _recipe("DiffLlamaForCausalLM", _SMALL, byte_prompts),
}
WITHOUT_ATTENTION: dict[str, Builder] = {
    "mamba": _recipe("MambaForCausalLM", {"hidden_size": 24, "num_hidden_layers": 2, "state_size": 4}, byte_prompts),
    "fnet": _recipe(
        "FNetForMaskedLM", {"hidden_size": 24, "num_hidden_layers": 2, "intermediate_size": 23}, word_pieces
    ),
}  # fmt: skip
NOT_TEXT: dict[str, Builder] = {
    "whisper": _recipe(
        "WhisperForConditionalGeneration", _BART | {"max_source_positions": 8, "max_target_positions": 61}, byte_level
    ),
}
SHOWN = ENCODERS_MORE | DECODERS_MORE | PAIRS_MORE
ALL = SHOWN | HYBRIDS | WATCHED | REPLAYED | ODD | WITHOUT_ATTENTION | NOT_TEXT
