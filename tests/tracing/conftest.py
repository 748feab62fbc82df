"""A small model with a different number for each axis, and a sentence of it."""

import pytest

from attnviz.models.translator.tiny import tiny_translator

LAYERS, HEADS, D_K = 3, 5, 14
SRC, TGT = "A big red dog jumped over a small pond.", "un chien rouge a sauté"


@pytest.fixture(scope="module")
def model():
    return tiny_translator(seed=3, n_heads=HEADS, n_layers=LAYERS, d_k=D_K)


@pytest.fixture(scope="module")
def trace(model):
    return model.trace(SRC, to="fr", tgt_text=TGT)
