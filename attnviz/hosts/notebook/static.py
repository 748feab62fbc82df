"""A picture as one file in a frame: it needs no front end of a widget, and stays in what is saved."""

from html import escape
from pathlib import Path

from attnviz.hosts.html.one_file import one_file
from attnviz.kit.picture import ShownPicture

HEIGHT = 620  # pixels, its caption included
_FRAME = '<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" style="{style}" title="{title}"></iframe>'
# In a narrow cell, a picture that needs more height than its frame asks for it (kit/js/hosts/file.js).
_GROW = """<script>
globalThis.attnvizGrow ??= window.addEventListener("message", ({ data, source }) => {
  if (!(data?.attnvizHeight > 0)) return;
  for (const frame of document.querySelectorAll("iframe[srcdoc]"))
    if (frame.contentWindow === source && data.attnvizHeight > frame.clientHeight)
      frame.style.height = `${Math.min(data.attnvizHeight, 4000)}px`;
}) ?? true;
</script>"""


class StaticPicture:
    """A picture in a cell that Python neither hears nor changes; `shown` is what it shows."""

    def __init__(self, shown: ShownPicture, height: int | None = None) -> None:
        self.shown = shown
        self.height = height or HEIGHT
        self._may_grow = height is None

    def __repr__(self) -> str:
        """Name the picture and what it shows."""
        return f"<{type(self).__name__} {self.shown}>"

    def to_html(self, path: str | Path, *, title: str = "") -> Path:
        """Write it as one HTML file; see `ShownPicture.to_html`."""
        return self.shown.to_html(path, title=title)

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {self.height}px; border: 0"
        title = escape(self.shown.picture.title)
        return _FRAME.format(page=escape(one_file(self.shown)), style=style, title=title) + (
            _GROW if self._may_grow else ""
        )
