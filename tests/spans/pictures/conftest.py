"""A conversation with a small decoder, for pictures of it."""

from typing import Any

import pytest
import torch

from attnviz.models.huggingface import load
from attnviz.tracing.trace import Trace
from tests.models.huggingface import checkpoints
from tests.models.huggingface.chat.templates import CHATML

LONG = "the cat sat on the mat and the dog sat on the cat"
MESSAGES = (
    {"role": "system", "content": LONG},
    {"role": "user", "content": LONG},
    {"role": "assistant", "content": LONG},
    {"role": "user", "content": "a cat"},
)


@pytest.fixture(scope="session")
def chat_model(tmp_path_factory) -> Any:
    """Load a decoder with a chat template."""
    folder = tmp_path_factory.mktemp("spans") / "llama"
    checkpoints.save(folder, checkpoints.ALL["llama"], max_position_embeddings=397)
    model = load(folder, device=torch.device("cpu"), dtype=torch.float32)
    model.text.tokenizer.chat_template = CHATML
    return model


@pytest.fixture(scope="session")
def conversation(chat_model) -> Trace:
    """Trace four turns, and three tokens of the fifth."""
    return chat_model.trace(messages=MESSAGES, new_tokens=3)
