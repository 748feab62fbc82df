"""The files of a folder of lessons: a list of them, one page per lesson, and shared scripts and styles.

All are static files that open from a disk or from any web host.
"""

import html
import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from attnviz.hosts import registry
from attnviz.kit.bundle import PACKAGE, fill_places, join_modules, source
from attnviz.lessons.folder.lesson_data import LessonData, lesson_data, words
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.phrases import Translatable, translate
from attnviz.lessons.picture import Pictures

Files = Mapping[str, str]  # texts by their paths in the folder
_SOURCES = PACKAGE / "lessons" / "lesson_page"
_STYLES = ("page.css", "list.css", "lesson.css", "stills.css")
_ALWAYS = ("row_guess",)  # what the page itself draws with
_TAKEN = ("index", "lesson")  # names of the folder's own scripts
_STEPS = Translatable("Steps")
_LESSONS = Translatable("Lessons")
_ALL = Translatable("All lessons")
PRACTICE = Translatable("Practice, not an exam: the answers are in these files. What you answer stays in this browser.")
_WAITING = Translatable(
    "This page needs JavaScript and the other files of its folder: open it there, with JavaScript switched on."
)


def folder_files(
    lessons: Sequence[Lesson], run: Pictures, *, instance: str = "", warn: Callable[[str], object] = str
) -> Files:
    """Make all files of a folder with these lessons.

    `instance` is the address of an attnviz server that links lead to, or "". `warn` is called with a sentence for each
    step whose texts name controls that the folder lacks. Raises ValueError for a lesson that cannot be shown.
    """
    names, language = file_names(lessons), _shared_language(lessons)
    made = [lesson_data(lesson, run, instance=instance) for lesson in lessons]
    for data in made:
        for warning in data.warnings:
            warn(warning)
    files = {
        "index.html": _index(lessons, made, names, language),
        "index.js": _assign("words", words(language)) + _script("index.js"),
        "lesson.js": _script("main.js"),
        "lessons.css": "".join((_SOURCES / "css" / name).read_text(encoding="utf-8") for name in _STYLES),
    }
    for at, (lesson, data, name) in enumerate(zip(lessons, made, names, strict=True)):
        following = {"href": f"{names[at + 1]}.html", "title": lessons[at + 1].title} if at + 1 < len(lessons) else None
        files[f"{name}.html"] = _lesson_page(lesson, name)
        files[f"{name}.js"] = _assign("lesson", {**data.page, "next": following})
        files |= {
            f"pictures/{piece}.js": _add_value("pictures", piece, json.dumps(text))
            for piece, text in data.pieces.items()
        }
    widgets = {*_ALWAYS, *(widget for data in made for widget in data.widgets)}
    return files | {f"widgets/{widget}.js": _widget(widget) for widget in sorted(widgets)}


def file_names(lessons: Sequence[Lesson]) -> list[str]:
    """Return a file name for each lesson's page: the lesson's own name, reduced to a-z, 0-9 and dashes, and unique."""
    names: list[str] = []
    for at, lesson in enumerate(lessons, start=1):
        plain = re.sub(r"[^a-z0-9]+", "-", lesson.name.lower()).strip("-") or "lesson"
        is_free = plain not in (*_TAKEN, *names)
        names.append(plain if is_free else f"{plain}-{at}")
    return names


@cache
def _script(entry: str) -> str:
    return f"({join_modules(_SOURCES / 'js' / entry)}).default();\n"


@cache
def _widget(name: str) -> str:
    found = source(registry.widget(name))
    texts = f"html: {json.dumps(found.html)}, style: {json.dumps(found.style)}"
    return _add_value("widgets", name, f"{{ {texts}, make: () => {found.module} }}")


def _assign(name: str, value: Any) -> str:
    """Return JavaScript that sets `globalThis.attnviz.<name>` to a value, where the page's script reads it."""
    return f"(globalThis.attnviz ??= {{}}).{name} = {json.dumps(value, allow_nan=False)};\n"


def _add_value(shelf: str, name: str, expression: str) -> str:
    """Return JavaScript that sets the entry `name` of the object `globalThis.attnviz.<shelf>`."""
    return f"((globalThis.attnviz ??= {{}}).{shelf} ??= {{}})[{json.dumps(name)}] = {expression};\n"


def _index(lessons: Sequence[Lesson], made: Sequence[LessonData], names: Sequence[str], language: str) -> str:
    cards = (_card(*one, language) for one in zip(lessons, made, names, strict=True))
    said = {"title": translate(_LESSONS, language), "practice": translate(PRACTICE, language)}
    return _page("index.html", {"language": language, **said}, cards="".join(cards))


def _card(lesson: Lesson, data: LessonData, name: str, language: str) -> str:
    facts = Translatable("{minutes} minutes · for {audience}", minutes=lesson.minutes, audience=lesson.audience)
    texts = {
        "key": data.page["key"],
        "questions": str(len(lesson.questions)),
        "language": lesson.language,
        "name": name,
        "title": lesson.title,
        "facts": translate(facts, language),
    }
    return _fill("card.html", texts, about=data.page["about"])


def _lesson_page(lesson: Lesson, name: str) -> str:
    said = {"all": _ALL, "steps": _STEPS, "waiting": _WAITING}
    texts = {what: translate(sentence, lesson.language) for what, sentence in said.items()}
    return _page("lesson.html", {"language": lesson.language, "title": lesson.title, "name": name, **texts})


def _page(template: str, texts: Mapping[str, str], **markup: str) -> str:
    """Fill a template of a page's body, and return the whole HTML page."""
    return _fill("page.html", texts, body=_fill(template, texts, **markup).rstrip("\n"))


def _fill(template: str, texts: Mapping[str, str], **markup: str) -> str:
    """Fill a template with texts, which are escaped, and with HTML."""
    parts = {name: html.escape(text) for name, text in texts.items()} | markup
    return fill_places((_SOURCES / template).read_text(encoding="utf-8"), parts)


def _shared_language(lessons: Sequence[Lesson]) -> str:
    """Return the lessons' language if all have the same, and "en" otherwise."""
    languages = {lesson.language for lesson in lessons}
    return languages.pop() if len(languages) == 1 else "en"


def require_empty(folder: Path) -> None:
    """Raise ValueError if a path is a file, or a folder that is not empty."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file. Please name a folder that is new or empty.")
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty. Please name a folder that is new or empty.")


def instance_address(said: str) -> str:
    """Return the address of an attnviz server without a slash at its end; "" for "".

    Raises ValueError for a text that is not a web address.
    """
    if not said:
        return ""
    try:
        parts = urlsplit(said)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        is_address = is_address and not parts.query and not parts.fragment
    except ValueError:
        is_address = False
    if not is_address or re.search(r"[\"'<>\\]|[^\x21-\x7e]", said):
        raise ValueError(
            f"“{said[:60]}” is not the address of an instance. Please write one such as https://attnviz.example.org."
        )
    return said.rstrip("/")


def write_folder(files: Files, folder: Path) -> None:
    """Write the files. Raises ValueError for a folder that is not empty, and OSError if it cannot be written."""
    require_empty(folder)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def zip_folder(files: Files, folder: str) -> bytes:
    """Return the bytes of a zip file that unpacks to a folder with this name."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(f"{folder}/{name}", text)
    return made.getvalue()
