"""A folder on the disk and as a zip file, and refusals before anything runs."""

import io
import zipfile
from pathlib import Path

import pytest

from attnviz.lessons.folder.files import instance_address, write_folder, zip_folder

FILES = {"index.html": "é", "pictures/a.js": "1\n"}


def test_a_folder_holds_the_files_as_they_are(tmp_path: Path) -> None:
    write_folder(FILES, tmp_path / "new" / "folder")
    found = {path.relative_to(tmp_path / "new" / "folder").as_posix(): path.read_bytes().decode()
             for path in tmp_path.rglob("*") if path.is_file()}  # fmt: skip
    assert found == FILES


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"is not empty. Please name a folder that is new or empty\.$"):
        write_folder(FILES, tmp_path)
    with pytest.raises(ValueError, match=r"is a file. Please name a folder that is new or empty\.$"):
        write_folder(FILES, tmp_path / "mine.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_zip_file_unpacks_to_one_folder() -> None:
    with zipfile.ZipFile(io.BytesIO(zip_folder(FILES, "lessons"))) as archive:
        assert {name: archive.read(name).decode() for name in archive.namelist()} == {
            f"lessons/{name}": text for name, text in FILES.items()
        }


def test_an_instance_is_an_address_of_the_web() -> None:
    assert instance_address("https://attnviz.example.org/course/") == "https://attnviz.example.org/course"
    assert instance_address("http://127.0.0.1:8501") == "http://127.0.0.1:8501"
    assert instance_address("") == ""
    for wrong in ("attnviz.example.org", "ftp://a", "javascript:alert(1)", "https://", "http://a b", "http://[", "http://a:b",
                  "https://a?x=1", "https://a#b", 'https://a"'):  # fmt: skip
        with pytest.raises(ValueError, match=r"is not the address of an instance\. Please write one such as https://"):
            instance_address(wrong)
