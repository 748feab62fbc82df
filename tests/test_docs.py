"""What the architecture names is there: its tree has every file of the package, its walks lead from file to file."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PLACES = (ROOT, ROOT / "attnviz", ROOT / "attnviz" / "models" / "huggingface")


def in_tree() -> set[str]:
    """The files that the tree names: a folder is indented by two more than the one that it lies in."""
    found, folders = set(), []
    for line in re.findall(r"```\n(attnviz/.*?)```", TEXT, re.DOTALL)[0].splitlines():
        folder, names = line[:27], line[27:].split()
        if name := folder.strip():
            depth = (len(folder) - len(folder.lstrip())) // 2
            folders = [*folders[:depth], name]
        found |= {"".join(folders) + (name if name.endswith(".js") else f"{name}.py") for name in names}
    return found


def test_the_tree_names_every_file() -> None:
    there = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "attnviz").rglob("*.*")
        if path.suffix in {".py", ".js"} and path.name != "__init__.py"
    }
    assert in_tree() == there


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:\w+/)+\w+\.(?:py|js|css|html))`", TEXT))))
def test_a_file_that_is_named_is_there(path: str) -> None:
    assert any((place / path).is_file() for place in PLACES), f"docs/architecture.md names {path}"
