"""Imports run downward only, and each library is imported in one place (docs/developing/architecture.md)."""

import ast
import re
from collections.abc import Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]

# What each room may import besides itself. Written out, so that a reader sees the whole direction at once.
BELOW = {
    "text": set(),
    "transformer": {"text"},  # how a file of others is opened; what computes knows no text
    "tracing": {"transformer", "text"},
    "learning": {"tracing", "transformer", "text"},
    "models": {"learning", "tracing", "transformer", "text"},  # a toy is a model, too
    # Scores a checkpoint as it will be used, and records how it learns as a toy's run is; nothing imports it.
    "training": {"models", "learning", "tracing", "transformer", "text"},
    "implementations": {"tracing", "transformer", "text"},
    "maps": {"tracing", "transformer", "text"},
    "analysis": {"models", "implementations", "learning", "maps", "tracing", "transformer", "text"},
    "views": {"models", "implementations", "learning", "maps", "tracing", "transformer", "text"},
}
BELOW["lessons"] = {"analysis", *BELOW["analysis"]}  # what is right is computed
BELOW["classroom"] = {"lessons", *BELOW["lessons"]}  # what a class is asked, and how right it is
BELOW["widgets"] = {
    "views",
    "analysis",
    "models",
    "learning",
    "maps",
    "tracing",
    "transformer",
    "text",
}  # drawn in the browser; no Streamlit
# Runs models for many dashboards, and is a model to each; what a mask is filled with travels by its name.
BELOW["engine"] = {"analysis", *BELOW["analysis"]}
BELOW["pictures"] = {"widgets", *BELOW["widgets"]}  # a trace and a state to a payload; no Streamlit
BELOW["html"] = {"pictures", *BELOW["pictures"]}  # pictures as files
BELOW["lesson_folder"] = {"html", "lessons", *BELOW["html"], *BELOW["lessons"]}  # lessons as plain files; no page
BELOW["notebook"] = {"html", *BELOW["html"]}  # pictures as values of cells; no page
BELOW["ui"] = set(BELOW) - {"training", "notebook"}
BELOW["server"] = BELOW["ui"] | {"ui"}  # what serves the pages to many
# attnviz/__init__.py and __main__.py: the API and the command line, which know no page, but what serves them.
BELOW[""] = BELOW["ui"] | {"server", "notebook"}
BELOW["pages"] = BELOW["ui"] | {"ui", ""}

# Where a library may be imported: prefixes of paths from the root.
ONLY_IN = {
    "streamlit": ("pages/", "dashboard.py", "attnviz/ui/", "attnviz/server/"),
    "starlette": ("attnviz/server/", "attnviz/engine/"),
    "ray": ("attnviz/engine/cluster.py",),
    "httpx": ("attnviz/server/", "attnviz/engine/client.py"),
    "prometheus_client": ("attnviz/server/",),
    "plotly": ("attnviz/views/",),
    "transformers": ("attnviz/models/huggingface/",),
    "sqlalchemy": ("attnviz/classroom/",),
    "anywidget": ("attnviz/notebook/widget.py",),
    "traitlets": ("attnviz/notebook/widget.py",),
    "alembic": ("attnviz/classroom/storage/",),
}

SCRIPTS = sorted((ROOT / "attnviz" / "widgets").rglob("*.js"))
FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("attnviz", "pages", ".")
    for path in (ROOT / folder).glob("*.py" if folder == "." else "**/*.py")
)


@cache
def parse(file: str) -> ast.Module:
    return ast.parse((ROOT / file).read_text(encoding="utf-8"))


@cache
def imported_names(file: str) -> set[str]:
    """Every dotted name that a file imports, at its top or inside a function."""
    nodes = list(ast.walk(parse(file)))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    assert not any(node.level for node in froms), f"{file}: write the whole name, no relative import"
    return names | {f"{node.module}.{alias.name}" for node in froms for alias in node.names}


