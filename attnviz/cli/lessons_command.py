"""`python -m attnviz lessons check lesson.md` and `… lessons export lesson.md --to folder`.

`check` prints the mistakes in a lesson's file, the right answer of each step, and claims in its texts that are not true
of their picture. `export` writes the lesson as a folder for any web host.
"""

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "what",
        choices=["check", "export"],
        help="check: read the file, run its links, compute its answers; export: write it as a folder for any web host",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a lesson's Markdown file")
    parser.add_argument("--sign", action="store_true", help="check: write a fingerprint of each answer into the file")
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="export: a folder that is new or empty")
    parser.add_argument("--instance", default="", metavar="URL", help="export: an attnviz that its pictures link to")


def lines(options: argparse.Namespace) -> Iterator[tuple[str, bool]]:
    """Yield (line to print, whether it is a problem). Raises ValueError for arguments that contradict each other."""
    yield from (_export if options.what == "export" else _check)(options)


def _check(options: argparse.Namespace) -> Iterator[tuple[str, bool]]:
    from attnviz.lessons.check import check_step, check_text, sign
    from attnviz.lessons.faults import LessonError
    from attnviz.lessons.folder.claims import untrue_claims
    from attnviz.lessons.picture import pictures
    from attnviz.lessons.reading import content_of, read_file, read_text

    run = pictures()
    check = partial(check_step, run=run, claims=untrue_claims)
    for path in options.files:
        try:
            text = read_text(content_of(path))
        except (LessonError, OSError) as error:
            yield from ((f"{path}: {said}", True) for said in str(error).split("\n"))
            continue
        found = [(block.number, one) for block in check_text(text, check) for one in block.remarks]
        for step, one in found:
            place = f"{path}: " if one.fault else f"{path}:{one.line}: step {step}: "
            yield f"{place}{one.said}", one.is_problem
        if options.sign and not any(one.is_problem and "signed" not in one.said for _, one in found):
            yield f"{path}: {sign(path, read_file(path), run)} answers signed", False


def _export(options: argparse.Namespace) -> Iterator[tuple[str, bool]]:
    """Write all lessons into one folder, or nothing if a lesson has mistakes.

    Raises ValueError for unusable arguments.
    """
    from attnviz.lessons.faults import LessonError
    from attnviz.lessons.folder.files import folder_files, instance_address, require_empty, write_folder
    from attnviz.lessons.picture import pictures
    from attnviz.lessons.reading import read_file

    if options.to is None:
        raise ValueError("Say where the folder goes: --to FOLDER, one that is new or empty.")
    require_empty(options.to)  # before the runs, not after them
    instance, lessons, faults = instance_address(options.instance), [], []
    for path in options.files:
        try:
            lessons.append(read_file(path))
        except (LessonError, OSError) as error:
            faults += [(f"{path}: {said}", True) for said in str(error).split("\n")]
    if faults:
        yield from faults
        return
    warnings: list[str] = []
    files = folder_files(lessons, pictures(), instance=instance, warn=warnings.append)
    write_folder(files, options.to)
    yield from ((f"warning: {said}", False) for said in warnings)
    size = sum(len(text.encode()) for text in files.values()) / 1e6
    yield (
        f"{options.to}: {len(lessons)} {'lesson' if len(lessons) == 1 else 'lessons'}, {size:.1f} MB; open index.html",
        False,
    )
