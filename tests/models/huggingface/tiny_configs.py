"""Shrink the default config of any class of transformers to a network of a few layers that is built in a second.

    tiny_config(BertConfig, vocab_size=151)

Only fields that are declared by the config's own class are given; the class derives the others. Lists with an entry for
each layer keep one layer of each sort. Whatever the general rules do not fit is in `OF_A_TYPE`.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

LAYERS = 4
_WIDTH, _INNER, _HEADS, _HEAD_DIM, _EXPERTS = 64, 48, 4, 16, 4

# What a field's name stands for. Positions, window and chunk are above the longest text but for the window, which
# must hide something.
_SIZES: dict[str, Any] = {
    name: value
    for value, names in (
        (_WIDTH, "hidden_size d_model n_embd dim embed_dim embedding_dim word_embed_proj_dim lru_width mamba_d_ssm "
                 "d_latents cross_hidden_size out_hidden_size encoder_hidden_size output_dim emb_dim hidden_dim "
                 "projection_dim backbone_hidden_size audio_hidden_size input_embedding_size output_embedding_size "
                 "embedding_size vision_output_dim pooler_hidden_size prediction_head_size moe_hidden_size "
                 "attention_hidden_size flow_size dim_model_base"),
        (_INNER, "intermediate_size ffn_dim encoder_ffn_dim decoder_ffn_dim d_ff d_inner moe_intermediate_size "
                 "shared_expert_intermediate_size shared_intermediate_size n_inner ffn_hidden_size hidden_dim "
                 "intermediate_size_mlp expert_ffn_hidden_size dense_intermediate_size dim_ff dff mlp_dim "
                 "moe_shared_expert_intermediate_size shared_experts_intermediate_size feed_forward_size "
                 "speech_encoder_intermediate_size t2u_encoder_ffn_dim t2u_decoder_ffn_dim"),
        (LAYERS, "num_hidden_layers encoder_layers decoder_layers num_layers num_decoder_layers n_layer n_layers "
                 "num_encoder_layers"),
        (_HEADS, "num_attention_heads encoder_attention_heads decoder_attention_heads num_heads n_head n_heads "
                 "attention_heads num_encoder_attention_heads num_decoder_attention_heads swa_num_attention_heads "
                 "num_self_attention_heads num_cross_attention_heads cross_num_attention_heads linear_num_value_heads "
                 "linear_num_heads conf_num_attention_heads speech_encoder_attention_heads "
                 "t2u_encoder_attention_heads t2u_decoder_attention_heads"),
        (2, "num_key_value_heads num_kv_heads swa_num_key_value_heads linear_num_key_heads kv_n_heads "
            "num_query_groups cross_num_key_value_heads depth num_layers_per_stack speech_encoder_layers "
            "t2u_encoder_layers t2u_decoder_layers conf_num_hidden_layers num_self_attends_per_block "
            "num_global_layers moe_k num_experts_per_token moe_topk num_experts_per_tok num_selected_experts "
            "num_hash num_codebooks"),
        (_HEAD_DIM, "head_dim d_kv kv_channels qk_nope_head_dim v_head_dim swa_head_dim linear_key_head_dim "
                    "linear_value_head_dim linear_head_dim attention_head_size d_head dim_head index_head_dim "
                    "cross_head_dim attention_head_dim mamba_d_head mamba_head_dim ssm_state_size state_size "
                    "mamba_d_state kv_lora_rank adapter_rank laurel_rank embedding_rank o_lora_rank "
                    "xpath_unit_hidden_size router_hidden_size entity_emb_size"),
        (24, "qk_head_dim q_lora_rank"),
        (8, "qk_rope_head_dim rotary_dim sliding_window attention_window_size window_size local_window_size "
            "hidden_size_per_layer_input hc_lowrank time_step_rank mamba_dt_rank gated_norm_rank "
            "sliding_window_size prompt_length keep_window_size"),
        (_EXPERTS, "num_experts n_routed_experts num_local_experts moe_num_experts index_n_heads n_mamba_heads "
                   "mamba_num_heads mamba_n_heads zero_expert_num num_centroids_"),
        (1, "n_group num_expert_group n_groups topk_group n_shared_experts num_shared_experts mamba_n_groups "
            "moe_num_shared_experts mamba_ngroups first_k_dense_replace moe_top_k expert_layer_period_"),
        (64, "max_position_embeddings n_positions max_seq_len max_source_positions max_target_positions n_ctx "
             "context_length model_max_length max_decoder_position_embeddings max_encoder_position_embeddings "
             "original_max_position_embeddings position_embedding_size"),
        (32, "image_size entity_vocab_size"),
        (16, "patch_size"),
        (0, "num_nextn_predict_layers num_mtp_layers"),
        (4, "index_topk"),
    )
    for name in names.split()
}  # fmt: skip
_EVEN_IF_NONE = ("head_dim", "num_key_value_heads")  # which some classes derive from sizes of their published model
_IDS = ("_token_id", "_token_index", "_pad_id")

_ALIKE = {"num_key_value_heads": _HEADS}
_MIXED = ["sliding_attention", "full_attention"] * (LAYERS // 2)
_EXPERTS_OF_OPTION = {
    "num_experts": _EXPERTS, "top_k_experts": 2, "moe_intermediate_size": _INNER, "num_global_key_value_heads": 1,
}  # fmt: skip


def _sections(*sizes: int) -> dict[str, Any]:
    """Give the parts of a head that are turned by time, height and width."""
    return {"rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": list(sizes)}}


_NO_LAYER_INPUTS = {"hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 0}
_DEFAULT_NEEDS = {"gemma4_assistant": {"text_config": _NO_LAYER_INPUTS}}
OF_A_TYPE: dict[str, dict[str, Any]] = {
    "bamba": {"mamba_d_head": 32, "attn_layer_indices": [1, 3]},
    "granitemoehybrid": {"mamba_d_head": 32, "layer_types": ["mamba", "attention"] * 2},
    "mamba2": {"num_heads": 8},
    "blt": {"encoder_hash_byte_group_vocab": 50},
    "blt_local_encoder": {"hidden_size_global": _WIDTH},
    "blt_local_decoder": {"hidden_size_global": _WIDTH},
    "dbrx": {"attn_config": {"kv_n_heads": 2, "rope_theta": 10_000.0, "clip_qkv": 8.0}},
    "dots1": {"n_shared_experts": 1, "n_routed_experts": _EXPERTS, "num_experts_per_tok": 2, "layer_types": _MIXED},
    "dots3_note_text": _ALIKE,
    "cohere_compass_text": {"rope_parameters": {
        name: {"rope_type": "default", "rope_theta": 10_000.0} for name in set(_MIXED)}, "layer_types": _MIXED},
    "gemma3n_text": {"num_kv_shared_layers": 0, "layer_types": _MIXED, "intermediate_size": [_INNER] * LAYERS,
                     "activation_sparsity_pattern": [0.0] * LAYERS},
    "gpt_neo": {"attention_types": [[["global", "local"], LAYERS // 2]], "attention_layers": ["global", "local"] * 2},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 2},
    "qwen4_exp_text": {"indexer_n_heads": 4, "indexer_kv_heads": 1, "indexer_head_dim": 16, "indexer_budget": 8,
                       "indexer_compress_ratio": 2, "ngram_vocab_size_base": 100, "split_ngram_parts": 2},
    "reformer": {"axial_pos_embds_dim": (24, 40), "axial_pos_shape": (8, 8), "attention_head_size": 16,
                 "attn_layers": ["local", "lsh"] * 2, "local_attn_chunk_length": 8, "lsh_attn_chunk_length": 8},
    "zamba": {"layers_block_type": ["linear_attention", "hybrid"] * 2, "attention_hidden_size": None,
              "attention_head_dim": None, "n_mamba_heads": 2, "num_key_value_heads": 4},
    "zaya": {"num_experts_per_tok": 1},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "expert_layer_period": 2},
    "longformer": {"attention_window": 8},
    "led": {"attention_window": 8},
    "funnel": {"block_sizes": (2, 2), "block_repeats": [1, 1], "num_decoder_layers": 1, "d_head": 16},
    "hrm_text": {"num_layers_per_stack": None, "num_hidden_layers": 2},
    "encoder-decoder": {"decoder": {"is_decoder": True, "add_cross_attention": True}},
    "glm4v_text": _sections(2, 3, 3),
    "glm46v_text": _sections(2, 3, 3),
    "glm4v_moe_text": {
        "rope_parameters": _sections(1, 1, 2)["rope_parameters"] | {"partial_rotary_factor": 0.5}},
    "glm_image_text": _sections(2, 3, 3),
    "glm_ocr_text": _sections(2, 3, 3),
    "qwen2_vl_text": _sections(2, 3, 3),
    "qwen2_5_vl_text": _sections(2, 3, 3),
    "paddleocr_vl_text": _sections(2, 3, 3),
    "deepseek_v2": {"num_experts_per_tok": 2},
    "hunyuan_vl_text": _sections(2, 3, 3),
    "step3p7_text": {"sliding_window": 8},
    "xmod": {"default_language": "en_XX"},
    "longcat_flash": {"head_dim": 8},
    "xlstm": {"hidden_size": 128, "embedding_dim": 128},
    "esmc": _ALIKE,
    "glm5_next_text": _ALIKE | {"index_kpool": 2},
    "cosmos3_edge_text": {"rope_parameters": {
        "rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [4, 2, 2]}},
    "diffusion_gemma_text": _EXPERTS_OF_OPTION,
    "gemma4_assistant": {"text_config": _NO_LAYER_INPUTS | {"num_kv_shared_layers": LAYERS}},
    "gemma4_unified_assistant": {"text_config": {"hidden_size_per_layer_input": 0, "num_kv_shared_layers": LAYERS}},
    "step3p7": {"text_config": {"sliding_window": 8}},
    "unlimited_ocr_text": _ALIKE,  # its eager attention repeats no key heads
    "qwen2_5_omni_thinker": {"vision_start_token_id": 140, "audio_start_token_id": 141},
    "qwen3_omni_moe_thinker": {"vision_start_token_id": 140, "audio_start_token_id": 141},
    "qwen2_5_omni_text": _sections(2, 3, 3),
    "qwen3_omni_moe": {"enable_audio_output": False},  # the talker's config lacks a field that its class asks for
    "chameleon": {"vocabulary_map": {"<image>": 150, "IMGIMGAZ": 151}},
    "emu3_vqgan": {"base_channels": 32},
    "emu3": {"vocabulary_map": {"<image>": 150, "<|extra_200|>": 151}},
    "deepseek_ocr2_text": {"mlp_layer_types": ["dense", "sparse"] * 2, "num_experts_per_tok": 2},
    "dots3_note_audio_encoder": {"adapter_input_size": _WIDTH, "adapter_out_dim": _WIDTH},
    "dots3_note_vision_encoder": {"adapter_in_dim": _WIDTH, "adapter_out_dim": _WIDTH},
    "ernie4_5_vl_moe_text": _sections(3, 3, 2),
    "fun_asr_nano": {"adaptor_config": {"intermediate_size": _WIDTH // 4}},
    "granite4_vision": {
        "deepstack_layer_map": [[1, 0], [2, 1]], "spatial_target_layers": [2, 3], "downsample_rate": "1/2"},
    "inkling2_vision": {"text_hidden_size": _WIDTH},
    "inkling_audio": {"text_hidden_size": _WIDTH},
    # With fewer layers than factors of a patch, it asks for scipy.
    "inkling_vision": {"num_hidden_layers": 8, "text_hidden_size": _WIDTH, "patch_size": 4},
    "mimi": {"upsample_groups": 1},
    "molmo2_adapter": {"vision_feature_layer": [1, 2]},
    "nemotron3_5_transcribe_asr_audio": _ALIKE,
    "nemotron3_diarization_audio": _ALIKE,
    "nemotron3_5_transcribe_word_timestamp": _ALIKE,
    "nemotron_h_omni": {"vision_config": {"video_temporal_patch_size": 2}},
    "vibevoice_acoustic_tokenizer_encoder": {"num_filters": 2, "depths": (1,) * 7},
    "vits": {"upsample_initial_channel": 32, "posterior_encoder_num_wavenet_layers": 1},
}  # fmt: skip
"""What the general rules do not fit, by model type."""


def tiny_config(kind: type, *, vocab_size: int, **given: Any) -> Any:
    """Build a small config of a class; `given` goes over all rules."""
    return kind(**(tiny_fields(kind, vocab_size=vocab_size) | given))


def tiny_fields(kind: Any, *, vocab_size: int, default: Any = None) -> dict[str, Any]:
    """Return the arguments of a small config of a class; `default` is one of normal size."""
    default = default or kind(**_DEFAULT_NEEDS.get(kind.model_type, {}))
    declared = [field.name for field in dataclasses.fields(kind) if field.init]
    fields: dict[str, Any] = {}
    next_id = vocab_size - 1
    for name in declared:
        now = _value(default, name)
        if hasattr(now, "to_dict"):
            fields[name] = tiny_fields(type(now), vocab_size=vocab_size, default=now) | {"model_type": now.model_type}
        elif name.endswith("vocab_size") or name == "vocab_size_per_layer_input":
            fields[name] = min(vocab_size, now) if isinstance(now, int) and name != "vocab_size" else vocab_size
        elif name.endswith(_IDS) and isinstance(now, int) and now >= vocab_size:
            fields[name], next_id = next_id, next_id - 1
        elif name in _SIZES and (
            name in _EVEN_IF_NONE or (isinstance(now, int) and not isinstance(now, bool) and now > 0)
        ):
            fields[name] = _SIZES[name]
    if "qk_rope_head_dim" in fields:  # latent attention: as many keys as queries, and no one size of a head
        fields.pop("head_dim", None)
        fields |= _ALIKE
    fields |= _layer_lists(declared, default)
    for name, of_this in OF_A_TYPE.get(default.model_type, {}).items():
        fields[name] = (
            fields[name] | of_this if isinstance(fields.get(name), dict) and "model_type" in fields[name] else of_this
        )
    return fields


def _value(config: Any, name: str) -> Any:
    """Return a field of a config, or the declared default of one that differs from layer to layer."""
    try:
        return getattr(config, name, None)
    except AttributeError:
        raise
    except Exception:
        return next(field.default for field in dataclasses.fields(config) if field.name == name)


def _layer_lists(declared: Sequence[str], default: Any) -> dict[str, Any]:
    """Return the lists with an entry for each layer, cut to one layer of each sort, or more to fill the number."""
    layers = next(
        (n for name in ("num_hidden_layers", "num_layers", "n_layer") if (n := getattr(default, name, None))), 0
    )
    lists = {
        name: tuple(now) for name in declared if isinstance(now := _value(default, name), list | tuple)
        and len(now) == layers and layers > 1
    }  # fmt: skip
    if not lists:
        return {}
    sorts = list(zip(*lists.values(), strict=True))
    first = {sort: at for at, sort in reversed(list(enumerate(map(str, sorts))))}
    kept = sorted(first.values())[:LAYERS]
    kept = sorted([*kept, *(at for at in range(layers) if at not in kept)][:LAYERS])
    cut = {name: [whole[at] for at in kept] for name, whole in lists.items()}
    return {name: _indices(lists[name], layers) or values for name, values in cut.items()}


def _indices(whole: tuple[Any, ...], layers: int) -> list[int] | None:
    """Return the numbers of the layers that are left, of a list that names every layer by its number."""
    return list(range(LAYERS)) if list(whole) == list(range(layers)) else None
