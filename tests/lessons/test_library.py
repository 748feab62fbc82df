"""Which recordings a link to Learning may name: those beside the lessons."""

from pathlib import Path

import pytest

from attnviz.lessons import library


def test_a_recording_lies_beside_the_lessons_and_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder := tmp_path / "lessons").mkdir()
    monkeypatch.setenv(library.VARIABLE, str(folder))
    for file in (folder / "run.npz", folder / "notes.txt", tmp_path / "other.npz"):
        file.write_bytes(b"")
    assert library.recording_beside("run.npz") == folder / "run.npz"
    for name in ("", "absent.npz", "notes.txt", "../other.npz", str(tmp_path / "other.npz")):
        assert library.recording_beside(name) is None
