"""Scripts are joined as a browser's modules would run, and what cannot be joined is refused by name."""

import json
import re

import pytest

from attnviz.hosts import registry
from attnviz.kit import bundle
from attnviz.kit.bundle import join_modules
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER


@pytest.fixture
def folder(tmp_path):
    def write(**files: str):
        for name, text in files.items():
            (tmp_path / f"{name}.js").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_each_file_keeps_its_own_names(folder, run) -> None:
    files = folder(
        main='import { take as other, NAME } from "./other.js";\n\nconst take = () => "main";\n'
        "export const said = () => [take(), other(), NAME];\n",
        other='const own = "other";\nexport function take() {\n  return own;\n}\nexport const NAME = "N";\n',
    )
    assert run(join_modules(files / "main.js"), "(script) => script.said()") == ["main", "other", "N"]


def test_a_file_that_two_import_runs_once(folder, run) -> None:
    files = folder(
        main='import { a } from "./a.js";\nimport { b } from "./b.js";\n\nexport const same = a === b;\n',
        a='import { thing } from "./thing.js";\n\nexport const a = thing;\n',
        b='import {\n  thing,\n} from "./thing.js";\n\nexport const b = thing;\n',
        thing="export const thing = {};\n",
    )
    assert run(join_modules(files / "main.js"), "(script) => script.same") is True


def test_a_default_export_is_the_entrys(folder, run) -> None:
    files = folder(
        main='import { mounted } from "./mount.js";\n\nexport default mounted(7);\n',
        mount="export const mounted = (number) => () => number;\n",
    )
    assert run(join_modules(files / "main.js"), "(script) => script.default()") == 7


def test_computed_constants_stand_in_for_a_file(monkeypatch, folder, run) -> None:
    files = folder(main='import { A } from "./a.js";\n\nexport const seen = A;\n', a="export const A = {};\n")
    monkeypatch.setattr(bundle, "PACKAGE", files)
    said = {"text": "</script> ` ${1} \u2028 é"}
    assert run(join_modules(files / "main.js", {"a.js": {"A": said}}), "(script) => script.seen") == said


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"main": 'import { a } from "./main.js";\n'}, "main.js imports itself"),
        (
            {
                "main": 'import { a } from "./a.js";\n',
                "a": 'import { b } from "./b.js";\nexport const a = 1;\n',
                "b": 'import { a } from "./a.js";\nexport const b = 1;\n',
            },
            "a.js imports itself, by way of b.js",
        ),
        (
            {"main": 'import { c } from "./a.js";\n', "a": "export const a = 1,\n  c = 2;\n"},
            "main.js imports c from a.js, which exports no such name",
        ),
        ({"main": 'import a from "./a.js";\n', "a": ""}, "main.js has .*import a from.* cannot be joined"),
        ({"main": 'import * as a from "./a.js";\n', "a": ""}, "cannot be joined"),
        ({"main": 'import "./a.js";\n', "a": ""}, "cannot be joined"),
        ({"main": "const a = 1;\nexport { a };\n"}, "cannot be joined"),
        ({"main": "export let a = 1;\n"}, "cannot be joined"),
        ({"main": 'export * from "./a.js";\n', "a": ""}, "cannot be joined"),
        ({"main": "const a = 1;\nexport default a;\nexport default 2;\n"}, "cannot be joined"),
        ({"main": 'const later = () => import("./a.js");\n', "a": ""}, "cannot be joined"),
        ({"main": "const here = import.meta.url;\n"}, "cannot be joined"),
    ],
)
def test_what_cannot_be_joined_is_refused_by_name(folder, files, sentence) -> None:
    with pytest.raises(ValueError, match=sentence):
        join_modules(folder(**files) / "main.js")


def test_every_widget_is_an_element_and_a_module_with_a_default_export(run) -> None:
    for name in bundle.widget_pages():
        source = bundle.source(registry.widget(name))
        assert source.html.startswith("<"), name
        assert not {"<link", "<script"} & set(source.html.split()), name
        assert run(source.module, "(module) => typeof module.default") == "function", name


def test_a_script_is_a_module_of_its_own(run) -> None:
    """As Streamlit, a notebook and a file take it."""
    text = bundle.source(registry.widget("copy_link")).script
    by_itself = (
        "async (text) => (await import(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })))).default"
    )
    assert run(json.dumps(text), f"async (text) => typeof (await ({by_itself})(text))") == "function"


def test_styles_come_in_the_order_in_which_the_widget_names_them() -> None:
    style = bundle.source(registry.widget("heads")).style
    files = ["kit/css/frame", "kit/css/buttons", "kit/css/controls", "heads/css/overview", "heads/css/focus"]
    sheets = [(bundle.PACKAGE / f"{file}.css").read_text(encoding="utf-8") for file in files]
    places = [style.index(sheet) for sheet in sheets]
    assert places == sorted(places)


def test_another_version_has_another_digest() -> None:
    sources = [bundle.Source("", style, module) for style in ("", "a {}") for module in ("{}", "{ a: 1 }")]
    assert len({source.digest for source in sources}) == 4


NAMED = re.compile(r"(?<![\w./])((?:attnviz|kit)/[\w/]+\.(?:py|js|css|html))")


def test_files_that_comments_name_are_there() -> None:
    root = bundle.PACKAGE.parent
    for file in bundle.PACKAGE.rglob("*.*"):
        if file.suffix not in {".js", ".css", ".html"}:
            continue
        named = NAMED.findall(file.read_text(encoding="utf-8"))
        missing = [path for path in named if not (root / path).exists() and not (bundle.PACKAGE / path).exists()]
        assert not missing, f"{file} names {missing}"
