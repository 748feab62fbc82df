"""Three toys: a good one, one without a causal mask, and a decoder alone."""

import pytest

import attnviz
from attnviz.models.toy.toy import Toy
from tests.models.toy.toys import shipped_toy


@pytest.fixture(scope="module")
def french() -> Toy:
    return shipped_toy(task="french")


@pytest.fixture(scope="module")
def blind() -> Toy:
    """Trained without a causal mask."""
    return shipped_toy(task="french", without="causal-mask")


@pytest.fixture(scope="module")
def twice() -> Toy:
    """Make a decoder alone, hardly trained."""
    return Toy.from_recording(attnviz.learn("twice", steps=2))
