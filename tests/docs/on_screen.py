"""The words that the app can show: strings of its pages and scripts, terms of the glossary, titles of lessons."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.docs.chapters import ROOT

# Folders whose strings reach the screen; `_READ` says which strings of each kind of file.
SOURCES = (
    "attnviz/app", "attnviz/kit", "attnviz/hosts", "attnviz/heads", "attnviz/spans", "attnviz/masks",
    "attnviz/decoding", "attnviz/causes", "attnviz/learning", "attnviz/anatomy", "attnviz/lessons", "attnviz/classroom",
    "attnviz/implementations", "attnviz/analysis", "attnviz/toys/tasks", "assets/terms", "assets/lessons",
)  # fmt: skip
_IN_SCRIPT = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`([^`]*)`')
_TITLE = re.compile(r"^(?:##? |title: )(.+)$", re.MULTILINE)
_IN_MARKUP = re.compile(r">([^<>]+)<|=\"([^\"]+)\"")


@cache
def strings() -> str:
    """Return all these words, one string a line, in lower case, each run of blanks as one blank."""
    files = (path for place in SOURCES for path in sorted((ROOT / place).rglob("*")) if path.suffix in _READ)
    return "\n".join(" ".join(one.lower().split()) for path in files for one in _READ[path.suffix](path))


def _of_python(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    loose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in loose:
            yield node.value


def _by(pattern: re.Pattern[str]):
    def read(path: Path) -> Iterator[str]:
        return (next(filter(None, found.groups()), "") for found in pattern.finditer(path.read_text(encoding="utf-8")))

    return read


_READ = {".py": _of_python, ".js": _by(_IN_SCRIPT), ".md": _by(_TITLE), ".html": _by(_IN_MARKUP)}
