"""The shipped model, and its run on the sentence that most lessons are about."""

import pytest

import attnviz
from tests.lessons.told import DOG


@pytest.fixture(scope="session")
def model():
    """Provide the translator that comes with the package."""
    return attnviz.load()


@pytest.fixture(scope="session")
def dog(model):
    """Its trace of the sentence about the dog, into French."""
    return model.trace(DOG, to="fr")
