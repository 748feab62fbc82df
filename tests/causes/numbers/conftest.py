"""A small translator, two sentences of equal length with the same target, and one of another."""

import pytest

from attnviz.models.translator.tiny import tiny_translator

TARGET = "un chien rouge a sauté"


@pytest.fixture(scope="session")
def model():
    return tiny_translator(seed=3, n_heads=5, n_layers=3, d_k=14)


@pytest.fixture(scope="session")
def make_trace(model):
    return lambda text, *done: model.trace(text, to="fr", tgt_text=TARGET, interventions=done)


@pytest.fixture(scope="session")
def clean(make_trace):
    return make_trace("A big red dog jumped.")


@pytest.fixture(scope="session")
def changed_trace(make_trace):
    return make_trace("A red big dog jumped.")
