"""The style sheets of the pages."""

from functools import cache

from attnviz.places import ASSETS

STYLES = ASSETS / "styles"


class _Style:
    """Style sheets as an object that Streamlit inserts as they are, without looking for a file of that name."""

    def __init__(self, *names: str) -> None:
        sheets = ((STYLES / name).read_text(encoding="utf-8") for name in names)
        self._text = f"<style>{''.join(sheets)}</style>"

    def _repr_html_(self) -> str:
        return self._text


@cache
def style(*names: str) -> _Style:
    """Return style sheets of `assets/styles` for `st.html`. They are read once, since every run draws the same ones."""
    return _Style(*names)
