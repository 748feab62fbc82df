"""A widget's source, put together from files: shared and own pieces of script and style, joined.

Nothing here knows Streamlit: the same source serves a page, a notebook and a file of its own.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnviz.text.glossary import DECODING, HEADS, MASKS
from attnviz.widgets.heads.constants import constants_script

WIDGETS = Path(__file__).parent
TOOLS = (
    "cells",
    "elements",
    "bubble",
    "definitions",
    "theme",
    "canvas_pen",
    "svg_pen",
    "caption",
    "unpack",
    "downloads",
)
LIFE = ("live_region", "resize", "view", "mount")  # what a widget does from its first moment on
LOOK = ("frame", "buttons", "controls", "definitions")
TABS = ("payload", "choice", "parts", "exports", "mount")
SCRIPTS = {
    "heads": (
        "payload", "maps", "choice", "subject", "strip", "overview_layout", "overview", "geometry", "tile", "labels",
        "focus", "overlay", "zoom", "pointer", "bars", "controls", "pins", "exports", "keys", "help", "focus_pane",
        "shell", "main",
    ),
    "links": ("lines", "squares", "columns", "strokes", "held", "figure", "shell"),
    "neuron": ("sums", "lists", "cells", "steps", "figure", "shell"),
    "whole_model": ("layout", "miniatures", "grid", "figure", "shell"),
    "stepper": (
        "payload", "choice", "training", "layout", "maps", "candidates", "pointer", "player", "exports", "shell", "main",
    ),
    "mask_lab": (
        "payload", "paint", "preview", "zoom", "layout", "panels", "draw", "numbers", "pointer", "keys", "exports",
        "shell", "main",
    ),
}  # fmt: skip
_OF_HEADS = ("links", "neuron", "whole_model")  # the other tabs of the Heads page share `base/`
_HTML = {
    "brought_up": "<div></div>",
    "copy_link": """<button type="button">Copy link</button><input readonly hidden aria-label="Link to this picture">
<p role="status" hidden></p>
""",
    "definitions": "<div class='definition definitions' role='tooltip' popover='manual'></div>",
    "line_list": '<div class="lines"><div role="listbox" tabindex="0"></div></div>',
    "mask_lab": '<div class="lab" lang="und" tabindex="-1"></div>',
    "picture_tools": """<div role="group" aria-label="Save this picture">
<button type="button" data-format="png">PNG</button>
<button type="button" data-format="svg">SVG</button><span role="status"></span></div>
""",
}


@dataclass(frozen=True)
class Source:
    """What a browser needs to draw a widget, beside its data."""

    html: str
    style: str
    script: str


def source(name: str) -> Source:
    """The source of the widget whose folder is `name`."""
    return Source(_HTML.get(name) or _element(name), _style(name), _script(name))


def _element(name: str) -> str:
    classes = {"heads": "", "stepper": "stepper"}.get(name, f"tab-view {name.replace('_', '-')}")
    return f'<div class="{f"avz {classes}".strip()}" lang="und" tabindex="-1"></div>'


def _style(name: str) -> str:
    parts = {
        "brought_up": (),
        "copy_link": ((name, (name,)),),
        "definitions": (("shared", ("definitions",)),),
        "heads": (("shared", LOOK), (name, ("overview", "focus"))),
        "line_list": (("shared", ("definitions",)), (name, (name,))),
        "mask_lab": (("shared", ("buttons",)), (name, ("lab",))),
        "picture_tools": ((name, (name,)),),
        "stepper": (("shared", LOOK), (name, ("stepper", "table"))),
    }
    return joined("css", *parts.get(name, (("shared", LOOK), ("base", ("tabs",)), (name, (name,)))))


def _script(name: str) -> str:
    words: dict[str, Mapping[str, str]] = {"mask_lab": MASKS, "stepper": HEADS | DECODING}
    if name in SCRIPTS:
        shared = (*TOOLS, "mount") if name == "mask_lab" else (*TOOLS, *LIFE)
        base = [("base", TABS)] if name in _OF_HEADS else []
        first = glossary_script(words.get(name, HEADS)) + (constants_script() if name == "heads" else "")
        return first + joined("js", ("shared", shared), *base, (name, SCRIPTS[name]))
    shared = {"definitions": ("bubble",), "picture_tools": ("canvas_pen", "caption")}.get(name, ())
    return joined("js", ("shared", shared), (name, (name,)))


def glossary_script(words: Mapping[str, str]) -> str:
    """`const DEFINITIONS = {…};`: what the terms on the widget's controls mean, in small letters."""
    terms = {term.lower(): text for term, text in words.items()}
    return f"const DEFINITIONS = {json.dumps(terms, ensure_ascii=False)};\n"


def joined(ending: str, *parts: tuple[str, Sequence[str]]) -> str:
    """Scripts or styles as one text: of each folder the named files, in that order."""
    files = [WIDGETS / folder / ending / f"{name}.{ending}" for folder, names in parts for name in names]
    found = [file if file.exists() else file.parents[1] / file.name for file in files]
    return "\n".join(file.read_text(encoding="utf-8") for file in found) + "\n"
