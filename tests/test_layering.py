"""Which folder may import which, and where each library may be imported (docs/developing/architecture.md)."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
FEATURES = ("heads", "spans", "masks", "decoding", "causes", "learning", "anatomy", "patches")

# The rooms that each room may import besides itself, from the ground up. A folder of the package is a room. A folder
# `page` in it, which alone knows Streamlit, is another room: "heads/page".
BELOW: dict[str, set[str]] = {"guards": set()}
BELOW["text"] = {"guards"}
BELOW["transformer"] = {"guards", "text"}
BELOW["tracing"] = {"transformer", *BELOW["transformer"]}
BELOW["toys"] = {"tracing", *BELOW["tracing"]}
BELOW["models"] = {"toys", *BELOW["toys"]}  # a toy is a model, too
BELOW["training"] = {"models", *BELOW["models"]}  # nothing imports it
BELOW["implementations"] = {"tracing", *BELOW["tracing"]}
BELOW["maps"] = {"tracing", *BELOW["tracing"]}
BELOW["analysis"] = {"models", "maps", "implementations", *BELOW["models"]}
BELOW["engine"] = {"analysis", *BELOW["analysis"]}
BELOW["kit"] = {"analysis", *BELOW["analysis"]}
for feature in FEATURES:  # no feature imports another one
    BELOW[feature] = {"kit", *BELOW["kit"]}
# The list of pictures names each by a text, so that who asks the list imports no picture.
BELOW["hosts"] = {*FEATURES, "kit", *BELOW["kit"]}
# The frame asks the list of pictures. It imports no feature, no lesson and no class.
BELOW["app"] = {"hosts", "kit", "engine", *BELOW["kit"]}
for feature in FEATURES:
    BELOW[f"{feature}/page"] = {feature, "app", *BELOW["app"]}
BELOW["lessons"] = {"hosts", *BELOW["hosts"]}  # what is right is computed
BELOW["classroom"] = {"lessons", *BELOW["lessons"]}
BELOW["lessons/page"] = {"lessons", "app", *BELOW["lessons"], *BELOW["app"], *(f"{one}/page" for one in FEATURES)}
BELOW["classroom/page"] = {"classroom", "lessons/page", *BELOW["lessons/page"]}
BELOW["server"] = {"classroom/page", "classroom", *BELOW["classroom/page"]}
# The files beside the folders are the API and its doors. They and the commands may import everything.
BELOW["cli"] = {*BELOW, ""} - {"cli"}
BELOW[""] = {*BELOW, "cli"}
BELOW["pages"] = {*BELOW, ""}

# What lies where, which optional libraries there are, and how a lower file asks for a higher one: any file may ask.
FOR_ALL = {"attnviz/places.py", "attnviz/extras.py", "attnviz/doors.py"}

# Where a library may be imported: beginnings of paths from the root, or a folder anywhere in the path.
ONLY_IN: dict[str, tuple[str, ...]] = {
    "streamlit": ("pages/", "dashboard.py", "attnviz/app/", "attnviz/server/", "/page/"),
    "starlette": ("attnviz/server/", "attnviz/engine/"),
    "ray": ("attnviz/engine/cluster.py",),
    "httpx": ("attnviz/server/", "attnviz/engine/client.py"),
    "prometheus_client": ("attnviz/server/",),
    "plotly": ("attnviz/kit/views/", "/figures/"),
    "transformers": ("attnviz/models/huggingface/",),
    "sqlalchemy": ("attnviz/classroom/",),
    "anywidget": ("attnviz/hosts/notebook/widget.py",),
    "traitlets": ("attnviz/hosts/notebook/widget.py",),
    "alembic": ("attnviz/classroom/storage/",),
}

SCRIPTS = sorted((ROOT / "attnviz").rglob("*.js"))
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
    """Return every dotted name that a file imports, at its top or inside a function."""
    nodes = list(ast.walk(parse(file)))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    assert not any(node.level for node in froms), f"{file}: write the whole name, no relative import"
    return names | {f"{node.module}.{alias.name}" for node in froms for alias in node.names}


@cache
def used_files(file: str) -> set[str]:
    """Return the files that a file imports, wherever in it: at its top, in a function, under TYPE_CHECKING.

    `from attnviz import masks` names a file only where there is one; a package's `__init__` is named by what it holds.
    """
    return {used for name in imported_names(file) for used in files_of(name)} - {file}


def files_of(name: str) -> set[str]:
    """Return the file of a dotted name that is imported, or of the module that it is in; no file for a library."""
    for path in (name, name.rpartition(".")[0]):
        places = [path.replace(".", "/") + ending for ending in (".py", "/__init__.py")]
        if there := {place for place in places if (ROOT / place).is_file()}:
            return there
    return set()


def room(file: str) -> str:
    """Return a file's room: `attnviz/causes/corpus/page/lists.py` is in "causes/page"."""
    top, *folders = file.split("/")[:-1] or ["pages"]
    if top != "attnviz":
        return "pages"
    return "/".join(folders[:1] + ["page"] * ("page" in folders[1:]))


