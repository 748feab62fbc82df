"""Join a widget's files into what a browser loads: its element, one style sheet, and one script.

This module does not import Streamlit: the same source is used on a page, in a notebook and in an HTML file. A widget is
a file `NAME.widget.html`, anywhere in the package, which names its styles and its script as an HTML page does. A widget
of another package may consist of a script and optionally a style sheet. Scripts are modules with named imports of
relative paths, so that readers, editors and linters can follow them; the browser gets them as one text, because it
would otherwise request each file again on every visit. A script of another package imports from "attnviz", which is
`kit/js/base/drawn_picture.js`.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from attnviz.kit.glossary import definitions, read_terms
from attnviz.kit.views import colour
from attnviz.kit.views.labels import KINDS

_SCALES = {
    "light": (colour.SEQUENTIAL_LIGHT, colour.DIVERGING_LIGHT),
    "dark": (colour.SEQUENTIAL_DARK, colour.DIVERGING_DARK),
}
PACKAGE = Path(__file__).parents[1]
_PAGE = ".widget.html"
# The module that scripts of other packages import as "attnviz".
KIT = PACKAGE / "kit" / "js" / "base" / "drawn_picture.js"
_KIT_STYLES = (
    *(PACKAGE / "kit" / "css" / f"{name}.css" for name in ("frame", "buttons", "controls", "definitions", "present")),
    PACKAGE / "kit" / "css" / "base" / "tabs.css",
    PACKAGE / "kit" / "css" / "base" / "drawn_picture.css",
)
Constants = Mapping[str, Mapping[str, Any]]  # file below attnviz/ -> the constants that replace it

_STYLE = re.compile(r'<link rel="stylesheet" href="([^"]*)" />\n')
_SCRIPT = re.compile(r'<script type="module" src="([^"]*)"></script>\n')
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]*|attnviz)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|class) (\w+))", re.MULTILINE)
_DEFAULT = re.compile(r"^export default ", re.MULTILINE)
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_BEGINS = re.compile(r"^(?=const module_\w+ = |/\* )", re.MULTILINE)
_UNJOINED = re.compile(r"^(?:import|export)\b.*|^(?!\s*//).*(?:\bimport\(|\bimport\.meta\b).*", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A widget without its data: an element, styles, and a JavaScript expression.

    The expression's `default` is a function that is called with `{ parentElement, data, setStateValue }` for each data.
    """

    html: str
    style: str
    module: str

    @property
    def script(self) -> str:
        """The script as a module."""
        return f"export default {self.module}.default;\n"

    @property
    def digest(self) -> str:
        """A short hash of script and styles, which differs between versions."""
        return hashlib.blake2b((self.script + self.style).encode(), digest_size=6).hexdigest()


@dataclass(frozen=True)
class Widget:
    """A widget's name and its files.

    `page` is its `NAME.widget.html`, or only its script, optionally with a `style` sheet. `terms` are the pages of the
    app whose glossary explains the words on the widget's controls, or files of terms as described in
    `assets/terms/README.md`. `python_only` are the controls that need Python; they are left out of HTML files.
    """

    name: str
    page: Path
    style: Path | None = None
    terms: tuple[str | Path, ...] = ("Heads",)
    python_only: tuple[str, ...] = ()


@cache
def widget_pages() -> Mapping[str, Path]:
    """Return the `NAME.widget.html` of each widget of attnviz, by the widget's name."""
    return {page.name.removesuffix(_PAGE): page for page in sorted(PACKAGE.rglob(f"*{_PAGE}"))}


@cache
def source(widget: Widget) -> Source:
    """Join the files of a widget. Raise ValueError for a script that cannot be joined, OSError for a missing file."""
    if widget.page.suffix == ".js":
        styles = [*_KIT_STYLES, *([widget.style] if widget.style else [])]
        html = f'<div class="avz tab-view drawn {widget.name}" lang="und" tabindex="-1"></div>'
        script = widget.page
    else:
        page, folder = _read(widget.page), widget.page.parent
        styles = [folder / path for path in _STYLE.findall(page)]
        html = _SCRIPT.sub("", _STYLE.sub("", page)).strip()
        script = folder / _SCRIPT.findall(page)[0]
    return Source(html, "".join(map(_read, styles)), join_modules(script, script_constants(widget)))


def script_constants(widget: Widget) -> Constants:
    """Return the constants that are sent with a widget's script instead of with each payload."""
    terms = {name: text for place in widget.terms for name, text in _terms_of(place).items()}
    return {
        "kit/js/constants.js": {"FIXED": CONSTANTS},
        "kit/js/terms.js": {"DEFINITIONS": {term.lower(): text for term, text in terms.items()}},
        "kit/js/files/parts.js": {"WIDGET": widget.name, "LACKS": widget.python_only},
        "kit/js/files/page.js": {"PAGE": file_page(), "FIGURE": file_figure()},
    }


def _terms_of(place: str | Path) -> Mapping[str, str]:
    """Return the definitions of a page of the app, or those in a file of terms."""
    if isinstance(place, str):
        return definitions(place)
    return {term.name: term.text for term in read_terms(place, "").terms.values()}


@cache
def file_page() -> str:
    """Return the HTML file for pictures, with the placeholders `{{title}}`, `{{content}}` and `{{widgets}}`."""
    # `</` could end the script element, and `<!--` could hide its end.
    boot = join_modules(PACKAGE / "kit" / "js" / "hosts" / "file.js").replace("</", "<\\/").replace("<!--", "<\\!--")
    parts = {"style": _read(PACKAGE / "kit" / "file" / "file.css"), "boot": boot}
    return _PLACE.sub(lambda found: parts.get(found[1], found[0]), _read(PACKAGE / "kit" / "file" / "page.html"))


