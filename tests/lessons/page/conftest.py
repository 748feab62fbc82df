"""A lesson with a step for each way of covering, on a page."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.lessons.page.lesson_page import LESSON


@pytest.fixture
def open_lesson(open_page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Open a page at a step of that lesson."""
    (tmp_path / "love.md").write_text(LESSON, encoding="utf-8")
    (tmp_path / "broken.md").write_text(LESSON.replace("minutes: 10", "minutes: x"), encoding="utf-8")
    monkeypatch.setenv("ATTNVIZ_LESSONS", str(tmp_path))

    def make(page: str = "heads", step: int = 1, **texts: str) -> AppTest:
        asked = {"src": "I love you", "to": "fr", "kind": "cross", "layer": "1", "head": "0"}
        place = {"lesson": "love", "lesson_step": str(step)}
        return open_page(page, **asked | place | texts)

    return make
