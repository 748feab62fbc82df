"""A lesson's panel is in the lesson's language; in English where that language has no translations."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.lessons.page.lesson_page import LESSON, page_text, payload

Open = Callable[..., AppTest]


@pytest.fixture
def open_in(open_page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Open a page at a step of a lesson in a language."""
    monkeypatch.setenv("ATTNVIZ_LESSONS", str(tmp_path))

    def make(language: str, page: str = "heads", step: int = 1) -> AppTest:
        text = LESSON.replace("language: en", f"language: {language}")
        (tmp_path / "love.md").write_text(text, encoding="utf-8")
        place = {"lesson": "love", "lesson_step": str(step)}
        return open_page(page, src="I love you", to="fr", kind="cross", layer="1", head="0", **place)

    return make


def labels(app: AppTest) -> set[str]:
    return {button.label for button in app.button}


def test_a_german_lesson_asks_refuses_and_judges_in_german(open_in: Open) -> None:
    app = open_in("de")
    assert {"Antworten", "Überspringen und zeigen", "Hinweis", "Zurück", "Weiter", "Schließen"} <= labels(app)
    assert "Schlüssel" in [box.label for box in app.selectbox]
    assert "Love · 1 von 4" in page_text(app)
    app.button(key="lesson-submit").click().run()
    assert "Wähle zuerst eine Zelle." in [error.value.replace("\\", "") for error in app.error]
    app.button(key="lesson-skip").click().run()
    assert "Übersprungen. Das Modell: " in page_text(app)


def test_what_a_page_covers_is_said_in_chinese(open_in: Open) -> None:
    assert "回答或跳过问题之前，这里是遮住的。" in page_text(open_in("zh-Hans", "masks", 4))


@pytest.mark.parametrize("language", ["it", "klingon", "../de"])
def test_a_language_without_translations_is_english(open_in: Open, language: str) -> None:
    app = open_in(language)
    assert {"Answer", "Skip and show", "Hint", "Next"} <= labels(app)
    app.button(key="lesson-submit").click().run()
    assert "Choose a cell first." in page_text(app)


def test_the_covered_map_and_a_phones_line_are_sent_their_words(open_in: Open) -> None:
    app = open_in("fr")
    kind = next(kind for kind in payload(app).header["kinds"] if kind["kind"] == "cross")
    assert kind["covered"]["said"] == "Caché jusqu’à ce que tu répondes à la question ou que tu la passes."
    line = next(part.proto.body for part in app.get("html") if "lesson-line" in part.proto.body)
    assert 'data-fold="Replier"' in line
    assert "<small>Leçon, étape 1 sur 4</small>" in line
