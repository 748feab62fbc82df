"""The tiny translator, and its run on a short sentence, which every host shows."""

import pytest

from attnviz.models.translator.tiny import tiny_translator
from attnviz.models.translator.translator import Translator
from attnviz.tracing.trace import Trace


@pytest.fixture(scope="session")
def model() -> Translator:
    return tiny_translator(seed=0)


@pytest.fixture(scope="session")
def trace(model: Translator) -> Trace:
    return model.trace("I love you", to="fr", tgt_text="je t'aime")
