"""Which lessons there are: the shipped ones, and those in the folder that ATTNVIZ_LESSONS names."""

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from attnviz.lessons.faults import LessonError
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.reading import read_file

SHIPPED = Path(__file__).parents[2] / "assets" / "lessons"
VARIABLE = "ATTNVIZ_LESSONS"
_MOST = 200  # files of a folder
_LOG = logging.getLogger("attnviz.lessons")


@dataclass(frozen=True)
class Shelved:
    """A file of the library: its lesson, or a sentence for each of the mistakes because of which there is none."""

    name: str
    lesson: Lesson | None
    problems: tuple[str, ...] = ()


def shelf() -> tuple[Shelved, ...]:
    """All lessons in order of their files' names, the shipped ones first; a file of one's own stands before a shipped
    one of the same name.
    """
    found = {path.stem: path for path in _files()}
    return tuple(_shelved(path) for path in found.values())


def lesson_named(name: str) -> Lesson:
    """The lesson of that name, listed or not. Raises ValueError with one sentence for one that there is not, or cannot
    be read; what is wrong with its file is nothing for whoever follows a link.
    """
    one = next((one for one in shelf() if one.name == name), None)
    if one is None:
        raise ValueError(f"There is no lesson “{name[:60]}”: the page Lessons lists those that there are.")
    if one.lesson is None:
        raise ValueError(f"The lesson “{name[:60]}” cannot be opened: its file has mistakes.")
    return one.lesson


def following(name: str) -> Lesson | None:
    """The lesson after the one of that name, of those that are listed; None after the last one."""
    lessons = listed(shelf())
    names = [one.name for one in lessons]
    at = names.index(name) + 1 if name in names else len(names)
    return lessons[at] if at < len(lessons) else None


def listed(found: Sequence[Shelved]) -> list[Lesson]:
    """The lessons that everybody's list names."""
    return [one.lesson for one in found if one.lesson is not None and one.lesson.is_listed]


def _files() -> Iterator[Path]:
    own = os.environ.get(VARIABLE, "").strip()
    for folder in (SHIPPED, *([Path(own).expanduser()] if own else [])):
        yield from sorted(folder.glob("*.md"))[:_MOST] if folder.is_dir() else ()


def _shelved(path: Path) -> Shelved:
    try:
        status = path.stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        return _broken(path, f"It cannot be opened ({error.strerror}).")


@lru_cache(maxsize=256)
def _read(path: Path, written: int, size: int) -> Shelved:
    """A file as it was when it was written; another version is read anew."""
    try:
        return Shelved(path.stem, read_file(path))
    except LessonError as error:
        return _broken(path, *str(error).split("\n"))


@lru_cache(maxsize=256)
def _broken(path: Path, *problems: str) -> Shelved:
    """A file that is no lesson; its author finds what is wrong in the log, too, once."""
    _LOG.warning("%s is not in the list of lessons. %s", path.name, " ".join(problems))
    return Shelved(path.stem, None, problems)
