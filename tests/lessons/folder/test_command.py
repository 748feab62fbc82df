"""`python -m attnviz lessons export`: the files that it writes, and its refusals before anything runs."""

from pathlib import Path

import pytest

from attnviz.__main__ import main
from tests.lessons.front_matter import FRONT_MATTER

LESSON = FRONT_MATTER + "## One\n\nText.\n"


@pytest.fixture
def lesson(tmp_path: Path) -> Path:
    path = tmp_path / "love.md"
    path.write_text(LESSON, encoding="utf-8")
    return path


def test_files_are_exported_into_one_folder(tmp_path: Path, lesson: Path, capsys) -> None:
    (other := tmp_path / "more.md").write_text(LESSON, encoding="utf-8")
    folder = tmp_path / "out" / "lessons"
    assert main(["lessons", "export", str(lesson), str(other), "--to", str(folder)]) == 0
    assert {path.name for path in folder.glob("*.html")} == {"index.html", "love.html", "more.html"}
    assert capsys.readouterr().out == f"{folder}: 2 lessons, 0.1 MB; open index.html\n"


def test_what_cannot_be_exported_is_one_sentence_and_writes_nothing(tmp_path: Path, lesson: Path, capsys) -> None:
    (broken := tmp_path / "broken.md").write_text(LESSON.replace("minutes: 10", "minutes: ten"), encoding="utf-8")
    (absent := tmp_path / "absent.md").write_text(f"{LESSON}\n/heads?model=toy:none&src=Hi.\n", encoding="utf-8")
    new = tmp_path / "new"
    refused = {
        (str(lesson),): "attnviz: Say where the folder goes: --to FOLDER, one that is new or empty.\n",
        (
            str(lesson),
            "--to",
            str(tmp_path),
        ): f"attnviz: {tmp_path} is not empty. Please name a folder that is new or empty.\n",
        (
            str(lesson),
            "--to",
            str(new),
            "--instance",
            "attnviz",
        ): "attnviz: “attnviz” is not the address of an instance. Please write one such as "
        "https://attnviz.example.org.\n",
        (str(lesson), str(broken), "--to", str(new)): f"{broken}: Line 3, front matter: “minutes” is a whole number "
        "from 1 to 240.\n",
        (
            str(absent),
            "--to",
            str(new),
        ): "attnviz: absent, step 1: There is no task 'none'. The tasks are french, reverse, sort, twice, add, "
        "digits.\n",
    }
    for arguments, sentence in refused.items():
        assert main(["lessons", "export", *arguments]) == 2
        assert capsys.readouterr().err == sentence
        assert not new.exists()
