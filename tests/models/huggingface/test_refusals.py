"""Faithful or refused: attention that a plain softmax over query · key is not, and a comparison that must notice."""

from dataclasses import replace

import pytest
import torch

from attnviz.models.huggingface import ModelError, load
from attnviz.models.huggingface.network import attention_interface
from attnviz.models.huggingface.network import forward_pass as runs
from attnviz.transformer.attention import attend
from tests.models.huggingface import checkpoints
from tests.models.huggingface.checkpoints import Recipe
from tests.models.huggingface.refused import CPU, change, refused
from tests.models.huggingface.tokenizers_made import begun_pieces, byte_prompts, pieces

_SIZES = {
    "hidden_size": 96, "num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 14,
    "intermediate_size": 32, "max_position_embeddings": 61,
}  # fmt: skip


@pytest.mark.parametrize(
    ("recipe", "argument"),
    [
        (Recipe("Gemma2ForCausalLM", "Gemma2Config", _SIZES, begun_pieces), "softcap"),
        (
            Recipe(
                "GptOssForCausalLM",
                "GptOssConfig",
                _SIZES | {"num_local_experts": 2, "num_experts_per_tok": 1},
                byte_prompts,
            ),
            "s_aux",
        ),
    ],
)
def test_soft_caps_and_sinks_are_refused_by_name(recipe, argument, tmp_path):
    said = refused(checkpoints.save(tmp_path / "model", recipe))
    assert said.startswith(f"The model's attention takes '{argument}', which attnviz does not reproduce")


def test_the_same_architecture_without_its_cap_is_shown(tmp_path):
    recipe = Recipe("Gemma2ForCausalLM", "Gemma2Config", _SIZES | {"sliding_window": 7}, begun_pieces)
    folder = checkpoints.save(tmp_path / "gemma2", recipe)
    change(folder / "config.json", attn_logit_softcapping=None)
    assert load(folder, **CPU).shapes == {"decoder_self": (3, 6)}


def call(**arguments):
    query = torch.randn(2, 3, 5, 7)
    return attention_interface.attention(torch.nn.Module(), query, query, query, **arguments)


def test_an_argument_that_nobody_has_thought_of_is_refused():
    with pytest.raises(ModelError, match="takes 'frobnicate', which attnviz does not reproduce"):
        call(frobnicate=0.0)
    assert call(frobnicate=None)[0].shape == (2, 5, 3, 7)


def test_dropout_and_a_window_without_its_mask_are_refused():
    with pytest.raises(ModelError, match="left in training mode"):
        call(dropout=0.1)
    with pytest.raises(ModelError, match="a window of 3 tokens, but gives no mask"):
        call(sliding_window=3)
    assert call(sliding_window=5)[0].shape == (2, 5, 3, 7)


def test_attention_outside_the_interface_is_refused(tmp_path):
    sizes = {"hidden_size": 30, "n_layer": 3, "n_head": 5}
    folder = checkpoints.save(tmp_path / "bloom", Recipe("BloomForCausalLM", "BloomConfig", sizes, byte_prompts))
    assert refused(folder) == "The model computes its attention without transformers' attention interface."


@pytest.mark.parametrize(
    ("model", "config", "changed"),
    [
        ("Lfm2ForCausalLM", "Lfm2Config", {"layer_types": ["conv", "full_attention", "conv"], "conv_L_cache": 3}),
        (
            "GraniteMoeHybridForCausalLM",
            "GraniteMoeHybridConfig",
            {
                "layer_types": ["mamba", "attention", "mamba"], "num_local_experts": 0, "shared_intermediate_size": 16,
                "mamba_n_heads": 4, "mamba_d_head": 48, "mamba_n_groups": 1, "mamba_d_state": 8, "head_dim": None,
            },
        ),
    ],
)  # fmt: skip
def test_a_model_in_which_some_layers_do_not_attend_is_refused(model, config, changed, tmp_path):
    """Its only map would be called layer 0, and is layer 1."""
    said = refused(checkpoints.save(tmp_path / "hybrid", Recipe(model, config, _SIZES | changed, byte_prompts)))
    assert said == "Only 1 of the model's 3 layers compute attention: attnviz shows models in which all do."


@pytest.mark.parametrize("name", ["bert", "llama", "t5"])
def test_maps_that_differ_a_little_are_refused(name, checkpoint, monkeypatch):
    """The comparison sees a scale that is off by a thousandth."""

    def nearly(call, *arguments, **more):
        return attend(replace(call, scale=call.scale * 1.001), *arguments, **more)

    monkeypatch.setattr(runs, "attend", nearly)
    assert "attnviz does not reproduce this model" in refused(checkpoint(name))


def test_a_forgotten_bias_is_refused(checkpoint, monkeypatch):
    """T5 without its positions, which is what its maps would be if `position_bias` were dropped."""
    right = attention_interface._call
    monkeypatch.setattr(
        attention_interface,
        "_call",
        lambda tensors, mask, arguments: right(tensors, mask, arguments | {"position_bias": None}),
    )
    assert "differ from transformers' own by" in refused(checkpoint("t5"))


def test_a_model_of_pictures_is_refused(tmp_path):
    sizes = {"hidden_size": 30, "num_hidden_layers": 2, "num_attention_heads": 5}
    folder = checkpoints.save(tmp_path / "vit", Recipe("ViTModel", "ViTConfig", sizes, pieces))
    assert refused(folder) == "'vit' is not a model of text that attnviz reads: encoder, decoder or both."
