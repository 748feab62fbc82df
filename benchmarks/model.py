"""The model that is measured: the shipped one, or random weights of its size where none is there yet."""

from functools import cache

import torch

import attnviz
from attnviz.models import catalogue
from attnviz.models.tiny import tiny_translator
from attnviz.models.translator import Translator
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.transformer import Transformer


@cache
def translator() -> Translator:
    """The shipped translator. Speed does not depend on what the weights have learned."""
    if catalogue.entries():
        return attnviz.load()
    config = ModelConfig(vocab_size=12_000, d_model=256, n_heads=8, n_layers=4, d_ff=1024)
    model = Transformer(config).initialise(0).requires_grad_(False).eval()
    return Translator(model.to(torch.float32), tiny_translator().codec, model_id="random", name="random")
