"""Small decoders with room for a conversation, and a chat template in their tokenizers."""

from functools import cache

import pytest
import torch

from attnviz.models.huggingface import load
from tests.models.huggingface import checkpoints
from tests.models.huggingface.chat.templates import CHATML

POSITIONS = 397


@pytest.fixture(scope="session")
def roomy(tmp_path_factory):
    """Load a checkpoint that has room for a conversation, once."""

    @cache
    def load_once(name: str):
        folder = tmp_path_factory.mktemp("chat") / name
        checkpoints.save(folder, checkpoints.ALL[name], max_position_embeddings=POSITIONS)
        return load(folder, device=torch.device("cpu"), dtype=torch.float32)

    return load_once


@pytest.fixture
def chat(roomy, monkeypatch):
    """Load a checkpoint whose tokenizer has a chat template."""

    def with_template(name: str, template: str = CHATML):
        found = roomy(name)
        monkeypatch.setattr(found.text.tokenizer, "chat_template", template)
        return found

    return with_template
