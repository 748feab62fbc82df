"""A small translator and sentences of different lengths, each with its target."""

import pytest

from attnviz.analysis.corpus.lines import lines_of
from attnviz.analysis.corpus.reading import read_corpus
from attnviz.models.translator.tiny import tiny_translator

LINES = (
    "I love fun.\tje t'aime",
    "A big red dog jumped over a small pond.\tun petit chien rouge a sauté",
    "machine learning is fun\tun chien",
    "You love a dog\tje t'aime un chien rouge",
    "A pond.\trouge",
    "learning is over\tun petit a sauté",
)


@pytest.fixture(scope="session")
def model():
    return tiny_translator(seed=3, n_heads=3, n_layers=2, d_k=6)


@pytest.fixture(scope="session")
def corpus(model):
    return read_corpus(model, lines_of(LINES), to="fr")
