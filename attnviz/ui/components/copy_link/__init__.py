"""A button that copies a link to the picture on screen."""

from pathlib import Path

from streamlit.components.v2 import component

_HERE = Path(__file__).parent
_HTML = """<button type="button">Copy link</button><input readonly hidden aria-label="Link to this picture">
<p role="status" hidden></p>
"""
_COMPONENT = component(
    "attnviz_copy_link",
    html=_HTML,
    css=(_HERE / "copy_link.css").read_text(encoding="utf-8"),
    js=(_HERE / "copy_link.js").read_text(encoding="utf-8"),
)


def copy_link(query: str) -> None:
    """Draw the button; `query` is what follows the question mark in this page's address."""
    _COMPONENT(key="copy-link", data={"query": query})
