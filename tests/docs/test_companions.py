"""The code of the pages that go along with courses runs, and gives what the page says: `expression  # → value`."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "companions"
PAGES = sorted(FOLDER.glob("*.md"))
SAYS = "  # → "


def code_of(page: Path) -> str:
    """Join a page's blocks of Python."""
    return "\n".join(re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE))


def value(text: str) -> Any:
    """Read a value where it is a literal; a text otherwise."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def is_as_said(found: Any, said: Any) -> bool:
    """Compare a value with what a page says; numbers are rounded there, and differ by a unit between machines."""
    if isinstance(said, float | list) and not isinstance(found, str):
        return found == said or found == pytest.approx(said, abs=0.021)
    return found == said or str(found) == said


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_s_code_gives_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    code, wrong = code_of(page), []
    lines = code.splitlines()
    for statement in ast.parse(code).body:
        last = lines[(statement.end_lineno or 1) - 1]
        source = ast.get_source_segment(code, statement) or ""
        if SAYS not in last:
            exec(source, names)
        elif not is_as_said(found := eval(source, names), value(said := last.split(SAYS)[1])):
            wrong.append(f"{source}: {found}, and the page says {said}")
    assert not wrong, "\n".join(wrong)
    assert code.count(SAYS) >= 6


def test_pictures_that_pages_show_are_in_the_gallery() -> None:
    for page in PAGES:
        shown = re.findall(r"^```\{live\} (\w+)", page.read_text(encoding="utf-8"), re.MULTILINE)
        linked = re.findall(r"\.\./gallery/(\w+)\.py", page.read_text(encoding="utf-8"))
        assert shown
        assert all((FOLDER.parent / "gallery" / f"{name}.py").is_file() for name in shown + linked)
