"""A widget's source, joined from files: ES modules to one script, and its styles to one sheet.

Nothing here knows Streamlit: the same source serves a page, a notebook and a file of its own. The scripts are modules
with named imports of relative paths, so that an editor, a linter and a reader can follow them; a browser gets them as
one text, for it would ask for each file again on every visit.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from attnviz.text.glossary import DECODING, HEADS, MASKS
from attnviz.widgets.heads.constants import CONSTANTS

WIDGETS = Path(__file__).parent
Given = Mapping[str, Mapping[str, Any]]  # file from here -> the constants that stand in its place

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]*)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|class) (\w+))", re.MULTILINE)
_DEFAULT = re.compile(r"^export default ", re.MULTILINE)
_UNJOINED = re.compile(r"^(?:import|export)\b.*|\bimport\(.*|\bimport\.meta\b.*", re.MULTILINE)

_LOOK = ("frame", "buttons", "controls", "definitions")
_OF_HEADS = ("links", "neuron", "whole_model")  # the other tabs of the Heads page share `base/`
_STYLES: dict[str, tuple[str, ...]] = {
    "brought_up": (),
    "copy_link": ("copy_link/copy_link",),
    "definitions": ("shared/css/definitions",),
    "heads": (*(f"shared/css/{name}" for name in _LOOK), "heads/css/overview", "heads/css/focus"),
    "line_list": ("shared/css/definitions", "line_list/line_list"),
    "mask_lab": ("shared/css/buttons", "mask_lab/css/lab"),
    "picture_tools": ("picture_tools/picture_tools",),
    "stepper": (*(f"shared/css/{name}" for name in _LOOK), "stepper/css/stepper", "stepper/css/table"),
} | {
    name: (*(f"shared/css/{name}" for name in _LOOK), "base/css/tabs", f"{name}/css/{name}") for name in _OF_HEADS
}  # fmt: skip
_HTML = {
    "brought_up": "<div></div>",
    "copy_link": """<button type="button">Copy link</button><input readonly hidden aria-label="Link to this picture">
<p role="status" hidden></p>
""",
    "definitions": "<div class='definition definitions' role='tooltip' popover='manual'></div>",
    "heads": '<div class="avz" lang="und" tabindex="-1"></div>',
    "line_list": '<div class="lines"><div role="listbox" tabindex="0"></div></div>',
    "mask_lab": '<div class="lab" lang="und" tabindex="-1"></div>',
    "picture_tools": """<div role="group" aria-label="Save this picture">
<button type="button" data-format="png">PNG</button>
<button type="button" data-format="svg">SVG</button><span role="status"></span></div>
""",
    "stepper": '<div class="avz stepper" lang="und" tabindex="-1"></div>',
} | {name: f'<div class="avz tab-view {name.replace("_", "-")}" lang="und" tabindex="-1"></div>' for name in _OF_HEADS}


@dataclass(frozen=True)
class Source:
    """What a browser needs to draw a widget, beside its data: an element, styles, and a script whose default export
    takes `{ parentElement, data, setStateValue }`, once for each data.
    """

    html: str
    style: str
    script: str

    @property
    def digest(self) -> str:
        """A name for the script and the styles as they are: another version has another one."""
        return hashlib.blake2b((self.script + self.style).encode(), digest_size=6).hexdigest()


@cache
def source(name: str) -> Source:
    """The source of the widget whose folder is `name`."""
    terms = {"mask_lab": MASKS, "stepper": HEADS | DECODING}.get(name, HEADS)
    given = {
        "heads/js/constants.js": {"FIXED": CONSTANTS},
        "shared/js/terms.js": {"DEFINITIONS": {term.lower(): text for term, text in terms.items()}},
    }
    main = WIDGETS / name / "js" / "main.js"
    style = "\n".join((WIDGETS / f"{file}.css").read_text(encoding="utf-8") for file in _STYLES[name])
    return Source(_HTML[name], style, joined(main if main.exists() else WIDGETS / name / f"{name}.js", given))


def joined(entry: Path, given: Given | None = None) -> str:
    """A module and all that it imports as one module with the same exports; each file keeps a scope of its own.

    `given` names files whose constants are computed: they are exported instead of what the file says. Raises ValueError
    for a circle of imports, a name that nobody exports, and an import or export in a form that cannot be joined: only
    ``import { a, b as c } from "./file.js"`` and ``export`` before a function, a class or a constant can.
    """
    found = _Joined(given or {})
    found.take(entry.resolve(), ())
    names = found.exports[entry.resolve()]
    last = f"const entry = {found.name(entry.resolve())};\n"
    plain = [f"export const {{ {name} }} = entry;\n" for name in names if name != "default"]
    return "".join([*found.texts, last, *plain, *(["export default entry.default;\n"] if "default" in names else [])])


class _Joined:
    """Modules in the order of their imports, each a call of a function that returns what the file exports."""

    def __init__(self, given: Given) -> None:
        self.given = {WIDGETS / file: constants for file, constants in given.items()}
        self.exports: dict[Path, list[str]] = {}
        self.texts: list[str] = []

    def name(self, file: Path) -> str:
        return f"module{list(self.exports).index(file)}"

    def take(self, file: Path, importers: Sequence[Path]) -> None:
        if file in importers:
            raise ValueError(f"{_from_here(file)} imports itself, by way of {_from_here(importers[-1])}.")
        if file in self.exports:
            return
        body = self._text(file)
        for names, path in _IMPORT.findall(body):
            used = (file.parent / path).resolve()
            self.take(used, (*importers, file))
            self._check(file, used, names)
        body = _IMPORT.sub(lambda found: self._bound(file, *found.groups()), body)
        exported = _EXPORT.findall(body)
        body = _DEFAULT.sub("const exportedByDefault = ", _EXPORT.sub("", body), count=1)
        if left := _UNJOINED.search(_without_comments(body)):
            raise ValueError(f"{_from_here(file)} has {left[0]!r}, which cannot be joined.")
        has_default = "const exportedByDefault = " in body
        self.exports[file] = [*exported, *(["default"] if has_default else [])]
        returned = ", ".join([*exported, *(["default: exportedByDefault"] if has_default else [])])
        self.texts.append(f"const {self.name(file)} = (() => {{\n{body}\nreturn {{ {returned} }};\n}})();\n")

    def _text(self, file: Path) -> str:
        if file in self.given:
            lines = [f"export const {name} = {json.dumps(value)};" for name, value in self.given[file].items()]
            return "\n".join(lines)
        return file.read_text(encoding="utf-8")

    def _check(self, file: Path, used: Path, names: str) -> None:
        for name in _names(names):
            if name.split(" as ")[0] not in self.exports[used]:
                raise ValueError(
                    f"{_from_here(file)} imports {name} from {_from_here(used)}, which exports no such name."
                )

    def _bound(self, file: Path, names: str, path: str) -> str:
        bound = ", ".join(name.replace(" as ", ": ") for name in _names(names))
        return f"const {{ {bound} }} = {self.name((file.parent / path).resolve())};"


def _names(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _without_comments(text: str) -> str:
    return re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)


def _from_here(file: Path) -> str:
    return file.relative_to(WIDGETS.resolve()).as_posix() if file.is_relative_to(WIDGETS.resolve()) else file.name