def room(file: str) -> str:
    parts = file.split("/")
    if parts[0] != "attnviz":
        return "pages"
    return parts[1] if len(parts) > 2 else ""


def attnviz_room(name: str) -> str | None:
    """Return the folder of an imported name, None for other packages: `attnviz.text.tokenizer` is in "text"."""
    parts = name.split(".")
    if parts[0] != "attnviz" or parts[1:2] in (["places"], ["extras"], ["doors"]):  # what lies where
        return None
    return parts[1] if len(parts) > 1 and (ROOT / "attnviz" / parts[1]).is_dir() else ""


def test_imports_run_downward() -> None:
    upward = {}
    for file in FILES:
        allowed = BELOW[room(file)] | {room(file), None}
        if strays := {name for name in imported_names(file) if attnviz_room(name) not in allowed}:
            upward[file] = strays
    assert upward == {}, "BELOW has the rooms that each may import from"


def used_files(file: str) -> set[str]:
    """Return the files that a file imports, wherever in it: at its top, in a function, under TYPE_CHECKING.

    `from attnviz import masks` names a file only where there is one; a package's `__init__` is named by what it holds.
    """
    found: set[str] = set()
    for name in imported_names(file):
        for path in (name, name.rpartition(".")[0]):
            places = [path.replace(".", "/") + ending for ending in (".py", "/__init__.py")]
            if there := [place for place in places if (ROOT / place).is_file()]:
                found |= {*there}
                break
    return found - {file}


def circle(uses: Mapping[str, set[str]]) -> list[str]:
    """One circle among files that use each other, its first file once more at the end; empty where there is none."""
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_two_files_import_each_other() -> None:
    assert circle({file: used_files(file) for file in FILES}) == []


def test_no_two_scripts_import_each_other() -> None:
    uses = {}
    for script in SCRIPTS:
        paths = re.findall(r'^import [^"]*"(\.[^"]*)";', script.read_text(encoding="utf-8"), re.MULTILINE)
        uses[script] = {(script.parent / path).resolve() for path in paths}
    assert set().union(*uses.values()) <= set(SCRIPTS)
    assert circle({str(script): set(map(str, used)) for script, used in uses.items()}) == []


def test_a_circle_is_found() -> None:
    uses = {"trace.py": {"storage.py"}, "storage.py": {"npz.py", "trace.py"}, "npz.py": set()}
    assert set(circle(uses)) == {"trace.py", "storage.py"}
    assert circle(uses | {"storage.py": {"npz.py"}}) == []


def test_libraries_stay_in_their_place() -> None:
    found = {}
    for file in FILES:
        tops = {name.split(".")[0] for name in imported_names(file)}
        if strays := {library for library in tops & set(ONLY_IN) if not file.startswith(ONLY_IN[library])}:
            found[file] = strays
    assert found == {}, "ONLY_IN has the places of each library"


def test_one_file_reaches_into_streamlit() -> None:
    """What is imported as `streamlit.…` is not offered openly, but for these."""
    offered = ("streamlit.components.v2.", "streamlit.delta_generator.DeltaGenerator")
    inside = {
        file: strays
        for file in FILES
        if (
            strays := {
                name for name in imported_names(file) if name.startswith("streamlit.") and not name.startswith(offered)
            }
        )
    }
    assert set(inside) == {"attnviz/ui/streamlit_internals.py"}


def test_the_lowest_rooms_know_nothing_of_the_rest() -> None:
    for file in FILES:
        if room(file) == "transformer":
            tops = {name.split(".")[0] for name in imported_names(file)}
            assert not tops & {"numpy", "pandas", "tokenizers"}, f"{file}: torch only"


def test_a_class_has_a_name_of_its_own() -> None:
    found: dict[str, list[str]] = {}
    for file in FILES:
        for node in parse(file).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name.lstrip("_"), []).append(file)
    assert {name: files for name, files in found.items() if len(files) > 1} == {}