def forbidden(uses: Mapping[str, Iterable[str]]) -> set[tuple[str, str]]:
    """Return the pairs of files of which the first may not import the second."""
    return {
        (file, used)
        for file, all_used in uses.items()
        for used in all_used
        if used not in FOR_ALL and room(used) not in BELOW[room(file)] | {room(file)}
    }


def test_each_room_imports_only_rooms_below_it() -> None:
    found = forbidden({file: used_files(file) for file in FILES})
    assert found == set(), "BELOW has the rooms that each room may import"


def test_a_feature_that_imports_another_is_found() -> None:
    pair = ("attnviz/heads/heads.py", "attnviz/causes/page/patch.py")
    assert forbidden({pair[0]: [pair[1], "attnviz/kit/wire.py", "attnviz/places.py"]}) == {pair}
    assert forbidden({"attnviz/app/layout.py": ["attnviz/heads/heads.py"]}) != set()
    assert forbidden({"attnviz/heads/page/page.py": ["attnviz/heads/heads.py", "attnviz/app/layout.py"]}) == set()


def used_scripts(script: Path) -> set[Path]:
    paths = re.findall(r'^import [^"]*"(\.[^"]*)";', script.read_text(encoding="utf-8"), re.MULTILINE)
    return {(script.parent / path).resolve() for path in paths}


def test_a_script_imports_its_own_folder_and_the_kit() -> None:
    """A class's scripts may also use the frame's, which stand on every page."""
    found = set()
    for script in SCRIPTS:
        for used in used_scripts(script):
            pair = tuple(path.relative_to(ROOT).as_posix() for path in (script, used))
            allowed = {room(pair[0]), "kit"} | ({"app"} if room(pair[0]) in ("classroom", "lessons") else set())
            if room(pair[1]) not in allowed:
                found.add(pair)
    assert found == set()


def circle(uses: Mapping[str, set[str]]) -> list[str]:
    """Return one circle among files that use each other, its first file again at its end; empty if there is none."""
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_two_files_import_each_other() -> None:
    assert circle({file: used_files(file) for file in FILES}) == []


def test_no_two_scripts_import_each_other() -> None:
    uses = {script: used_scripts(script) for script in SCRIPTS}
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
        strays = {
            library
            for library in tops & set(ONLY_IN)
            if not any(place in file if place[0] == "/" else file.startswith(place) for place in ONLY_IN[library])
        }
        if strays:
            found[file] = strays
    assert found == {}, "ONLY_IN has the places of each library"


def names_imported_at_once(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the names that a file imports when it is imported itself: not in functions, not for type checkers."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ClassDef) and "TYPE_CHECKING" not in ast.dump(node):
            yield from names_imported_at_once(node.body)


def test_pages_draw_their_input_before_torch_is_imported() -> None:
    """Above the comment "Below here torch is imported", a page imports no file that imports torch or pandas at once."""
    pages = [file for file in FILES if "# Below here torch is imported" in (ROOT / file).read_text(encoding="utf-8")]
    assert len(pages) >= 3
    for page in pages:
        above = (ROOT / page).read_text(encoding="utf-8").partition("# Below here")[0]
        imports = [node for node in ast.parse(above).body if isinstance(node, ast.Import | ast.ImportFrom)]
        names, done = [*names_imported_at_once(imports)], {page}
        while names:
            name = names.pop()
            assert name.partition(".")[0] not in ("torch", "pandas"), f"{page}: {name}, through one of its imports"
            for file in files_of(name) - done:
                done.add(file)
                names += names_imported_at_once(parse(file).body)


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
    assert set(inside) == {"attnviz/app/streamlit_internals.py"}


def test_the_lowest_rooms_know_nothing_of_the_rest() -> None:
    for file in FILES:
        if room(file) == "transformer":
            tops = {name.split(".")[0] for name in imported_names(file)}
            assert not tops & {"numpy", "pandas", "tokenizers"}, f"{file}: torch only"


def test_each_folder_says_what_it_is() -> None:
    """A folder of the package says what it is, and what it does not know, in its `__init__.py`."""
    folders = sorted({file.rpartition("/")[0] for file in FILES if file.startswith("attnviz/")})
    silent = [one for one in folders if ast.get_docstring(parse(f"{one}/__init__.py")) is None]
    assert silent == []


def test_a_class_has_a_name_of_its_own() -> None:
    found: dict[str, list[str]] = {}
    for file in FILES:
        for node in parse(file).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name.lstrip("_"), []).append(file)
    assert {name: files for name, files in found.items() if len(files) > 1} == {}
