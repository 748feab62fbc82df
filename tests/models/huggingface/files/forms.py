"""The forms in which people have a model's files: a folder of each, made of a small Llama."""

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from safetensors.torch import load_file, save_file

from tests.models.huggingface import checkpoints
from tests.models.huggingface.refused import change

QUANTISED = {
    "GPTQ": {"quant_method": "gptq", "bits": 4, "group_size": 128},
    "AWQ": {"quant_method": "awq", "bits": 4, "zero_point": True},
    "bitsandbytes": {"quant_method": "bitsandbytes", "load_in_4bit": True},
    "torchao": {"quant_method": "torchao", "quant_type": "int4_weight_only"},
    "FP8": {"quant_method": "fp8", "activation_scheme": "dynamic"},
    "MXFP4": {"quant_method": "mxfp4"},
    "compressed-tensors": {"quant_method": "compressed-tensors", "format": "pack-quantized"},
}


def _whole(place: Path) -> Path:
    folder = place / "model"
    shutil.rmtree(folder, ignore_errors=True)
    return checkpoints.save(folder, checkpoints.DECODERS["llama"])


def _sharded(place: Path) -> Path:
    """Split the weights into two files with an index, as large models have them."""
    folder = _whole(place)
    tensors = sorted(load_file(folder / "model.safetensors").items())
    (folder / "model.safetensors").unlink()
    where = {}
    for number, part in enumerate((tensors[::2], tensors[1::2]), start=1):
        name = f"model-0000{number}-of-00002.safetensors"
        save_file(dict(part), folder / name, metadata={"format": "pt"})
        where |= dict.fromkeys(dict(part), name)
    index = {"metadata": {"total_size": 1}, "weight_map": where}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    return folder


def _with_settings(place: Path, content: str) -> Path:
    folder = _whole(place)
    (folder / "generation_config.json").write_text(content, encoding="utf-8")
    return folder


def _quantised(place: Path, said: dict[str, object]) -> Path:
    folder = _whole(place)
    change(folder / "config.json", quantization_config=said)
    return folder


def _adapter(place: Path) -> Path:
    folder = place / "adapter"
    folder.mkdir(exist_ok=True)
    said = {"base_model_name_or_path": "HuggingFaceTB/SmolLM2-135M-Instruct", "peft_type": "LORA"}
    (folder / "adapter_config.json").write_text(json.dumps(said), encoding="utf-8")
    (folder / "adapter_model.safetensors").write_bytes(b"")
    return folder


def _pickled(place: Path) -> Path:
    folder = _whole(place)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    return folder


FORMS: dict[str, Callable[[Path], Path]] = {
    "model.safetensors": _whole,
    "model-00001-of-00002.safetensors … with an index": _sharded,
    "generation_config.json with several ids that end a text": partial(
        _with_settings, content=json.dumps({"eos_token_id": [1, 2], "temperature": 0.6, "top_p": 0.9})
    ),
    "generation_config.json that is no JSON": partial(_with_settings, content="{"),
    "an adapter alone": _adapter,
    "pytorch_model.bin": _pickled,
    **{f"weights quantised by {name}": partial(_quantised, said=said) for name, said in QUANTISED.items()},
}
