"""What the components of the Heads page's other tabs share: how they take data, tell of choices, fit the page, export.

Each of them lies in a folder of its own and brings `START` (its view), `AT_ONCE` (choices that only Python can answer),
`settle`, `buildShell`, `paint`, `figure` and `csvRows`; the pieces here and some of the Heads component's do the rest.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

from attnviz.ui.components.drawn import joined, unless_drawn

_HERE = Path(__file__).parent
_HEADS = _HERE.parent / "heads"
_BEFORE = (
    (_HEADS, ("theme", "elements", "pens", "svg_pen", "maps")),
    (_HERE, ("payload", "choice", "parts", "exports")),
)
_AFTER = ((_HERE, ("mount",)),)


def made(folder: Path, scripts: tuple[str, ...], styles: tuple[str, ...]) -> Callable[..., Any]:
    """A component from the pieces in its folder, named after it."""
    return component(
        f"attnviz_{folder.name}",
        html=f'<div class="avz tab-view {folder.name.replace("_", "-")}" lang="und"></div>',
        css=joined("css", (_HEADS, ("frame", "controls")), (_HERE, ("tabs",)), (folder, styles)),
        js=joined("js", *_BEFORE, (folder, scripts), *_AFTER),
    )


def drawn(made_component: Callable[..., Any], payload: bytes, *, key: str, on_change: Callable[[], None]) -> None:
    """Draw `payload`; under `key` the choice is in the session: ``st.session_state[key]["view"]``."""
    made_component(key=key, data=unless_drawn(payload, key), on_view_change=on_change)
