"""Checkpoints are made once a session and loaded once, each when a test first asks for it. No test uses the network."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from attnviz.models.huggingface import HuggingFaceModel, load
from tests.models.huggingface import checkpoints
from tests.models.huggingface.families import FAMILIES


@pytest.fixture(scope="session", autouse=True)
def _no_network():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        yield


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Provide the folder of an architecture's checkpoint."""
    return cache(lambda name: checkpoints.save(tmp_path_factory.mktemp("hf") / name, checkpoints.ALL[name]))


@pytest.fixture(scope="session")
def family(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Provide the folder of a family's checkpoint, with its tokenizer's files as they are published."""
    return cache(lambda name: FAMILIES[name](tmp_path_factory.mktemp("families") / "model"))


@pytest.fixture(scope="session")
def model(checkpoint: Callable[[str], Path]) -> Callable[[str], HuggingFaceModel]:
    """Load a checkpoint by attnviz."""

    @cache
    def load_once(name: str) -> HuggingFaceModel:
        found = load(checkpoint(name), device=torch.device("cpu"), dtype=torch.float32)
        assert isinstance(found, HuggingFaceModel), f"{name} is replayed"
        return found

    return load_once


@pytest.fixture(scope="session")
def peer(checkpoint: Callable[[str], Path]) -> Callable[[str], Any]:
    """Load the same checkpoint by transformers alone."""
    return cache(lambda name: checkpoints.reference(checkpoint(name)))
