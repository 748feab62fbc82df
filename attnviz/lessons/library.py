"""The library of lessons: the shipped ones, and those in the folder that ATTNVIZ_LESSONS names."""

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from attnviz.lessons.faults import LessonError
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.reading import read_file
from attnviz.places import ASSETS

SHIPPED = ASSETS / "lessons"
VARIABLE = "ATTNVIZ_LESSONS"
_MOST = 200  # files of a folder
_LOG = logging.getLogger("attnviz.lessons")


@dataclass(frozen=True)
class LibraryFile:
    """A file of the library: its lesson, or a sentence for each of the mistakes in it."""

    name: str
    lesson: Lesson | None
    problems: tuple[str, ...] = ()


def shelf() -> tuple[LibraryFile, ...]:
    """Return all lessons: first the shipped ones, then those in ATTNVIZ_LESSONS, each ordered by file name.

    A file in ATTNVIZ_LESSONS replaces a shipped lesson with the same name.
    """
    found = {path.stem: path for path in _files()}
    return tuple(_shelve(path) for path in found.values())


def lesson_named(name: str) -> Lesson:
    """Return the lesson with this name, listed or not.

    Raises ValueError for an unknown name, and for a file with mistakes. The message does not list the mistakes, which
    concern the author and not the reader.
    """
    one = next((one for one in shelf() if one.name == name), None)
    if one is None:
        raise ValueError(f"There is no lesson “{name[:60]}”: the page Lessons lists all of them.")
    if one.lesson is None:
        raise ValueError(f"The lesson “{name[:60]}” cannot be opened: its file has mistakes.")
    return one.lesson


def next_lesson(name: str) -> Lesson | None:
    """Return the listed lesson after the one with this name; None after the last one."""
    lessons = listed_lessons(shelf())
    names = [one.name for one in lessons]
    at = names.index(name) + 1 if name in names else len(names)
    return lessons[at] if at < len(lessons) else None


def listed_lessons(found: Sequence[LibraryFile]) -> list[Lesson]:
    """Select the lessons that the page Lessons lists."""
    return [one.lesson for one in found if one.lesson is not None and one.lesson.is_listed]


def recording_beside(name: str) -> Path | None:
    """Return the path of a recording in a folder of lessons, ATTNVIZ_LESSONS first; None if there is no such file."""
    if Path(name).name != name or not name.endswith(".npz"):
        return None
    return next((file for folder in reversed(_folders()) if (file := folder / name).is_file()), None)


def _folders() -> list[Path]:
    own = os.environ.get(VARIABLE, "").strip()
    return [SHIPPED, *([Path(own).expanduser()] if own else [])]


def _files() -> Iterator[Path]:
    for folder in _folders():
        yield from sorted(folder.glob("*.md"))[:_MOST] if folder.is_dir() else ()


def _shelve(path: Path) -> LibraryFile:
    try:
        status = path.stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        return _log_broken(path, f"It cannot be opened ({error.strerror}).")


@lru_cache(maxsize=256)
def _read(path: Path, written: int, size: int) -> LibraryFile:
    """Read a lesson's file. Results are cached by the file's time and size, so that a changed file is read again."""
    try:
        return LibraryFile(path.stem, read_file(path))
    except LessonError as error:
        return _log_broken(path, *str(error).split("\n"))


@lru_cache(maxsize=256)
def _log_broken(path: Path, *problems: str) -> LibraryFile:
    """Log the mistakes in a lesson's file for its author, and return the file's entry for the list of lessons."""
    _LOG.warning("%s is not in the list of lessons. %s", path.name, " ".join(problems))
    return LibraryFile(path.stem, None, problems)
