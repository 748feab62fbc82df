"""The gallery's scripts are short, say what they show, write their picture, and together show every picture."""

import ast
import re
from html import unescape
from pathlib import Path

import pytest

from attnviz.hosts.registry import PICTURES
from tests.each_case import each_case
from tools.docs import gallery

FOLDER = Path(__file__).parents[2] / "docs" / "gallery"
SCRIPTS = sorted(FOLDER.glob("*.py"))
MOST_LINES = 20


def pictures_of(path: Path) -> set[str]:
    """Return the names of the pictures that a script makes; a script that names none makes Heads."""
    constants = {node.value for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if is_text(node)}
    return constants & set(PICTURES) or {"heads"}


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_every_picture_is_in_the_gallery() -> None:
    assert set().union(*map(pictures_of, SCRIPTS)) == set(PICTURES)


@each_case("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_short_and_says_what_to_look_at(path: Path) -> None:
    script = gallery.read(path)
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES
    assert len(script.title) <= 70
    assert script.text.endswith(".")
    used = re.findall(r"^(?:import|from) (\w+)", script.code, re.MULTILINE)
    assert set(used) <= {"attnviz", "tokenizers", "torch", "transformers"}
    assert "from attnviz" not in script.code  # a reader sees public names only


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_writes_one_file_that_shows_its_picture(path: Path, tmp_path: Path) -> None:
    written = gallery.run(path, tmp_path).read_text(encoding="utf-8")
    assert [each.name for each in tmp_path.iterdir()] == [f"{path.stem}.html"]
    shown = set(re.findall(r'<figure data-widget="(\w+)"', written))
    assert shown == {PICTURES[name].widget for name in pictures_of(path)}
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", written, re.DOTALL)
    assert captions
    assert all(unescape(re.sub("<[^>]+>", "", caption)).strip() for caption in captions)
