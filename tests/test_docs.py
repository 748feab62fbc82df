"""The files and folders that the documents name are there: the architecture's map has every folder of the package.
What the repository says of its documentation is there, too: files, links, commands.
"""

import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
DEVELOPING = ROOT / "docs" / "developing"
MAP = (DEVELOPING / "architecture.md").read_text(encoding="utf-8")
TEXT = MAP + (DEVELOPING / "how-it-works.md").read_text(encoding="utf-8")
PLACES = (ROOT, ROOT / "attnviz", ROOT / "attnviz" / "models" / "huggingface")


def test_the_map_names_every_folder() -> None:
    named = {name for line in re.findall(r"(?m)^\| (`.*?) \|", MAP) for name in re.findall(r"`(\w+)/`", line)}
    assert named == {file.parent.name for file in (ROOT / "attnviz").glob("*/__init__.py")}


def test_a_file_that_is_named_is_there() -> None:
    named = set(re.findall(r"`((?:\w+/)+\w+\.(?:py|js|css|html))`", TEXT))
    assert {path for path in named if not any((place / path).is_file() for place in PLACES)} == set()


UNWRITTEN = ("docs/gallery/NAME.py", "docs/reference/versions.md")  # any; the versions that a release is tried with


def tracked(*patterns: str) -> list[Path]:
    """Files that git knows, by pattern."""
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], capture_output=True, text=True, cwd=ROOT, check=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_every_file_of_the_documentation_that_is_named_is_there() -> None:
    """In code, settings and documents; the changelog tells of what was."""
    gone = {}
    for path in tracked("*.md", "*.py", "*.js", "*.toml", "*.txt", "*.yml", "Makefile"):
        named = set(re.findall(r"(?<![\w/])docs/[\w/.-]+\.(?:md|ipynb|png|py)\b", path.read_text(encoding="utf-8")))
        if missing := {name for name in named - {*UNWRITTEN} if not (ROOT / name).is_file()}:
            gone[path.relative_to(ROOT).as_posix()] = missing
    gone.pop("CHANGELOG.md", None)
    assert gone == {}


def test_every_link_between_documents_leads_to_a_file() -> None:
    gone = {}
    for path in tracked("*.md"):
        links = re.findall(r"\]\(([^()#\s:]+)(?:#[^()\s]*)?\)", without_code(path.read_text(encoding="utf-8")))
        if missing := {link for link in links if not link.startswith("/") and not (path.parent / link).exists()}:
            gone[path.relative_to(ROOT).as_posix()] = missing
    assert gone == {}


def without_code(text: str) -> str:
    """Leave out blocks and words of code, in which a link is an example."""
    return re.sub(r"`[^`\n]+`", "", re.sub(r"(?m)^(`{3,})(?!\{).*?^\1$", "", text, flags=re.DOTALL))


def test_every_command_is_in_the_reference() -> None:
    promise = json.loads((ROOT / "tests" / "promise.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^## (\w+)\n\n```\{command-help\} \1\n```$", page) == list(promise["command line"])


def test_the_readme_is_one_screen() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 70
    assert "manythings.org" in text
    assert "CC BY 2.0 FR" in text
