"""A picture as one file in a frame: it needs no front end of a widget, and stays in what is saved."""

from html import escape
from pathlib import Path

from attnviz.html.one_file import one_file
from attnviz.pictures.shown.registry import ShownPicture

HEIGHT = 620  # pixels, its caption included
_FRAME = '<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" style="{style}" title="{title}"></iframe>'


class StaticPicture:
    """A picture in a cell that Python neither hears nor changes; `shown` is what it shows."""

    def __init__(self, shown: ShownPicture, height: int | None = None) -> None:
        self.shown = shown
        self.height = height or HEIGHT

    def to_html(self, path: str | Path, *, title: str = "") -> Path:
        """Write it as one HTML file; see `ShownPicture.to_html`."""
        return self.shown.to_html(path, title=title)

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {self.height}px; border: 0"
        return _FRAME.format(page=escape(one_file(self.shown)), style=style, title=escape(self.shown.picture.title))
