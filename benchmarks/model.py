"""The model that is measured: the shipped one, or random weights of its size; and sentences of a given length."""

from collections.abc import Iterator
from functools import cache
from itertools import cycle, product

import torch

from attnviz.models import catalogue
from attnviz.models.translator.tiny import tiny_translator
from attnviz.models.translator.translator import Translator
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.transformer import Transformer

_WORDS = ("the", "old", "man", "who", "lives", "in", "this", "small", "house", "has", "a", "big", "red", "dog", "and")


@cache
def translator() -> Translator:
    """Load the shipped translator, or random weights of its size: speed does not depend on the weights."""
    torch.set_num_threads(1)  # as the dashboard has it
    if catalogue.entries():
        return catalogue.translator()
    config = ModelConfig(vocab_size=10_000, d_model=256, n_heads=8, n_layers=3, d_ff=1024)
    model = Transformer(config).initialise(0).requires_grad_(False).eval()
    return Translator(model, tiny_translator().codec, model_id="random", name="random")


def text_of(n_tokens: int) -> str:
    """Write words that make a source of `n_tokens`, give or take one."""
    codec, words, text = translator().codec, cycle(_WORDS), ""
    while len(codec.encode_source(text).ids) < n_tokens:
        text = f"{text} {next(words)}".strip()
    return text


def sentences_of(n_tokens: int, *, to: str, slack: int = 2) -> Iterator[str]:
    """Find different sentences whose source and translation both have `n_tokens`, give or take `slack`."""
    model = translator()
    choices = product(
        ("My sister", "The old man", "Our teacher", "A young woman", "His brother", "The doctor"),
        ("bought", "wants to sell", "has lost", "gave me", "is looking for"),
        ("a red car", "two books", "the keys", "a small dog", "an old house"),
        ("last week", "in the city", "with her friends"),
        ("because he needed it.", "before the war began.", "and went home.", "when I was young."),
    )
    for parts in choices:
        text = " ".join(parts)
        trace = model.trace(text, to=to)
        if all(abs(len(trace.tokens(side)) - n_tokens) <= slack for side in ("src", "tgt")):
            yield text
