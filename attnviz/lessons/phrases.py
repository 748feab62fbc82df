"""Sentences that students read, in the language of their lesson: English in the code, others in assets/phrases/."""

import json
import re
from collections.abc import Mapping
from functools import cache

from attnviz.places import ASSETS

FOLDER = ASSETS / "phrases"  # a file of translations for each language
LANGUAGES = tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


class Translatable(str):
    """An English sentence that keeps its template and values, so that the page that shows it can translate it.

    `english` is the sentence as it is written in the code, with a {placeholder} for each of the `values`, which may be
    phrases, too.
    """

    english: str
    values: Mapping[str, object]

    def __new__(cls, english: str, /, **values: object) -> "Translatable":
        """Make the English sentence with `values` filled in."""
        made = super().__new__(cls, english.format(**values) if values else english)
        made.english, made.values = english, values
        return made


def sentence(error: Exception) -> str:
    """Return the message of an error, as a `Translatable` if the error was raised with one."""
    said = error.args[0] if error.args else ""
    return said if isinstance(said, Translatable) else str(error)


def translate(said: str, language: str) -> str:
    """Translate a `Translatable`, or return it in English without a translation. Other texts are returned unchanged."""
    if not isinstance(said, Translatable):
        return said
    template = translations(language).get(said.english, said.english)
    values = {name: translate(one, language) if isinstance(one, str) else one for name, one in said.values.items()}
    return template.format(**values) if values else template


def translations(language: str) -> Mapping[str, str]:
    """Return {English sentence: translation} for a lesson's language, such as "de" or "de-CH".

    The result is empty for English and for a language that has no file.
    """
    code = re.split("[-_]", language.strip().casefold())[0]
    return _read(code) if code in LANGUAGES else {}


@cache
def _read(code: str) -> Mapping[str, str]:
    return json.loads((FOLDER / f"{code}.json").read_text(encoding="utf-8"))
