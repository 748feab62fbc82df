"""How a component is put together: shared and own pieces of script and style, joined; there is no build step.

The shared pieces lie in `shared/`. Each says in its first lines what it asks of the component that takes it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

SHARED = Path(__file__).parent / "shared"
TOOLS = ("cells", "elements", "theme", "pens", "svg_pen", "opened", "files")
LIFE = ("announced", "place", "view", "mounted")  # what a component does from its first moment on
LOOK = ("frame", "buttons", "controls")

Part = tuple[Path, Sequence[str]]  # a component's folder, and the names of pieces in it


def made(
    folder: Path, *, css: Sequence[Part], js: Sequence[Part], classes: str = "", first: str = ""
) -> Callable[..., Any]:
    """A component named after its folder, on the shared tools, life and look; its element has `classes` besides.

    `css` and `js` are its own pieces, in the order in which they are joined; `first` is script that stands before all.
    """
    return component(
        f"attnviz_{folder.name}",
        html=f'<div class="{f"avz {classes}".strip()}" lang="und"></div>',
        css=joined("css", (SHARED, LOOK), *css),
        js=first + joined("js", (SHARED, (*TOOLS, *LIFE)), *js),
    )


def joined(ending: str, *parts: Part) -> str:
    """Scripts or styles as one text: of each folder the named files, in that order."""
    files = [folder / ending / f"{name}.{ending}" for folder, names in parts for name in names]
    return "\n".join(file.read_text(encoding="utf-8") for file in files) + "\n"
