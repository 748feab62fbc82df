"""Small models of every kind, here and behind an engine."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from attnviz.engine.client import Engine
from attnviz.engine.remote import RemoteModel
from attnviz.models import catalogue
from attnviz.models.translator.tiny import tiny_translator
from tests.engine.served import TOKEN, Served, serve_models
from tests.models.huggingface import checkpoints

KINDS = ("tiny", "bert", "gpt2", "bart")


@dataclass(frozen=True)
class Both:
    """A model that is here, and the same behind an engine."""

    here: Any
    there: RemoteModel

    @property
    def to(self) -> dict[str, str]:
        """The language, where one must be given."""
        return {"to": "fr"} if self.here.inputs.has_language else {}

    @property
    def short(self) -> dict[str, str]:
        """A target to trace, where the model would write a long one."""
        return self.to | ({"tgt_text": "a red dog"} if self.here.inputs.takes_target else {})

    @property
    def brief(self) -> dict[str, Any]:
        """So many tokens to write, and no more."""
        return self.to | ({"max_tokens": 5} if self.here.inputs.takes_target else {"new_tokens": 5})


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Make a model of each kind by name: encoder-decoders, an encoder and a decoder."""

    def load_checkpoint(name: str) -> Any:
        folder: Path = tmp_path_factory.mktemp("engine") / name
        return catalogue.load(str(checkpoints.save(folder, checkpoints.ALL[name])))

    return {name: tiny_translator() if name == "tiny" else load_checkpoint(name) for name in KINDS}


@pytest.fixture(scope="session")
def running(models: dict[str, Any]) -> Iterator[Served]:
    """Provide an engine with all of them."""
    with serve_models(models) as engine:
        yield engine


@pytest.fixture(scope="session")
def both(models: dict[str, Any], running: Served) -> Iterator[Callable[[str], Both]]:
    """`both("gpt2")`: the model here and there."""
    with closing(Engine(running.address, TOKEN)) as engine:
        yield cache(lambda name: Both(models[name], RemoteModel(engine, name)))
