"""A small translator, and traces of its passes over one target."""

import pytest

from attnviz.models.translator.tiny import tiny_translator

TARGET = "un chien rouge a sauté"


@pytest.fixture(scope="module")
def model():
    return tiny_translator(seed=3, n_heads=5, n_layers=3, d_k=14)


@pytest.fixture(scope="module")
def trace(model):
    return lambda text, *done: model.trace(text, to="fr", tgt_text=TARGET, interventions=done)
