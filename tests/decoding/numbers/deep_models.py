"""Random models of any depth whose first token carries a huge number: the attention sinks that trained models have.

Llama, Qwen and GPT-2 are transformers' own classes, saved and loaded as a checkpoint is; their weights are drawn anew
afterwards, from nearly even attention to nearly one-hot.
"""

import random
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import torch
import transformers

from attnviz.models.catalogue import load
from attnviz.models.decoding_record import DecodingRecord, decoding_record
from attnviz.models.huggingface.model import HuggingFaceModel
from attnviz.models.translator.tiny import tiny_translator
from attnviz.models.translator.translator import Translator
from attnviz.tracing.trace import Trace
from tests.models.huggingface import checkpoints

DEPTHS, SCALES, SINKS = (2, 3, 6, 12, 24, 30, 48), (0.02, 0.05, 0.1, 0.2, 0.3), (0.0, 100.0, 22_552.0)
FAMILIES = ("llama", "qwen2", "gpt2")
_DEPTH = {"llama": "num_hidden_layers", "qwen2": "num_hidden_layers", "gpt2": "n_layer"}
_WORDS = [
    "the",
    "old",
    "man",
    "who",
    "lives",
    "in",
    "this",
    "small",
    "house",
    "has",
    "a",
    "big",
    "red",
    "dog",
    "I",
    "love",
    "you",
    "machine",
    "learning",
]
_CHANNEL = 3  # where the huge number stands


@dataclass(frozen=True)
class Case:
    """A model's sizes, and the text that it reads."""

    family: str
    depth: int
    scale: float
    sink: float
    text: str
    seed: int
    cached: bool = True
    dtype: str = "float32"

    @classmethod
    def draw(cls, seed: int, dtype: str = "float32") -> "Case":
        """Draw a case from a seed."""
        draw = random.Random(seed)
        text = " ".join(draw.choices(_WORDS, k=draw.choice((2, 5, 12))))
        made = draw.choice(FAMILIES), draw.choice(DEPTHS), draw.choice(SCALES), draw.choice(SINKS)
        return cls(*made, text, seed, draw.random() < 0.7, dtype)


def checkpoint(case: Case, folder: Path) -> HuggingFaceModel:
    """Make a transformers decoder with random weights of the case's size and its sink."""
    recipe = checkpoints.ALL[case.family]
    tokenizer = recipe.tokenizer()
    ids = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}
    sizes = recipe.sizes | ids | {"vocab_size": len(tokenizer), _DEPTH[case.family]: case.depth}
    config = getattr(transformers, recipe.config)(**{name: size for name, size in sizes.items() if size is not None})
    getattr(transformers, recipe.model)(config).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    model = load(str(folder), device="cpu", dtype=case.dtype)
    assert isinstance(model, HuggingFaceModel)
    with torch.no_grad():
        _draw(model.network.model, case)
        if case.sink:
            first = model.trace(case.text, new_tokens=1).tokens("tgt")[0].id
            model.network.model.get_input_embeddings().weight[first, _CHANNEL] = case.sink
    return model


def _draw(network: torch.nn.Module, case: Case) -> None:
    generator = torch.Generator().manual_seed(case.seed)
    for name, parameter in network.named_parameters():
        if "norm" not in name and "ln_" not in name:
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * case.scale)
    network.get_input_embeddings().weight.mul_(0.5 / case.scale)  # type: ignore[operator]


def translator(case: Case) -> Translator:
    """Make one of attnviz's own translators, as deep, with its sink on `<bos>`."""
    model = tiny_translator(case.seed, n_layers=case.depth)
    if case.sink:
        with torch.no_grad():
            model.model.embedding.weight[model.codec.bos_id("fr"), _CHANNEL] = case.sink
    return model if case.dtype == "float32" else model.copy_in_dtype(getattr(torch, case.dtype))


@lru_cache(maxsize=1)  # many tests in a row ask the same of one model
def continue_prompt(model: HuggingFaceModel, case: Case) -> tuple[DecodingRecord, Trace]:
    """Return the steps of a prompt and three tokens after it, and a trace of those tokens to run again."""
    made = decoding_record(model.stepwise(case.text, new_tokens=3, cached=case.cached))
    trace = model.trace(case.text, new_tokens=1)
    sentence = replace(trace.sentences[0], tgt=(*made.fed, made.chosen[-1]), cut=False)
    return made, replace(trace, sentences=(sentence,))
