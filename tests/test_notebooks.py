"""The notebooks of the documentation run from their first cell to their last, offline, and show what they say."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def cells(name: str) -> list[str]:
    book = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert all(not cell.get("outputs") for cell in book["cells"]), "outputs are made, not kept"
    return ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]


def run(name: str) -> list[Any]:
    """Run a notebook's cells in one namespace; return what each of them shows, None where its last line is no value."""
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = []
    for cell in cells(name):
        *lines, last = ast.parse(cell).body
        exec(compile(ast.Module(lines, []), name, "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), name, "eval"), names))
        else:
            exec(compile(ast.Module([last], []), name, "exec"), names)
            shown.append(None)
    return shown


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def is_picture(value: Any) -> bool:
    return hasattr(value, "to_html") and "text/html" in value._repr_mimebundle_()[0]


def test_three_notebooks_are_shipped() -> None:
    assert NAMES == ["generate", "own-model", "translator"]


def test_the_translator_in_ten_cells(tmp_path: Path) -> None:
    shown = run("translator")
    assert len(shown) == 10
    assert is_picture(shown[3])
    assert shown[4] == ("cross", 1, 3)
    assert is_picture(shown[6])
    assert shown[7] != shown[0]
    assert shown[8] < 1e-5
    assert (tmp_path / "heads.html").stat().st_size > 100_000


def test_a_model_of_ones_own() -> None:
    shown = run("own-model")
    assert shown[2] < 1e-5
    assert list(map(is_picture, shown)) == [False, False, False, True, True, True]


def test_what_generate_looked_at() -> None:
    shown = run("generate")
    assert is_picture(shown[3])
    assert shown[4] < 1e-5
    assert len(shown[5]) == 3
