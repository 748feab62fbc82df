"""Helpers for tests of refusals: the sentence that refuses a model, and a changed config."""

import json
import re
from pathlib import Path

import pytest
import torch

from attnviz.models.huggingface import ModelError, load

CPU = {"device": torch.device("cpu"), "dtype": torch.float32}


def refusal(folder, **arguments) -> str:
    """Return the sentence that refuses a model: one line, without a path of this machine."""
    with pytest.raises(ModelError) as caught:
        load(folder, **(CPU | arguments))
    sentence = str(caught.value)
    assert re.fullmatch(r"[^\n]+[.]", sentence)
    assert str(Path(folder).parent) not in sentence or not Path(folder).is_absolute()
    return sentence


def change(path: Path, **fields) -> None:
    """Put fields into a JSON file."""
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | fields), encoding="utf-8")
