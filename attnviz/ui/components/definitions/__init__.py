"""What a word on the page means, shown while the pointer, a finger or the keyboard is on it.

It draws nothing by itself: it watches the buttons, list entries and labels of the page it stands on, Streamlit's and
those inside our components, and finds each by the text that it shows, or by its `data-term` (`attnviz.views.terms`).
A component that explains its own terms (`shared/js/definitions.js`) is left alone; both have one bubble and one look.
"""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

from attnviz.ui.components import pieces

_HERE = Path(__file__).parent
_HTML = "<div class='definition definitions' role='tooltip' popover='manual'></div>"


def definitions(words: Mapping[str, str]) -> None:
    """Explain `words`, each by its definition, wherever they stand on the page. Drawn once a page, by its frame.

    The same words in every answer: Streamlit then sends but a hash of them.
    """
    _component()(key="definitions", data={"words": dict(words)})


@cache
def _component() -> Callable[..., Any]:
    script = pieces.joined("js", (pieces.SHARED, ("bubble",))) + (_HERE / "definitions.js").read_text(encoding="utf-8")
    look = pieces.joined("css", (pieces.SHARED, ("definitions",)))
    return component("attnviz_definitions", html=_HTML, css=look, js=script)
