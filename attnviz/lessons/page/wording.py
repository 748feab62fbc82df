"""Translation of texts for students into the language of the open lesson or of the joined class."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import streamlit as st

from attnviz.app.address import persistent
from attnviz.doors import door
from attnviz.lessons import phrases
from attnviz.lessons.page.open_lesson import open_lesson
from attnviz.lessons.phrases import Translatable

_OF_CLASSES = "_attnviz_class_languages"
_previewed: ContextVar[str] = ContextVar("language of a previewed lesson", default="")


def phrase(english: str, /, **values: object) -> str:
    """Translate a sentence into the lesson's language. Pass `english` as a literal: a test collects these sentences."""
    return translate(Translatable(english, **values))


def translate(said: str | Exception) -> str:
    """Translate a phrase, or the message of an error, into the lesson's language.

    Other texts are returned unchanged.
    """
    return phrases.translate(phrases.sentence(said) if isinstance(said, Exception) else said, language())


@contextmanager
def preview_in(language: str) -> Iterator[None]:
    """Translate phrases into `language` inside this context, to preview a lesson that is not open."""
    token = _previewed.set(language)
    try:
        yield
    finally:
        _previewed.reset(token)


def language() -> str:
    """Return the language of the previewed or open lesson, or of the class that the address names; "" without one."""
    if previewed := _previewed.get():
        return previewed
    known: dict[str, str] = st.session_state.setdefault(_OF_CLASSES, {})
    code, now = persistent.text("class"), open_lesson()
    if now is not None:
        known[code] = now.lesson.language  # still known when the class is deleted
        return now.lesson.language
    return _class_language(code, known) if code else ""


def _class_language(code: str, known: dict[str, str]) -> str:
    """Look up the language of a class that this visitor has not joined.

    The result is cached, because each look-up of a wrong code counts against the visitor's limit.
    """
    if code not in known:
        known[code] = door("language_of_class")(code)
    return known[code]
