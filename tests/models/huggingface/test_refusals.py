"""Faithful or refused: what cannot be reproduced, found or trusted is refused in one sentence."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file, save_file

from attnviz.models.huggingface import ModelError, attention, load
from attnviz.models.huggingface import run as runs
from attnviz.transformer.attention import attend
from tests.models.huggingface import checkpoints
from tests.models.huggingface.checkpoints import Recipe
from tests.models.huggingface.tokenizers_made import begun_pieces, byte_prompts, pieces

CPU = {"device": torch.device("cpu"), "dtype": torch.float32}
_SIZES = {
    "hidden_size": 96, "num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 14,
    "intermediate_size": 32, "max_position_embeddings": 61,
}  # fmt: skip


def refused(folder, **arguments) -> str:
    """The sentence that a model is refused with: one, on one line, without a path of this machine."""
    with pytest.raises(ModelError) as caught:
        load(folder, **(CPU | arguments))
    sentence = str(caught.value)
    assert re.fullmatch(r"[^\n]+[.]", sentence)
    assert str(Path(folder).parent) not in sentence or not Path(folder).is_absolute()
    return sentence


@pytest.fixture
def copy(checkpoint, tmp_path):
    """A copy of a small BERT that a test may spoil."""
    return Path(shutil.copytree(checkpoint("bert"), tmp_path / "bert"))


def change(path: Path, **fields) -> None:
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | fields), encoding="utf-8")


# Attention that a plain softmax over query · key is not


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
    return attention.attention(torch.nn.Module(), query, query, query, **arguments)


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


@pytest.mark.parametrize("name", ["bert", "llama", "t5"])
def test_maps_that_differ_a_little_are_refused(name, checkpoint, monkeypatch):
    """The comparison sees a scale that is off by a thousandth."""

    def nearly(call, *arguments, **more):
        return attend(replace(call, scale=call.scale * 1.001), *arguments, **more)

    monkeypatch.setattr(runs, "attend", nearly)
    assert "attnviz does not reproduce this model" in refused(checkpoint(name))


def test_a_forgotten_bias_is_refused(checkpoint, monkeypatch):
    """T5 without its positions, which is what its maps would be if `position_bias` were dropped."""
    right = attention._call
    monkeypatch.setattr(
        attention,
        "_call",
        lambda tensors, mask, arguments: right(tensors, mask, arguments | {"position_bias": None}),
    )
    assert "differ from transformers' own by" in refused(checkpoint("t5"))


def test_a_model_of_pictures_is_refused(tmp_path):
    sizes = {"hidden_size": 30, "num_hidden_layers": 2, "num_attention_heads": 5}
    folder = checkpoints.save(tmp_path / "vit", Recipe("ViTModel", "ViTConfig", sizes, pieces))
    assert refused(folder) == "'vit' is not a model of text that attnviz reads: encoder, decoder or both."


# Files that are missing, broken, foreign or too large


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(ModelError, match=r"There is no folder .*: give the folder of a checkpoint, or a hub id"):
        load(tmp_path / "nowhere", **CPU)


def test_a_folder_without_a_config(tmp_path):
    (tmp_path / "empty").mkdir()
    said = "There is no config.json in 'empty': give the folder of a checkpoint."
    assert refused(tmp_path / "empty") == said


def test_a_missing_tokenizer(copy):
    for path in copy.glob("tokenizer*"):
        path.unlink()
    assert refused(copy) == "There is no tokenizer in 'bert': its folder needs a tokenizer.json."


def test_a_broken_tokenizer(copy):
    (copy / "tokenizer.json").write_text("{}", encoding="utf-8")
    assert refused(copy) == "The tokenizer in 'bert' cannot be read: a tokenizer.json would do."


def test_a_tokenizer_of_another_model(copy, checkpoint):
    for path in checkpoint("gpt2").glob("tokenizer*"):
        shutil.copy(path, copy)
    assert "The tokenizer gives ids up to" in refused(copy)


def test_pickled_weights(copy):
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    assert "pytorch_model.bin, which can run code and is not read" in refused(copy)


def test_no_weights_at_all(copy):
    (copy / "model.safetensors").unlink()
    assert refused(copy) == "There is no model.safetensors in 'bert'."


def test_weights_that_are_cut_short(copy):
    whole = (copy / "model.safetensors").read_bytes()
    (copy / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    assert refused(copy).startswith("model.safetensors is not a safetensors file, or is cut short")


def test_weights_that_lack_a_tensor(copy):
    tensors = load_file(copy / "model.safetensors")
    del tensors["bert.encoder.layer.1.attention.self.query.weight"]
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    assert "lack 'bert.encoder.layer.1.attention.self.query.weight'" in refused(copy)


@pytest.mark.parametrize("there", ["../weights.safetensors", "gone.safetensors"])
def test_an_index_that_names_other_files(copy, there):
    (copy / "model.safetensors").unlink()
    (copy / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": there}}), encoding="utf-8")
    assert "which is not there" in refused(copy)


def test_a_config_that_is_no_json(copy):
    (copy / "config.json").write_text("{", encoding="utf-8")
    assert refused(copy).startswith("config.json in 'bert' cannot be read as JSON")


def test_a_config_of_a_billion_layers(copy):
    change(copy / "config.json", num_hidden_layers=10**9)
    assert refused(copy).startswith("config.json asks for 1,000,000,000 layers; the weights hold only")


def test_quantised_weights(copy):
    change(copy / "config.json", quantization_config={"quant_method": "gptq"})
    assert "quantised" in refused(copy)


def test_remote_code_is_not_run(copy):
    (copy / "configuration_x.py").write_text("raise SystemExit('this ran')", encoding="utf-8")
    change(copy / "config.json", model_type="x", auto_map={"AutoConfig": "configuration_x.X"})
    assert refused(copy) == "The model in 'bert' asks to run code of its own (x)."


def test_an_architecture_that_nobody_knows(copy):
    change(copy / "config.json", model_type="x")
    assert refused(copy) == "The model in 'bert' is of a kind that transformers does not know (x)."


def test_the_size_is_known_before_anything_is_read(copy, monkeypatch):
    monkeypatch.setattr("attnviz.models.huggingface.loading._weights", lambda *_: pytest.fail("weights were read"))
    assert re.fullmatch(
        r"The model's weights take .* GB in float32; up to 1e-06 GB are loaded here .*", refused(copy, limit=1000)
    )
    monkeypatch.setenv("ATTNVIZ_MAX_MODEL_GB", "0.00001")
    assert "ATTNVIZ_MAX_MODEL_GB sets the limit" in refused(copy)
    monkeypatch.setenv("ATTNVIZ_MAX_MODEL_GB", "lots")
    assert refused(copy) == "ATTNVIZ_MAX_MODEL_GB='lots' is not a number of gigabytes."


# The hub, which no test asks


def hub(monkeypatch, *, listing=None, numbers=None, error=None):
    def model_info(self, name, **_):
        if error is not None:
            raise error
        files = [SimpleNamespace(rfilename=file, size=size) for file, size in listing.items()]
        return SimpleNamespace(siblings=files, sha="c0ffee", safetensors=SimpleNamespace(total=numbers))

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", model_info)


def test_no_network(monkeypatch):
    hub(monkeypatch, error=ConnectionError("no route"))
    said = refused("somebody/some-model")
    assert said.startswith("There is no folder 'somebody/some-model' here, and the hub could not be asked for it")
    assert "check the network" in said


def test_the_hub_switched_off():
    assert "the hub could not be asked for it (OfflineModeIsEnabled)" in refused("somebody/some-model")


def test_a_hub_id_that_cannot_be_one():
    assert "neither a folder nor a hub id" in refused("what is this?")


@pytest.mark.parametrize(
    ("listing", "numbers", "says"),
    [
        ({"config.json": 1, "pytorch_model.bin": 5}, None, "which can run code and is not read"),
        ({"config.json": 1, "model.safetensors": 9 * 10**9}, None, "take 9 GB in float32; up to 8 GB are loaded here"),
        # five gigabytes of bfloat16 are ten of float32, in which every model is compared
        ({"model.safetensors": 5 * 10**9}, 25 * 10**8, "take 10 GB in float32; up to 8 GB are loaded here"),
    ],
)
def test_nothing_is_downloaded_that_will_not_be_read(listing, numbers, says, monkeypatch):
    hub(monkeypatch, listing=listing, numbers=numbers)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", lambda *_, **__: pytest.fail("something was downloaded"))
    assert says in refused("somebody/some-model")


def test_one_set_of_weights_and_no_code_is_downloaded(checkpoint, monkeypatch):
    folder, asked, told = checkpoint("bert"), [], []
    listing = {path.name: path.stat().st_size for path in folder.iterdir()}
    hub(monkeypatch, listing=listing | {"consolidated.safetensors": 10**11, "modeling.py": 7, "onnx/model.json": 7})

    def download(name, file, revision):
        assert (name, revision) == ("somebody/some-model", "c0ffee")
        asked.append(file)
        return str(folder / file)

    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    model = load("somebody/some-model", **CPU, progress=lambda *what: told.append(what))
    assert sorted(asked) == sorted(listing)
    assert model.name == "somebody/some-model"
    assert [share for share, _ in told] == sorted(share for share, _ in told)
    assert any(what.startswith("Downloading model.safetensors (") for _, what in told)
