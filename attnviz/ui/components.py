"""Widgets as components of Streamlit. The browser fetches their scripts over HTTP, apart from their data.

Streamlit serves a component's files from the folder that a manifest names. Scripts are joined from their modules when
the process starts, so the manifest is made here too, and the folder is a temporary one. A file's name holds a hash of
its content, so that two versions never share a file.
"""

import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from streamlit.components.v2 import component
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

from attnviz.ui import streamlit_internals
from attnviz.widgets.bundle import WIDGETS, Source, source

_PACKAGE, _SCRIPTS = "attnviz", "scripts"
_REGISTERING = Lock()  # the first visitors of a process may come at once
_SEEN_AT_ONCE = ("screen", "rail", "copy_link")  # their elements are styled before their scripts arrive
# The styles are in the script: a widget is never drawn without them.
_SCRIPT = """const sheet = new CSSStyleSheet();
sheet.replaceSync({style});
const build = () => {module};
const draw = build().default;
const source = () => ({{ html: {html}, style: {style}, module: `(${{build}})()` }});
export default (component) => {{
  const root = component.parentElement.getRootNode();
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
  return draw({{ ...component, source }});
}};
"""


def widget(name: str) -> Callable[..., Any]:
    """Return the function that draws a widget; its `key` and `data` are those of Streamlit's component."""
    if not streamlit_internals.has_server():  # a page that runs as a plain script, without a browser
        return component(f"{_PACKAGE}_{name}", html=source(name).html)
    with _REGISTERING:
        if get_bidi_component_manager().get_component_asset_root(f"{_PACKAGE}.{name}") is None:
            register()
    return _component(name)


def register() -> None:
    """Tell Streamlit's server where the scripts of all widgets are."""
    names = sorted(file.parent.name for file in WIDGETS.glob("*/widget.html"))
    manifest = ComponentManifest(_PACKAGE, "", [ComponentConfig(name, asset_dir=_SCRIPTS) for name in names])
    get_bidi_component_manager().register_from_manifest(manifest, _folder())


@cache
def _component(name: str) -> Callable[..., Any]:
    made = source(name)
    css = made.style if name in _SEEN_AT_ONCE else None
    return component(f"{_PACKAGE}.{name}", html=made.html, css=css, js=_file(name, made))


def _file(name: str, made: Source) -> str:
    return f"{name}-{made.digest}.js"


@cache
def _folder() -> Path:
    """Make a temporary folder with the scripts of all widgets; it goes with the process."""
    folder = Path(_temporary().name)
    (folder / _SCRIPTS).mkdir()
    for name in (file.parent.name for file in WIDGETS.glob("*/widget.html")):
        made = source(name)
        style = "" if name in _SEEN_AT_ONCE else made.style
        script = _SCRIPT.format(html=json.dumps(made.html), style=json.dumps(style), module=made.module)
        (folder / _SCRIPTS / _file(name, made)).write_text(script, encoding="utf-8")
    return folder


@cache
def _temporary() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="attnviz-")
