"""The list of shipped models is read from their folder, which may hold other things."""

import json
import shutil
from pathlib import Path

import pytest

from attnviz.models import catalogue

GOOD = {"format_version": 1, "about": {"title": "A translator", "languages": ["fr"]}, "model": {}}


@pytest.fixture
def shelf(tmp_path, monkeypatch) -> Path:
    """Make a folder of shipped models with one that is as it should be."""
    monkeypatch.setattr(catalogue, "SHIPPED", tmp_path)
    write_folder(tmp_path / "good", json.dumps(GOOD))
    return tmp_path


def write_folder(folder: Path, config: str) -> None:
    folder.mkdir()
    (folder / "config.json").write_text(config, encoding="utf-8")


FOREIGN = {
    "empty": "",
    "cut short": '{"format_version": 1, "about":',
    "a list": "[]",
    "nested too deep": "[" * 100_000,
    "a checkpoint of transformers": json.dumps({"model_type": "bert", "architectures": ["BertModel"]}),
    "says nothing of itself": json.dumps({"format_version": 1, "model": {}}),
    "about is text": json.dumps(GOOD | {"about": "a translator"}),
    "no languages": json.dumps(GOOD | {"about": {"title": "A translator"}}),
    "languages are text": json.dumps(GOOD | {"about": {"languages": "fr"}}),
    "languages are numbers": json.dumps(GOOD | {"about": {"languages": [1]}}),
}


@pytest.mark.parametrize("config", FOREIGN.values(), ids=FOREIGN)
def test_a_folder_that_is_no_shipped_model_is_not_listed(shelf, config) -> None:
    write_folder(shelf / "another", config)
    assert [entry.name for entry in catalogue.entries()] == ["good"]


def test_a_title_that_is_no_text_and_a_start_that_is_no_head_are_left_out(shelf) -> None:
    write_folder(shelf / "plain", json.dumps(GOOD | {"about": {"title": 5, "languages": ["fr"], "start": "cross"}}))
    (entry,) = (entry for entry in catalogue.entries() if entry.name == "plain")
    assert (entry.title, entry.start) == ("plain", {})


def test_a_model_that_is_copied_there_is_listed(shelf) -> None:
    shutil.copytree(shelf / "good", shelf / "better")
    assert [entry.name for entry in catalogue.entries()] == ["better", "good"]
