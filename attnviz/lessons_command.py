"""`python -m attnviz lessons check lesson.md`: what is wrong with a lesson's file, and what is right in each step."""

import argparse
from collections.abc import Iterator
from pathlib import Path


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("what", choices=["check"], help="check: read the file, run its links, compute its answers")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a lesson's Markdown file")
    parser.add_argument("--sign", action="store_true", help="write a fingerprint of each answer into the file")


def lines(options: argparse.Namespace) -> Iterator[tuple[str, bool]]:
    """Yield the lines to print, and whether each is a problem."""
    from attnviz.lessons.check import check_lesson, sign
    from attnviz.lessons.faults import LessonError
    from attnviz.lessons.picture import pictures
    from attnviz.lessons.reading import read_file

    run = pictures()
    for path in options.files:
        try:
            lesson = read_file(path)
        except (LessonError, OSError) as error:
            yield from ((f"{path}: {said}", True) for said in str(error).split("\n"))
            continue
        found = list(check_lesson(lesson, run))
        for one in found:
            yield f"{path}:{one.line}: step {one.step}: {one.said}", one.is_problem
        if options.sign and not any(one.is_problem and "signed" not in one.said for one in found):
            yield f"{path}: {sign(path, lesson, run)} answers signed", False
