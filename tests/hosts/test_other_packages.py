"""A package of three files brings a picture: the package that docs/how-to/a-picture-of-your-own.md writes."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import attnviz
from attnviz.heads.page.state import write_report
from attnviz.hosts import registry
from attnviz.hosts.notebook.widget import PictureWidget
from attnviz.kit import glossary
from attnviz.lessons.folder.drawn import draw
from attnviz.lessons.lesson import Link
from attnviz.lessons.picture import LinkedPicture
from attnviz.models.translator.tiny import tiny_translator
from tests.heads.page.test_heads_tabs import LINK, header, notes

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "a-picture-of-your-own.md"
BLOCKS = dict(
    re.findall(r"(?ms)^`(entropy_picture/[\w.]+|tests/[\w.]+)`.*?^```[^\n]*\n(.*?)^```", PAGE.read_text("utf-8"))
)
POINTS = "[attnviz.pictures]\nentropy = entropy_picture:PICTURE\n"
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """`install(path=text, …)` installs the package, with other texts for some of its files."""

    def write(**changed: str) -> None:
        files = {**BLOCKS, "entropy_picture-0.1.dist-info/METADATA": "Name: entropy-picture\nVersion: 0.1\n"}
        files["entropy_picture-0.1.dist-info/entry_points.txt"] = POINTS
        for path, text in {**files, **changed}.items():
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        registry._offered.cache_clear()

    yield write
    for name in [name for name in sys.modules if name.split(".")[0] == "entropy_picture"]:
        del sys.modules[name]
    monkeypatch.undo()
    importlib.invalidate_caches()
    registry._offered.cache_clear()
    glossary._added.clear()


OF_OURS = """
import attnviz, sys
from attnviz.causes.page import state
from attnviz.heads.page.tabs import titles
from attnviz.hosts import registry
from attnviz.models.translator.tiny import tiny_translator
trace = tiny_translator(seed=0).trace("I love you", to="fr", tgt_text="je t'aime")
shown = attnviz.show(trace, picture="entropy", static=True).shown
print(attnviz.__file__, *titles(), registry.is_ours(shown.picture), "entropy" in dir(attnviz.show))
print(state.TABS["bits"], registry.picture("bits").draw_tab("request", "model", "trace"))
print(trace.to_html(sys.argv[1], picture="entropy", order="bits").read_text(encoding="utf-8"))
"""


def test_a_picture_of_ours_is_one_more_folder_and_no_file_is_edited(tmp_path: Path) -> None:
    """The same three files in a copy of the package, as a folder of Heads and one of Causes, without an entry point."""
    shutil.copytree(Path(attnviz.__file__).parent, tmp_path / "attnviz", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "assets").symlink_to(PAGE.parents[2] / "assets")
    of_causes = 'name="bits", page="Causes", tab_drawn_by=lambda *drawn_from: drawn_from, title='
    for feature, declared in (("heads/entropy", 'name="entropy", title='), ("causes/entropy", of_causes)):
        folder = tmp_path / "attnviz" / feature
        folder.mkdir()
        for path, text in BLOCKS.items():
            if path.startswith("entropy_picture/"):
                text = text.replace('name="entropy", title=', declared)
                (folder / Path(path).name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", OF_OURS, "entropy.html"], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told, tab_of_causes, page = done.stdout.split("\n", 2)
    where, *tabs, is_ours, has_method = told.split(" ")
    assert Path(where).is_relative_to(tmp_path)
    assert tabs[-1] == "entropy"
    assert (is_ours, has_method) == ("True", "True")
    assert tab_of_causes == "Entropy ('request', 'model', 'trace')"
    assert '<figure data-widget="entropy"' in page


def test_the_documentation_writes_three_files() -> None:
    assert set(BLOCKS) == {"entropy_picture/__init__.py", "entropy_picture/entropy.js", "tests/test_entropy.py"}


def test_its_tab_is_on_the_page_and_its_choices_are_in_the_address(install: Install, open_page) -> None:
    install()
    app = open_page("heads", **LINK, tab="entropy", **{"entropy.order": "bits"})
    assert not app.exception
    assert "Entropy" in app.segmented_control(key="pick-tab").options
    told = header(app)
    assert told["view"] == {"kind": "cross", "layer": 1, "head": 3, "order": "bits", "seq": 0}
    assert len(told["data"]["tokens"]) == told["arrays"]["bits"]["shape"][0]
    assert write_report(attnviz.picture("entropy"), told["view"]) == {
        "kind": "cross", "layer": "1", "head": "3", "entropy.order": "bits"
    }  # fmt: skip
    assert notes(open_page("heads", **LINK, tab="entropy", **{"entropy.order": "size"})).startswith(
        "The link asks for entropy.order “size”, but it can be text, bits"
    )
    assert not open_page("heads", **LINK).exception


def test_a_notebook_and_a_file_have_it_by_its_name(install: Install, trace, tmp_path: Path) -> None:
    install()
    widget = attnviz.show.entropy(trace, layer=1, order="bits")
    assert isinstance(widget, PictureWidget)
    assert widget.view == {"kind": "cross", "layer": 1, "head": 0, "order": "bits"}
    assert "bits.toFixed(2)" in widget._esm
    before = widget._blobs
    widget.head = ("cross", 0, 2)
    assert widget._blobs != before
    assert attnviz.show(trace, picture="entropy").shown.picture is attnviz.picture("entropy")
    assert "entropy" in dir(attnviz.show)
    file = trace.to_html(tmp_path / "entropy.html", picture="entropy", head=1)
    assert '<figure data-widget="entropy"' in file.read_text(encoding="utf-8")


def test_a_lesson_that_is_exported_shows_it(install: Install, trace) -> None:
    install()
    link = Link("Heads", {"tab": "entropy", "layer": "1", "entropy.order": "bits"})
    drawn = draw(link, LinkedPicture(link, tiny_translator(seed=0), trace), None, str, run=lambda link: None)
    assert drawn.widget == "entropy"
    assert drawn.opened.header["view"] | {"seq": 0} == {
        "kind": "cross", "layer": 1, "head": 0, "order": "bits", "seq": 0
    }  # fmt: skip


def test_its_script_paints_a_file_of_its_own(install: Install, trace, tmp_path: Path, browser: Browser) -> None:
    install()
    page, raised = browser.new_page(), []
    page.on("pageerror", lambda error: raised.append(str(error)))
    page.goto(trace.to_html(tmp_path / "entropy.html", picture="entropy").as_uri())
    picture = page.locator("[data-attnviz-painted]")
    expect(picture).to_be_visible()
    drawing = "() => document.querySelector('.place').shadowRoot.querySelector('canvas').toDataURL()"
    before = page.evaluate(drawing)
    selector, key = attnviz.picture("entropy").example_choice  # as in the contract of a picture that declares none
    page.locator(f".place {selector}").first.focus()
    page.keyboard.press(key)
    expect(picture).to_have_attribute("data-attnviz-view", re.compile('"order":"bits"'))
    page.keyboard.press("o")
    expect(picture).to_have_attribute("data-attnviz-view", re.compile('"order":"text"'))
    assert page.evaluate(drawing) == before
    page.get_by_role("button", name="Table").click()
    expect(page.get_by_role("columnheader", name="bits")).to_be_visible()
    page.close()
    assert raised == []


def test_its_own_test_passes(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install()
    model = tiny_translator(seed=0, n_layers=3, n_heads=6)
    monkeypatch.setattr(attnviz, "load", lambda: model, raising=False)
    scope: dict[str, Callable[[], None]] = {}
    exec(BLOCKS["tests/test_entropy.py"], scope)
    scope["test_the_rows_of_a_head_are_drawn"]()


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("__init__.py", "import no_such_package\n", "ModuleNotFoundError: No module named 'no_such_package'."),
        ("__init__.py", "PICTURE = 5\n", "entropy_picture:PICTURE is no attnviz.Picture."),
        ("__init__.py", BLOCKS["entropy_picture/__init__.py"].replace('"entropy"', '"links"'), "called links."),
        ("__init__.py", BLOCKS["entropy_picture/__init__.py"].replace('"entropy.js"', '"no.js"'), "no.js"),
        ("entropy.js", 'import { nothing } from "attnviz";\n', "imports nothing from"),
    ],
)  # fmt: skip
def test_a_package_that_cannot_be_used_is_one_sentence_and_the_page_goes_on(
    install: Install, open_page, file: str, text: str, says: str
) -> None:
    install(**{f"entropy_picture/{file}": text})
    app = open_page("heads", **LINK, tab="entropy")
    assert not app.exception
    assert header(app)["kinds"], "Heads is drawn"
    (said,) = [note.value.replace("\\", "") for note in app.error]
    assert said.startswith("The picture entropy of entropy-picture cannot be used: ")
    assert said.endswith(".")
    assert says.removesuffix(".") in said
    with pytest.raises(ValueError, match=re.escape(said)):
        attnviz.picture("entropy")


def test_a_payload_that_fails_is_one_sentence_in_every_host(install: Install, open_page, trace) -> None:
    broken = BLOCKS["entropy_picture/__init__.py"].replace("trace.query_tokens(kind)", "trace.no_tokens(kind)")
    install(**{"entropy_picture/__init__.py": broken})
    app = open_page("heads", **LINK | {"head": "4"}, tab="entropy")  # the cache has the head in focus elsewhere
    assert not app.exception
    assert "The picture Entropy failed: AttributeError" in notes(app)
    with pytest.raises(ValueError, match=r"^The picture Entropy failed: AttributeError: .*no_tokens.*\.$"):
        attnviz.show.entropy(trace)
