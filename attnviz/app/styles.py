"""The style sheets of the pages."""

from functools import cache

from attnviz.places import ASSETS

STYLES = ASSETS / "styles"


class _Style:
    """Style sheets that Streamlit need not read, nor ask the disk whether they are any."""

    def __init__(self, *names: str) -> None:
        sheets = ((STYLES / name).read_text(encoding="utf-8") for name in names)
        self._text = f"<style>{''.join(sheets)}</style>"

    def _repr_html_(self) -> str:
        return self._text


@cache
def style(*names: str) -> _Style:
    """Return style sheets of `assets/styles` for `st.html`, read once: in every run a page draws the same ones."""
    return _Style(*names)
