"""Which lessons there are: the shipped ones, and those in the folder that ATTNVIZ_LESSONS names."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from attnviz.lessons.lesson import Lesson
from attnviz.lessons.reading import LessonError, read_file

SHIPPED = Path(__file__).parents[2] / "assets" / "lessons"
VARIABLE = "ATTNVIZ_LESSONS"
_MOST = 200  # files of a folder


@dataclass(frozen=True)
class Shelved:
    """A file of the library: its lesson, or the sentence that says why there is none."""

    name: str
    lesson: Lesson | None
    problem: str = ""


def shelf() -> tuple[Shelved, ...]:
    """All lessons in order of their files' names, the shipped ones first; a file of one's own stands before a shipped
    one of the same name.
    """
    found = {path.stem: path for path in _files()}
    return tuple(_shelved(path) for path in found.values())


def lesson_named(name: str) -> Lesson:
    """The lesson of that name. Raises ValueError with one sentence for one that there is not, or cannot be read."""
    one = next((one for one in shelf() if one.name == name), None)
    if one is None:
        raise ValueError(f"There is no lesson “{name[:60]}”: the page Lessons lists those that there are.")
    if one.lesson is None:
        raise ValueError(f"The lesson “{name[:60]}” cannot be read. {one.problem}")
    return one.lesson


def following(name: str) -> Lesson | None:
    """The lesson after the one of that name, of those that can be read; None after the last one."""
    lessons = [one.lesson for one in shelf() if one.lesson is not None]
    names = [one.name for one in lessons]
    at = names.index(name) + 1 if name in names else len(names)
    return lessons[at] if at < len(lessons) else None


def _files() -> Iterator[Path]:
    own = os.environ.get(VARIABLE, "").strip()
    for folder in (SHIPPED, *([Path(own).expanduser()] if own else [])):
        yield from sorted(folder.glob("*.md"))[:_MOST] if folder.is_dir() else ()


def _shelved(path: Path) -> Shelved:
    try:
        status = path.stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        return Shelved(path.stem, None, f"It cannot be opened ({error.strerror}).")


@lru_cache(maxsize=256)
def _read(path: Path, written: int, size: int) -> Shelved:
    """A file as it was when it was written; another version is read anew."""
    try:
        return Shelved(path.stem, read_file(path))
    except LessonError as error:
        return Shelved(path.stem, None, str(error))
