"""Faithful or refused: attention that a plain softmax over query · key is not, and a comparison that must notice."""

import json
from dataclasses import replace

import pytest
import torch
from transformers.models.vits.modeling_vits import VitsModelOutput

from attnviz.models.huggingface import ModelError, load, parity
from attnviz.models.huggingface.network import attention_interface
from attnviz.models.huggingface.network import forward_pass as runs
from attnviz.transformer.attention import attend
from tests.models.huggingface import checkpoints
from tests.models.huggingface.checkpoints import Recipe
from tests.models.huggingface.refused import CPU, change, refusal
from tests.models.huggingface.tokenizers_made import bos_pieces

_SIZES = {
    "hidden_size": 96, "num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 14,
    "intermediate_size": 32, "max_position_embeddings": 61,
}  # fmt: skip


def test_the_same_architecture_without_its_cap_is_shown(tmp_path):
    recipe = Recipe("Gemma2ForCausalLM", "Gemma2Config", _SIZES | {"sliding_window": 7}, bos_pieces)
    folder = checkpoints.save(tmp_path / "gemma2", recipe)
    change(folder / "config.json", attn_logit_softcapping=None)
    assert load(folder, **CPU).shapes == {"decoder_self": (3, 6)}


def test_a_config_without_its_number_of_layers_is_blamed_and_not_the_weights(tmp_path):
    folder = checkpoints.save(tmp_path / "llama", checkpoints.DECODERS["llama"])
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    del config["num_hidden_layers"]
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert refusal(folder).startswith("config.json in 'llama' is incomplete: it has no number of layers")


def call(**arguments):
    query = torch.randn(2, 3, 5, 7)
    return attention_interface.attention(torch.nn.Module(), query, query, query, **arguments)


def test_an_argument_that_nobody_has_thought_of_is_refused():
    with pytest.raises(ModelError, match="takes 'frobnicate', which attnviz does not implement"):
        call(frobnicate=0.0)
    assert call(frobnicate=None)[0].shape == (2, 5, 3, 7)


def test_dropout_and_a_window_without_its_mask_are_refused():
    with pytest.raises(ModelError, match="is in training mode"):
        call(dropout=0.1)
    with pytest.raises(ModelError, match="a window of 3 tokens, but its mask"):
        call(sliding_window=3)
    assert call(sliding_window=5)[0].shape == (2, 5, 3, 7)


@pytest.mark.parametrize("name", ["bert", "llama", "t5"])
def test_maps_that_differ_a_little_are_refused(name, checkpoint, monkeypatch):
    """The comparison sees a scale that is off by a thousandth."""

    def nearly(call, *arguments, **more):
        return attend(replace(call, scale=call.scale * 1.001), *arguments, **more)

    monkeypatch.setattr(runs, "attend", nearly)
    assert "attnviz does not reproduce this model" in refusal(checkpoint(name))


def test_a_forgotten_bias_is_refused(checkpoint, monkeypatch):
    """T5 without its positions, which is what its maps would be if `position_bias` were dropped."""
    right = attention_interface.call_from_tensors
    monkeypatch.setattr(
        attention_interface,
        "call_from_tensors",
        lambda tensors, mask, arguments: right(tensors, mask, arguments | {"position_bias": None}),
    )
    assert "differ from transformers' own by" in refusal(checkpoint("t5"))


def test_an_output_without_logits_and_hidden_states_is_named():
    with pytest.raises(ModelError, match="returns VitsModelOutput, which holds neither logits nor last hidden states"):
        parity.output_of(VitsModelOutput())
