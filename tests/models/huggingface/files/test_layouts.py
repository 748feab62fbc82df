"""Folders that are not quite a checkpoint's: read where they hold one, told what to give instead where not."""

import json
import shutil

import pytest

from attnviz.models.huggingface import load
from tests.models.huggingface.refused import CPU, refused


def test_a_trainers_folder_names_its_last_checkpoint(checkpoint, tmp_path):
    out = tmp_path / "out"
    for step in ("500", "1000", "90"):
        shutil.copytree(checkpoint("gpt2"), out / f"checkpoint-{step}")
    assert refused(out) == (
        "'out' holds 3 checkpoints of a Trainer. Give one of them, such as out/checkpoint-1000, the last."
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
    assert refused(folder) == (
        f"'adapter' holds an adapter{of} (PEFT), not a model: save the model with the adapter merged in "
        "(merge_and_unload), or hand it to attnviz.load(model, tokenizer) in Python."
    )


@pytest.mark.parametrize("given", ["folder", "file"])
def test_gguf_is_told_to_be_given_in_safetensors(given, tmp_path):
    folder = tmp_path / "gguf"
    folder.mkdir()
    (folder / "model-Q4_K_M.gguf").write_bytes(b"GGUF")
    name = "gguf" if given == "folder" else "model-Q4_K_M.gguf"
    assert refused(folder if given == "folder" else folder / name).startswith(
        f"'{name}' is in the GGUF format of llama.cpp, which attnviz does not read"
    )
