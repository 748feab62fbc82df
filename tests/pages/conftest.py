"""Pages run in this process on a tiny model with the shipped one's name: fast, and independent of its weights."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.models import catalogue
from attnviz.models.translator.tiny import tiny_translator
from attnviz.transformer import checkpoint
from tests.models.huggingface import checkpoints

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def tiny_catalogue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder of models as `assets/models` is one."""
    models = tmp_path_factory.mktemp("models")
    tiny = tiny_translator()
    about = {"title": "tiny", "languages": ["fr", "zh"], "start": {"kind": "cross", "layer": 0, "head": 1}}
    checkpoint.save(tiny.model, models / catalogue.DEFAULT, about=about)
    tiny.codec.save(models / catalogue.DEFAULT / "tokenizer.json")
    return models


@pytest.fixture
def open_page(tiny_catalogue: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Open a page as a link does: `open_page("heads", src="I love you", to="zh")`; "" is the welcome page."""
    monkeypatch.setattr(catalogue, "SHIPPED", tiny_catalogue)
    monkeypatch.chdir(ROOT)

    def make(name: str = "", **params: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "dashboard.py"), default_timeout=300)
        for key, value in params.items():
            app.query_params[key] = value
        if name:
            app = app.switch_page(f"pages/{name}.py")
        return app.run()

    return make


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Save a small Hugging Face checkpoint: `folder("gpt2")`. Of tests/models/huggingface/checkpoints.py."""
    return cache(lambda name: str(checkpoints.save(tmp_path_factory.mktemp("hf") / name, checkpoints.ALL[name])))
