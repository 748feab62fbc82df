"""A picture as a Jupyter widget: Python reads the view in the browser, and the browser follows a view set in Python."""

import json
from functools import cache
from html import escape
from pathlib import Path
from typing import Any
from uuid import uuid4

import anywidget
import traitlets

from attnviz.kit.bundle import PACKAGE, Widget, join_modules, source
from attnviz.kit.picture import ShownPicture
from attnviz.kit.wire import Payload

_MODULE = """const build = () => {widget};
const host = {host};
export default host.inNotebook(build().default, {{ ...{parts}, module: `(${{build}})()` }});
"""
Head = tuple[str, int | str, int | str]
THEMES = ("auto", "light", "dark")
_NOT_DRAWN = (
    "This picture is drawn only while the notebook is running and anywidget is installed. To save the "
    "picture with the notebook, use show(…, static=True)."
)
# Fields for whose new values the browser may lack the data of a long text, or of an image.
_SITE = ("kind", "layer", "head", "pins", "at", "mix")


class PictureWidget(anywidget.AnyWidget):
    """A picture in a notebook cell.

    `view` is the visitor's choice, a dictionary of fields. You can read it, set it (fields that are not given keep
    their values), `observe(f, "view")`, or connect two pictures with `traitlets.link`. `theme` is "auto", which follows
    the notebook, "light" or "dark"; `height` is in pixels, None for the picture's own. `shown` is the picture.
    """

    view = traitlets.Dict()
    theme = traitlets.Enum(THEMES, "auto").tag(sync=True)
    height = traitlets.Int(None, allow_none=True, min=1).tag(sync=True)
    _esm = traitlets.Unicode().tag(sync=True)
    _payload = traitlets.Bytes().tag(sync=True)
    _blobs = traitlets.Bytes().tag(sync=True)  # apart, because joining them would copy the maps of a long text
    _told = traitlets.Dict().tag(sync=True)
    _caption_class = traitlets.Unicode().tag(sync=True)

    def __init__(self, shown: ShownPicture, *, theme: str = "auto", height: int | None = None) -> None:
        self.shown = shown
        self._drawn = shown.payload()
        super().__init__(
            _esm=cell_module(shown.picture.drawn_by), _payload=self._drawn.pack_header(), _blobs=self._drawn.blobs,
            _caption_class=f"attnviz-{uuid4().hex}", view=shown.view, theme=theme, height=height,
        )  # fmt: skip
        self.observe(self._answer, "view")
        self.on_msg(self._say_here)

    def __repr__(self) -> str:
        """Return the name of the picture and what it shows; anywidget's own repr would print its script."""
        return f"<{type(self).__name__} {self.shown}>"

    def to_html(self, path: str | Path, *, title: str = "") -> Path:
        """Write the picture in its current state as one HTML file; see `ShownPicture.to_html`."""
        return self.shown.to_html(path, title=title)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Adopt what the browser sent; called by `ipywidgets`."""
        super().set_state(sync_data)
        if "_told" in sync_data:
            self.shown = self.shown.with_view(self._told)
            self.view = self.shown.view

    @property
    def head(self) -> Head:
        """Kind, layer and head in focus, such as `("cross", 2, 5)`; set it to show another head."""
        return self._field("kind"), self._field("layer"), self._field("head")

    @head.setter
    def head(self, site: Head) -> None:
        if not isinstance(site, tuple | list) or len(site) != 3:
            raise ValueError(f'head must be a kind, a layer and a head, such as ("cross", 2, 5), not {site!r}.')
        self._set_fields(**dict(zip(("kind", "layer", "head"), site, strict=True)))

    @property
    def row(self) -> int | None:
        """The pinned row, as an index of the queries; None if no row is pinned."""
        return self._field("row")

    @row.setter
    def row(self, row: int | None) -> None:
        self._set_fields(row=row)

    @property
    def pins(self) -> tuple[Head, ...]:
        """The pinned heads, shown beside the head in focus."""
        return self._field("pins")

    @pins.setter
    def pins(self, pins: tuple[Head, ...]) -> None:
        self._set_fields(pins=pins)

    def _ipython_display_(self, **kwargs: Any) -> None:
        """Display the caption and the picture; the picture's script removes the caption when it draws.

        If no widget is drawn, as on an nbconvert page without a network, the caption stays.
        """
        from IPython.display import display

        made = super()._repr_mimebundle_(**kwargs)
        display({"text/html": f"<div class='{self._caption_class}'>{self._caption()}</div>"}, raw=True)
        if made is not None:
            display(made[0], raw=True, metadata=made[1])

    def _caption(self) -> str:
        lines = [self.shown.picture.title, *self.shown.subject.caption(self.shown.state).lines(), _NOT_DRAWN]
        return "".join(f"<p>{escape(line)}</p>" for line in lines)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Add a text for places that draw no widget, such as GitHub."""
        made = super()._repr_mimebundle_(**kwargs)
        if made is not None:
            made[0]["text/html"] = self._caption()
        return made

    def _say_here(self, *_: Any) -> None:
        """Answer the browser's question whether Python is running."""
        self.send("here")

    def _field(self, name: str) -> Any:
        if name not in self.view:
            raise ValueError(
                f"{self.shown.picture.title} has no setting called {name}. The settings are {', '.join(self.view)}."
            )
        return getattr(self.shown.state, name)

    def _set_fields(self, **fields: Any) -> None:
        self.view = fields

    @traitlets.validate("view")
    def _read_view(self, proposal: Any) -> dict[str, Any]:
        """Apply a view that was set in Python. Raise ValueError for a view that cannot be shown."""
        if proposal["value"] != self.shown.view:
            self.shown = self.shown.with_fields(**proposal["value"])
        return self.shown.view

    def _answer(self, change: Any) -> None:
        """Send the browser what it lacks: the view if Python set it, and the data that this view needs."""
        changed = {name for name, value in change.new.items() if change.old.get(name) != value}
        is_told = all(self._told.get(name) == change.new[name] for name in changed)
        with self.hold_sync():
            if not is_told or changed & {*self.shown.picture.python_only, *_SITE}:
                self._send_numbers()
            if not is_told:
                self._told = {**self._told, **change.new, "seq": self.shown.seq}

    def _send_numbers(self) -> None:
        made = self.shown.payload()
        if _without_view(made) != _without_view(self._drawn):
            self._drawn, self._payload, self._blobs = made, made.pack_header(), made.blobs


def _without_view(payload: Payload) -> Payload:
    return payload._replace(header={**payload.header, "view": None, "seq": None})


@cache
def cell_module(widget: Widget) -> str:
    """Return the JavaScript module whose default export draws a widget in a cell.

    The styles are put into the widget's shadow root, because anywidget's `_css` would apply to the whole page.
    """
    made = source(widget)
    host = join_modules(PACKAGE / "kit" / "js" / "hosts" / "notebook.js")
    parts = {"html": made.html, "style": made.style, "pythonOnly": widget.python_only}
    return _MODULE.format(widget=made.module, host=host, parts=json.dumps(parts))
