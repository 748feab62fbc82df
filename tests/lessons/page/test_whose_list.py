"""Broken lessons, and lessons that are not listed, are shown to those who write them, not to students."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.app import hosting
from tests.lessons.front_matter import FRONT_MATTER

HIDDEN = FRONT_MATTER.replace("title: Love", "title: For the exam\nlisted: false") + "## One\n\nText.\n"
BROKEN = FRONT_MATTER.replace("minutes: 10", "minutes: ten").replace("language: en\n", "") + "## One\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Provide a folder of lessons: one that is not listed, one that is broken."""
    (tmp_path / "hidden.md").write_text(HIDDEN, encoding="utf-8")
    (tmp_path / "broken.md").write_text(BROKEN, encoding="utf-8")
    monkeypatch.setenv("ATTNVIZ_LESSONS", str(tmp_path))
    yield
    hosting.use(None)


class Queue:
    """A queue in which nobody waits."""

    has_turn, is_over = True, False

    def take(self, address: str, tell) -> None:
        """Return at once."""

    def give_back(self) -> float:
        return 0.0


def serve(*, is_author: bool) -> None:
    """Have the pages be those of a server that many share."""
    hosting.use(hosting.Hosting(Queue(), str, lambda _: False, lambda _: is_author))


def page_text(app: AppTest) -> str:
    assert not app.exception
    parts = (*app.error, *app.info, *app.warning, *app.markdown, *app.caption)
    return "\n".join(part.value for part in parts).replace("\\", "")


@pytest.mark.parametrize("where", ["alone", "teacher"])
def test_teachers_and_whoever_runs_it_alone_see_every_mistake_and_every_lesson(open_page, where: str) -> None:
    if where == "teacher":
        serve(is_author=True)
    app = open_page("lessons")
    assert "Only you see these" in page_text(app)
    assert "Line 1, front matter: “language” is missing; write “language: …”." in page_text(app)
    assert "Line 3, front matter: “minutes” is a whole number from 1 to 240." in page_text(app)
    assert "**For the exam**" in page_text(app)
    assert "not listed: opens by its link, /lessons?lesson=hidden" in page_text(app)
    assert app.button(key="class-hidden").label == "Start a class"


def test_students_see_neither(open_page) -> None:
    serve(is_author=False)
    app = open_page("lessons")
    for words in ("Only you", "broken.md", "exam", "minutes” is"):
        assert words not in page_text(app)
    assert "What a head looks at" in page_text(app)
    assert "hidden" not in " ".join(str(button.key) for button in app.button)


def test_a_lesson_that_is_not_listed_opens_by_its_link_and_for_a_class(open_page) -> None:
    serve(is_author=False)
    app = open_page("lessons", lesson="hidden")
    assert "For the exam · 1 of 1" in page_text(app)
    assert app.button(key="lesson-class").label == "Start a class"


def test_the_link_of_a_broken_lesson_tells_students_nothing_of_its_file(open_page) -> None:
    serve(is_author=False)
    app = open_page("lessons", lesson="broken")
    assert "The lesson “broken” cannot be opened: its file has mistakes." in page_text(app)
    assert "minutes” is" not in page_text(app)


def test_the_log_names_the_mistakes_once(open_page, caplog: pytest.LogCaptureFixture) -> None:
    serve(is_author=False)
    with caplog.at_level(logging.WARNING, logger="attnviz.lessons"):
        open_page("lessons").run()
    (line,) = [record.getMessage() for record in caplog.records if record.name == "attnviz.lessons"]
    assert line.startswith("broken.md is not in the list of lessons. Line 1, front matter: “language” is missing")
    assert "Line 3, front matter: “minutes” is a whole number" in line
