"""The gallery of the documentation: scripts of some fifteen lines, each of which writes one picture as an HTML file.

A script `docs/gallery/NAME.py` begins with a docstring: its first line is the page's title, the rest is Markdown above
the picture. Its last statement writes `NAME.html` into the working folder, by `to_html` or `attnviz.page`.
"""

import ast
import runpy
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Script:
    """A script of the gallery: its name, its title, what its docstring says below that, and its code."""

    name: str
    title: str
    text: str
    code: str


def scripts(folder: Path) -> list[Script]:
    """Read a folder's scripts, by name. Raises ValueError for one that does not say what it shows."""
    return [read(path) for path in sorted(folder.glob("*.py"))]


def read(path: Path) -> Script:
    """Read a script. Raises ValueError where it has no docstring."""
    written = path.read_text(encoding="utf-8")
    tree = ast.parse(written)
    told = ast.get_docstring(tree)
    if not told:
        raise ValueError(f"{path.name} has no docstring: its first line is the title of the picture's page.")
    title, _, text = told.partition("\n")
    below = tree.body[0].end_lineno or 0
    return Script(path.stem, title.rstrip("."), text.strip(), "\n".join(written.splitlines()[below:]).strip() + "\n")


def page(script: Script) -> str:
    """Return a script's page in Markdown: its title, its text, its picture, and its code below that."""
    return f"# {script.title}\n\n{script.text}\n\n```{{live}} {script.name}\n:code: unfolded\n```\n"


def run_all(folder: Path, place: Path) -> Iterator[Path]:
    """Run each script of a folder in `place`; yield the files that they write."""
    place.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.glob("*.py")):
        yield run(path, place)


def run(path: Path, place: Path) -> Path:
    """Run a script in `place`, and return the file that it wrote.

    Raises RuntimeError, which names the script, where it fails or writes no picture.
    """
    written = place.resolve() / f"{path.stem}.html"
    written.unlink(missing_ok=True)
    try:
        with chdir(place):
            runpy.run_path(str(path.resolve()), run_name="__main__")
    except (Exception, SystemExit) as why:
        raise RuntimeError(f"{path.name} of the gallery failed: {type(why).__name__}: {why}") from why
    if not written.is_file():
        raise RuntimeError(f"{path.name} of the gallery wrote no {written.name}.")
    return written
