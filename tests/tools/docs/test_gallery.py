"""Scripts of the gallery are read, run, and told by their name where they fail. Sphinx is asked for none of it."""

from pathlib import Path

import pytest

from tools.docs import gallery

FOLDER = Path(__file__).parents[3] / "docs" / "gallery"
WRITES = '"""A picture.\n\nMore *of it*.\n"""\n\nfrom pathlib import Path\n\nPath("one.html").write_text("drawn")\n'


def script(folder: Path, code: str, name: str = "one") -> Path:
    path = folder / f"{name}.py"
    path.write_text(code, encoding="utf-8")
    return path


def test_a_script_says_its_title_and_its_text(tmp_path: Path) -> None:
    read = gallery.read(script(tmp_path, WRITES))
    assert (read.name, read.title, read.text) == ("one", "A picture", "More *of it*.")
    assert read.code == 'from pathlib import Path\n\nPath("one.html").write_text("drawn")\n'


def test_its_page_has_title_text_picture_and_code(tmp_path: Path) -> None:
    page = gallery.page(gallery.read(script(tmp_path, WRITES)))
    assert page == "# A picture\n\nMore *of it*.\n\n```{live} one\n:code: unfolded\n```\n"


def test_a_script_without_a_docstring_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^one\.py has no docstring"):
        gallery.read(script(tmp_path, "pass\n"))


def test_scripts_run_in_the_build_s_folder(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    script(tmp_path / "scripts", WRITES)
    made = list(gallery.run_all(tmp_path / "scripts", tmp_path / "build" / "_live"))
    assert made == [tmp_path / "build" / "_live" / "one.html"]
    assert made[0].read_text(encoding="utf-8") == "drawn"
    assert Path.cwd() != tmp_path


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise KeyError('head')", r"^one\.py of the gallery failed: KeyError: 'head'$"),
        ("raise SystemExit(1)", r"^one\.py of the gallery failed: SystemExit: 1$"),
        ("pass", r"^one\.py of the gallery wrote no one\.html\.$"),
    ],
)
def test_a_failure_names_the_script(tmp_path: Path, code: str, why: str) -> None:
    (tmp_path / "one.html").write_text("of the build before", encoding="utf-8")
    path = script(tmp_path, f'"""A picture."""\n\n{code}\n')
    with pytest.raises(RuntimeError, match=why):
        gallery.run(path, tmp_path)


def test_the_gallery_s_scripts_can_be_read() -> None:
    read = gallery.scripts(FOLDER)
    assert len(read) == len({each.title for each in read}) > 0
