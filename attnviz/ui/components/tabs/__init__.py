"""What the components of the Heads page's other tabs share: how they take data, tell of choices, fit the page, export.

Each of them lies in a folder of its own and brings `START` (its view), `AT_ONCE` (choices that only Python can answer),
`settle`, `buildShell`, `paint`, `figure` and `csvRows`; the pieces here and the shared ones do the rest.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from attnviz.ui.address import persistent
from attnviz.ui.components import pieces
from attnviz.ui.components.drawn import unless_drawn

_HERE = Path(__file__).parent
SCRIPTS = ("payload", "choice", "parts", "exports", "mount")


def made(folder: Path, scripts: tuple[str, ...], styles: tuple[str, ...]) -> Callable[..., Any]:
    """A component from the pieces in its folder, named after it."""
    return pieces.made(
        folder,
        css=[(_HERE, ("tabs",)), (folder, styles)],
        js=[(_HERE, SCRIPTS), (folder, scripts)],
        classes=f"tab-view {folder.name.replace('_', '-')}",
    )


def drawn(made_component: Callable[..., Any], payload: bytes, *, key: str, on_change: Callable[[], None]) -> None:
    """Draw `payload`; under `key` the choice is in the session: ``st.session_state[key]["view"]``."""
    made_component(key=key, data=unless_drawn(payload, key), on_view_change=on_change)
    persistent.catch_up(key, on_change)
