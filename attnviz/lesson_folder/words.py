"""Sentences of a lesson's page in the language of the lesson: the scripts have them in English, as `phrase("…")`."""

import json
import re
from collections.abc import Mapping
from functools import cache

from attnviz.lessons.phrases import translations
from attnviz.widgets.bundle import WIDGETS

SCRIPTS = WIDGETS / "lesson_page" / "js"
_PHRASE = re.compile(r'\bphrase\(\s*("(?:[^"\\]|\\.)*")')


@cache
def sentences() -> tuple[str, ...]:
    """Return every English sentence that the scripts declare."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(SCRIPTS.glob("*.js")))
    return tuple(dict.fromkeys(json.loads(found) for text in texts for found in _PHRASE.findall(text)))


def words(language: str) -> Mapping[str, str]:
    """Return the translations of all sentences; empty for English, and for a language that has no file."""
    found = translations(language)
    return {english: found[english] for english in sentences() if english in found}
