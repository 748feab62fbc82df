"""Lessons are taken from the page as a zip file by those who write them."""

from streamlit.testing.v1 import AppTest

from attnviz.app import hosting
from attnviz.app.hosting import Hosting
from tests.lessons.front_matter import FRONT_MATTER


def labels(app: AppTest) -> list[str]:
    assert not app.exception
    return [button.label for button in app.button]


def test_lessons_are_downloaded_as_a_folder(open_page, tmp_path, monkeypatch) -> None:
    (tmp_path / "love.md").write_text(f"{FRONT_MATTER}## One\n\n/heads?src=I+love+you&to=fr\n", encoding="utf-8")
    monkeypatch.setenv("ATTNVIZ_LESSONS", str(tmp_path))
    app = open_page("lessons")
    app.multiselect(key="folder-lessons").set_value(["love"])
    app.button(key="folder-make").click().run()
    (download,) = app.get("download_button")
    assert download.proto.label.startswith("Download lessons.zip (")


def test_a_lesson_that_cannot_be_shown_is_said(open_page, tmp_path, monkeypatch) -> None:
    (tmp_path / "love.md").write_text(f"{FRONT_MATTER}## One\n\n/heads?src=Hi.&to=fr&layer=9\n", encoding="utf-8")
    monkeypatch.setenv("ATTNVIZ_LESSONS", str(tmp_path))
    app = open_page("lessons")
    app.multiselect(key="folder-lessons").set_value(["love"])
    app.button(key="folder-make").click().run()
    assert "love, step 1: layer=" in app.error[0].value.replace("\\", "")


def test_students_have_no_such_button(open_page, tmp_path, monkeypatch) -> None:
    from tests.lessons.page.test_whose_list import Queue

    hosting.use(Hosting(Queue(), str, lambda _: False, lambda _: False))
    try:
        assert "Make the folder" not in labels(open_page("lessons"))
    finally:
        hosting.use(None)
