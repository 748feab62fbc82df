"""What a word on the page means, shown while the pointer, a finger or the keyboard is on it.

It draws nothing by itself: it watches the buttons and list entries of the page it stands on, Streamlit's and those
inside our components, and finds each by the text that it shows, or by its `data-term`. A widget's label has `help=`.
"""

from collections.abc import Mapping
from pathlib import Path

from streamlit.components.v2 import component

_HERE = Path(__file__).parent
_COMPONENT = component(
    "attnviz_definitions",
    html="<div class='definitions' role='tooltip' popover='manual'></div>",
    css=(_HERE / "definitions.css").read_text(encoding="utf-8"),
    js=(_HERE / "definitions.js").read_text(encoding="utf-8"),
)


def definitions(words: Mapping[str, str]) -> None:
    """Explain `words`, each by its definition, wherever they stand on the page."""
    _COMPONENT(key="definitions", data={"words": dict(words)})
