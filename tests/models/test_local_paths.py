"""A model's name may be any text: an impossible folder name is refused like a missing folder."""

import os
from pathlib import Path

import pytest

import attnviz
from attnviz.models import catalogue, local_paths
from attnviz.models.local_paths import folder, place
from tests.each_case import each_case

NO_PLACES = {
    "home of nobody": "~nobody-of-that-name/model",
    "too long": "a" * 300,
    "too long in a folder": f"./{'a' * 300}",
    "zero character": "a\0b",
    "half a character": "a\ud800b",
    "empty": "",
}


@each_case("name", NO_PLACES.values(), ids=NO_PLACES)
def test_a_name_that_can_be_no_folder_is_refused_in_one_sentence(name) -> None:
    for load in (attnviz.load, catalogue.translator):
        with pytest.raises(ValueError, match=r"[Tt]here is no|neither a folder nor a hub id") as refused:
            load(name, device="cpu")
        assert "\n" not in str(refused.value)


def test_what_is_there_is_found(tmp_path, monkeypatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path.parent))
    assert place(f"~/{tmp_path.name}") == tmp_path == folder(tmp_path)
    assert (place(tmp_path / "file"), folder(tmp_path / "file")) == (tmp_path / "file", None)


def test_a_place_that_may_not_be_looked_into_is_none(tmp_path, monkeypatch) -> None:
    def refuse(_: Path) -> bool:
        raise PermissionError("not yours")

    monkeypatch.setattr(Path, "exists", refuse)
    assert folder(tmp_path) is None


def test_a_folder_that_may_not_be_read_is_refused_in_one_sentence(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)  # the tests may run as root, who may read everything
    with pytest.raises(ValueError, match="no permission to read the folder"):
        attnviz.load(tmp_path, device="cpu")


def test_a_folder_that_is_written_anew_has_another_stamp(tmp_path):
    (tmp_path / "weights").write_bytes(b"1234")
    before = local_paths.stamp(tmp_path)
    assert local_paths.stamp(str(tmp_path)) == before != ()
    (tmp_path / "weights").write_bytes(b"5678")
    os.utime(tmp_path / "weights", ns=(1, 1))
    assert local_paths.stamp(tmp_path) != before
    assert local_paths.stamp("somebody/some-model") == ()
