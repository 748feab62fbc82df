"""A random model and the shipped one."""

import pytest

from attnviz.models import catalogue
from attnviz.models.translator.tiny import tiny_translator
from attnviz.models.translator.translator import Translator


@pytest.fixture(scope="session")
def tiny() -> Translator:
    return tiny_translator(seed=3)


@pytest.fixture(scope="session")
def shipped_translator() -> Translator:
    return catalogue.translator(device="cpu", dtype="float32")
