"""What anywidget gives the browser for a picture: its widget, and the host that stands it in a cell, as one module."""

import json
from functools import cache

from attnviz.kit.bundle import PACKAGE, Widget, join_modules, source

_MODULE = """const build = () => {widget};
const host = {host};
export default host.inNotebook(build().default, {{ ...{parts}, module: `(${{build}})()` }});
"""


@cache
def cell_module(widget: Widget) -> str:
    """Return the module whose default export draws a widget in a cell.

    Its styles go along with its element, into a shadow root: what anywidget calls `_css` would style the whole page.
    """
    made = source(widget)
    host = join_modules(PACKAGE / "kit" / "js" / "hosts" / "notebook.js")
    parts = {"html": made.html, "style": made.style, "pythonOnly": widget.python_only}
    return _MODULE.format(widget=made.module, host=host, parts=json.dumps(parts))
