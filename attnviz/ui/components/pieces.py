"""How a component is put together: shared and own pieces of script and style, joined; there is no build step.

The shared pieces lie in `shared/`. Each says in its first lines what it asks of the component that takes it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

from attnviz.text.glossary import HEADS

SHARED = Path(__file__).parent / "shared"
TOOLS = ("cells", "elements", "bubble", "definitions", "theme", "pens", "svg_pen", "caption", "opened", "files")
LIFE = ("announced", "place", "view", "mounted")  # what a component does from its first moment on
LOOK = ("frame", "buttons", "controls", "definitions")

Part = tuple[Path, Sequence[str]]  # a component's folder, and the names of pieces in it


def made(
    folder: Path,
    *,
    css: Sequence[Part],
    js: Sequence[Part],
    classes: str = "",
    first: str = "",
    words: Mapping[str, str] = HEADS,
) -> Callable[..., Any]:
    """A component named after its folder, on the shared tools, life and look; its element has `classes` besides.

    `css` and `js` are its own pieces, in the order in which they are joined; `first` is script that stands before all,
    and `words` are the terms on its controls.
    """
    return component(
        f"attnviz_{folder.name}",
        html=f'<div class="{f"avz {classes}".strip()}" lang="und" tabindex="-1"></div>',
        css=joined("css", (SHARED, LOOK), *css),
        js=glossary_script(words) + first + joined("js", (SHARED, (*TOOLS, *LIFE)), *js),
    )


def glossary_script(words: Mapping[str, str]) -> str:
    """`const DEFINITIONS = {…};`: what the terms on the component's controls mean, in small letters. Script goes to the
    browser with each new picture, so that it holds the terms of one page only.
    """
    terms = {term.lower(): text for term, text in words.items()}
    return f"const DEFINITIONS = {json.dumps(terms, ensure_ascii=False)};\n"


def joined(ending: str, *parts: Part) -> str:
    """Scripts or styles as one text: of each folder the named files, in that order."""
    files = [folder / ending / f"{name}.{ending}" for folder, names in parts for name in names]
    return "\n".join(file.read_text(encoding="utf-8") for file in files) + "\n"
