"""`python -m attnviz lessons check`: its output for an author."""

from pathlib import Path

import pytest

from attnviz.__main__ import main
from tests.lessons.front_matter import FRONT_MATTER

LESSON = (
    FRONT_MATTER
    + """## One

/heads?src=I+love+you.&to=fr&kind=cross&layer=2&head=4

```question
kind: number
ask: How many maps?
measure: maps
```
"""
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "love.md"
    path.write_text(LESSON, encoding="utf-8")
    return path


def test_a_good_lesson_says_what_is_right(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lessons", "check", str(file)]) == 0
    assert f"{file}:11: step 1: right is 72" in capsys.readouterr().out


def test_a_mistake_is_status_two_and_one_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(LESSON.replace("measure: maps", "mesure: maps"), encoding="utf-8")
    assert main(["lessons", "check", str(file)]) == 2
    assert "Line 14, step 1, question: a question of kind number has no field “mesure”" in capsys.readouterr().err


def test_every_mistake_is_a_line_of_its_own(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = LESSON.replace("measure: maps", "measure: maps\nwithin: near").replace("minutes: 10", "minutes: ten")
    file.write_text(text, encoding="utf-8")
    assert main(["lessons", "check", str(file)]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"{file}: Line 3, front matter: “minutes” is a whole number from 1 to 240.",
        f"{file}: Line 15, step 1, question: “within” is a number from 0 on, not “near”.",
    ]


def test_a_file_that_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lessons", "check", str(tmp_path / "none.md")]) == 2
    assert "none.md" in capsys.readouterr().err


def test_a_picture_that_has_changed_since_it_was_signed_is_told_to_its_author(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lessons", "check", "--sign", str(file)]) == 0
    signed = file.read_text(encoding="utf-8")
    assert "signed: {1: " in signed
    assert main(["lessons", "check", str(file)]) == 0
    file.write_text(signed.replace("measure: maps", "measure: heads"), encoding="utf-8")
    assert main(["lessons", "check", str(file)]) == 2
    assert "has changed since the lesson was signed" in capsys.readouterr().err
    assert main(["lessons", "check", "--sign", str(file)]) == 2
    assert main(["lessons", "check", str(file)]) == 0, "signed again, and once"
    assert file.read_text(encoding="utf-8").count("signed:") == 1