def shared_pieces(texts: Iterable[str]) -> tuple[list[str], list[list[int]]]:
    """Split scripts and styles at the start of each of our files.

    Return all distinct pieces, and for each text the indices of its pieces in order.
    """
    places: dict[str, int] = {}
    cut = [[places.setdefault(piece, len(places)) for piece in _BEGINS.split(text)] for text in texts]
    return list(places), cut


@cache
def file_figure() -> str:
    """Return the HTML of a picture in such a file, with the placeholders `{{widget}}`, `{{bytes}}`,
    `{{planes}}` and `{{caption}}`.
    """
    return _read(PACKAGE / "kit" / "file" / "figure.html").rstrip("\n")


def fill_places(text: str, parts: Mapping[str, str]) -> str:
    """Replace all placeholders of a page or figure in one pass, because a part may itself contain text like a
    placeholder.
    """
    return _PLACE.sub(lambda found: parts[found[1]], text)


def join_modules(entry: Path, constants: Constants | None = None) -> str:
    """Join a module and all that it imports into one JavaScript expression, whose value is the object of its exports.

    Each file runs once, in a scope of its own. `constants` replace a file's exports by computed values. Raise
    ValueError for circular imports, an imported name that its file does not export, and other forms of import or
    export: only ``import { a, b as c } from "./file.js"`` (or from "attnviz"), and ``export`` before a function, a
    class, a constant or one default can be joined.
    """
    stand_ins = {(PACKAGE / file).resolve(): _exports(values) for file, values in (constants or {}).items()}
    texts: dict[Path, str] = {}
    _collect(entry.resolve(), stand_ins, texts)
    names = _module_names(texts)
    calls = [f"const {names[file]} = (() => {{\n{_body(file, texts, names)}}})();\n" for file in texts]
    return f"(() => {{\n{''.join(calls)}return {names[entry.resolve()]};\n}})()"


def _module_names(files: Iterable[Path]) -> dict[Path, str]:
    """Name each module by its path, so that a file that several widgets share has the same text in all of them."""
    names: dict[Path, str] = {}
    for file in files:
        name = f"module_{re.sub(r'[^a-z0-9]', '_', _short_path(file).removesuffix('.js'))}"
        names[file] = name if name not in names.values() else f"{name}_{len(names)}"
    return names


def _collect(
    file: Path, stand_ins: Mapping[Path, str], texts: dict[Path, str], importers: tuple[Path, ...] = ()
) -> None:
    """Add a module to `texts`, after all modules that it imports."""
    if file in importers:
        raise ValueError(f"{_short_path(file)} imports itself, by way of {_short_path(importers[-1])}.")
    if file in texts:
        return
    text = stand_ins.get(file) or _read(file)
    for _, path in _IMPORT.findall(text):
        _collect(_imported(file, path), stand_ins, texts, (*importers, file))
    texts[file] = text


def _body(file: Path, texts: Mapping[Path, str], names: Mapping[Path, str]) -> str:
    """Wrap a module as the body of a function that returns its exports."""

    def bind(found: re.Match[str]) -> str:
        used = _imported(file, found[2])
        imports = [name.strip() for name in found[1].split(",") if name.strip()]
        if missing := [name for name in imports if name.split(" as ")[0] not in _EXPORT.findall(texts[used])]:
            raise ValueError(
                f"{_short_path(file)} imports {missing[0]} from {_short_path(used)}, which exports no such name."
            )
        return f"const {{ {', '.join(name.replace(' as ', ': ') for name in imports)} }} = {names[used]};"

    body = _EXPORT.sub("", _IMPORT.sub(bind, texts[file]))
    body, defaults = _DEFAULT.subn("const exportedByDefault = ", body, count=1)
    if left := _UNJOINED.search(body):
        raise ValueError(f"{_short_path(file)} has {left[0]!r}, which cannot be joined.")
    returned = [*_EXPORT.findall(texts[file]), *["default: exportedByDefault"] * defaults]
    return f"{body}\nreturn {{ {', '.join(returned)} }};\n"


def _imported(file: Path, path: str) -> Path:
    """Return the file that an import refers to: a relative path, or "attnviz" for the scripts that attnviz offers."""
    return (KIT if path == "attnviz" else file.parent / path).resolve()


def _exports(values: Mapping[str, Any]) -> str:
    return "\n".join(f"export const {name} = {json.dumps(value)};" for name, value in values.items())


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _short_path(file: Path) -> str:
    """Return a file's path for an error message, relative to attnviz/ if the file is in it."""
    return file.relative_to(PACKAGE.resolve()).as_posix() if file.is_relative_to(PACKAGE.resolve()) else file.name


def _words(kind: str) -> dict[str, str]:
    words = KINDS[kind]
    return {
        "tab": words.tab,
        "title": words.name,
        "question": words.question,
        "query_axis": f"query ↓ ({words.query})",
        "key_axis": f"key → ({words.key})",
    }


def _scales(theme: str) -> dict[str, Any]:
    sequential, diverging = (base64.b64encode(np.asarray(scale, np.uint8).tobytes()) for scale in _SCALES[theme])
    return {"sequential": sequential.decode(), "diverging": diverging.decode()}


CONSTANTS = {"kinds": {kind: _words(kind) for kind in KINDS}, "scales": {name: _scales(name) for name in _SCALES}}
"""The words of each kind, and the four colour scales as base64 of 256 RGB bytes."""
