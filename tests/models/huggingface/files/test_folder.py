"""Files that are missing, broken, foreign or too large: each is one sentence."""

import json
import re
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from attnviz.models.huggingface import ModelError, load
from tests.models.huggingface.refused import CPU, change, refusal


@pytest.fixture
def copy(checkpoint, tmp_path):
    """Make a copy of a small BERT that a test may spoil."""
    return Path(shutil.copytree(checkpoint("bert"), tmp_path / "bert"))


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(ModelError, match=r"There is no folder .*. Please pass the folder of a checkpoint, or a hub id"):
        load(tmp_path / "nowhere", **CPU)


def test_a_folder_without_a_config(tmp_path):
    (tmp_path / "empty").mkdir()
    said = "There is no config.json in 'empty'. Please pass the folder of a checkpoint."
    assert refusal(tmp_path / "empty") == said


def test_a_missing_tokenizer(copy):
    for path in copy.glob("tokenizer*"):
        path.unlink()
    assert refusal(copy) == "There is no tokenizer in 'bert': its folder needs a tokenizer.json."


def test_a_broken_tokenizer(copy):
    (copy / "tokenizer.json").write_text("{}", encoding="utf-8")
    assert refusal(copy) == "The tokenizer in 'bert' cannot be read. Please put a tokenizer.json into the folder."


def test_a_tokenizer_of_another_model(copy, checkpoint):
    for path in checkpoint("gpt2").glob("tokenizer*"):
        shutil.copy(path, copy)
    assert "The tokenizer returns ids up to" in refusal(copy)


def test_a_folder_of_pickled_weights_is_refused(copy):
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    assert "pytorch_model.bin. attnviz does not read such files, because they can run code" in refusal(copy)


def test_no_weights_at_all(copy):
    (copy / "model.safetensors").unlink()
    assert refusal(copy) == "There is no model.safetensors in 'bert'."


def test_weights_that_are_cut_short(copy):
    whole = (copy / "model.safetensors").read_bytes()
    (copy / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    assert refusal(copy).startswith("model.safetensors is not a safetensors file, or is cut short")


def test_weights_that_lack_a_tensor(copy):
    tensors = load_file(copy / "model.safetensors")
    del tensors["bert.encoder.layer.1.attention.self.query.weight"]
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    assert "do not contain 'bert.encoder.layer.1.attention.self.query.weight'" in refusal(copy)


@pytest.mark.parametrize("there", ["../weights.safetensors", "gone.safetensors"])
def test_an_index_that_names_other_files(copy, there):
    (copy / "model.safetensors").unlink()
    (copy / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": there}}), encoding="utf-8")
    assert "which is missing" in refusal(copy)


def test_a_config_that_is_no_json(copy):
    (copy / "config.json").write_text("{", encoding="utf-8")
    assert refusal(copy).startswith("config.json in 'bert' cannot be read as JSON")


def test_a_config_of_a_billion_layers(copy):
    change(copy / "config.json", num_hidden_layers=10**9)
    assert refusal(copy).startswith("config.json asks for 1,000,000,000 layers; the weights hold only")


def test_quantised_weights(copy):
    change(copy / "config.json", quantization_config={"quant_method": "gptq"})
    assert "quantised" in refusal(copy)


def test_remote_code_is_not_run(copy):
    (copy / "configuration_x.py").write_text("raise SystemExit('this ran')", encoding="utf-8")
    change(copy / "config.json", model_type="x", auto_map={"AutoConfig": "configuration_x.X"})
    assert refusal(copy) == "The model in 'bert' needs its own code to be run (x)."


def test_an_architecture_that_nobody_knows(copy):
    change(copy / "config.json", model_type="x")
    assert refusal(copy) == "The model in 'bert' is of a type that transformers does not know (x)."


def test_the_size_is_known_before_anything_is_read(copy, monkeypatch):
    monkeypatch.setattr("attnviz.models.huggingface.loading._weights", lambda *_: pytest.fail("weights were read"))
    assert re.fullmatch(
        r"The model's weights take .* GB in float32; up to 1e-06 GB are loaded here .*", refusal(copy, limit=1000)
    )
    monkeypatch.setenv("ATTNVIZ_MAX_MODEL_GB", "0.00001")
    assert "ATTNVIZ_MAX_MODEL_GB sets the limit" in refusal(copy)
    monkeypatch.setenv("ATTNVIZ_MAX_MODEL_GB", "lots")
    assert refusal(copy) == "ATTNVIZ_MAX_MODEL_GB='lots' is not a number of gigabytes."


def test_a_trainers_folder_names_its_last_checkpoint(checkpoint, tmp_path):
    out = tmp_path / "out"
    for step in ("500", "1000", "90"):
        shutil.copytree(checkpoint("gpt2"), out / f"checkpoint-{step}")
    assert refusal(out) == (
        "'out' contains 3 checkpoints of a Trainer. Please pass one of them, such as the last one, out/checkpoint-1000."
    )
    assert load(out / "checkpoint-500", **CPU).name == "checkpoint-500"
    shutil.copytree(checkpoint("gpt2"), out, dirs_exist_ok=True)  # the model that was saved at the end
    assert load(out, **CPU).name == "out"


def test_the_old_layout_of_sentence_transformers_is_read(checkpoint, tmp_path):
    shutil.copytree(checkpoint("bert"), tmp_path / "minilm" / "0_Transformer")
    modules = [{"idx": 0, "name": "0", "path": "0_Transformer", "type": "sentence_transformers.models.Transformer"}]
    (tmp_path / "minilm" / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    made = load(tmp_path / "minilm", **CPU)
    assert (made.name, made.kinds) == ("minilm", ("encoder_self",))


@pytest.mark.parametrize("base", ["meta-llama/Llama-3.2-1B", None, ["x"]])
def test_an_adapter_alone_is_told_to_be_merged(base, tmp_path):
    folder = tmp_path / "adapter"
    folder.mkdir()
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": base}), encoding="utf-8")
    (folder / "adapter_model.safetensors").write_bytes(b"")
    of = " to 'Llama-3.2-1B'" if isinstance(base, str) else ""
    assert refusal(folder) == (
        f"'adapter' contains an adapter{of} (PEFT), not a model. Please save the model with the "
        "adapter merged in (merge_and_unload), or pass it to attnviz.load(model, tokenizer) in "
        "Python."
    )
