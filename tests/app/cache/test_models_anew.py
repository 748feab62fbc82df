"""A folder that was written anew is another model, for everybody and at once."""

import json
import os

import pytest
import torch

from attnviz.app.cache import traces
from tests.models.huggingface import checkpoints


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("ATTNVIZ_MODELS", raising=False)
    return checkpoints.save(tmp_path / "gpt2", checkpoints.ALL["gpt2"])


def test_new_weights_are_shown_without_a_restart(folder):
    before = traces.model(str(folder))
    assert traces.model(str(folder)) is before
    torch.manual_seed(11)
    checkpoints.save(folder, checkpoints.ALL["gpt2"], n_layer=2)
    after = traces.model(str(folder))
    assert (before.n_layers, after.n_layers) == (3, 2)
    assert [name for name, _ in traces._others.names].count(str(folder)) == 1


def test_a_tokenizer_that_was_changed_is_another_model(folder):
    before = traces.model(str(folder))
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8")) | {"normalizer": {"type": "Lowercase"}}
    path.write_text(json.dumps(content), encoding="utf-8")
    os.utime(path, ns=(1, 1))
    assert traces.model(str(folder)).model_id != before.model_id
