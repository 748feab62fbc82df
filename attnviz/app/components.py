"""Widgets as Streamlit components. The browser fetches their scripts over HTTP, separately from their data.

Streamlit serves a component's files from the folder in its manifest. A widget's script is bundled from its modules when
the widget is first drawn, so this module also writes the manifest, into a temporary folder. A file's name includes a
hash of its content, so that two versions never share a file.
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

from attnviz.app import streamlit_internals
from attnviz.hosts import registry
from attnviz.kit.bundle import Widget, source, widget_pages

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


def widget(drawn_by: str | Widget) -> Callable[..., Any]:
    """Return the function that draws a widget. Its parameters, such as `key` and `data`, are Streamlit's."""
    made = registry.widget(drawn_by) if isinstance(drawn_by, str) else drawn_by
    if not streamlit_internals.has_server():  # a page that runs as a plain script, without a browser
        return component(f"{_PACKAGE}_{made.name}", html=source(made).html)
    with _REGISTERING:
        if get_bidi_component_manager().get_component_asset_root(f"{_PACKAGE}.{made.name}") is None:
            register()
        return _component(made)


def register() -> None:
    """Tell Streamlit's server where the scripts of all widgets are."""
    names = sorted({*widget_pages(), *(picture.widget for picture in registry.pictures().values())})
    manifest = ComponentManifest(_PACKAGE, "", [ComponentConfig(name, asset_dir=_SCRIPTS) for name in names])
    get_bidi_component_manager().register_from_manifest(manifest, _folder())


@cache
def _component(drawn_by: Widget) -> Callable[..., Any]:
    """Write a widget's script where Streamlit's server finds it, and return the component."""
    made, name = source(drawn_by), drawn_by.name
    file, is_styled_early = f"{name}-{made.digest}.js", name in _SEEN_AT_ONCE
    style = "" if is_styled_early else made.style
    script = _SCRIPT.format(html=json.dumps(made.html), style=json.dumps(style), module=made.module)
    (_folder() / _SCRIPTS / file).write_text(script, encoding="utf-8")
    return component(f"{_PACKAGE}.{name}", html=made.html, css=made.style if is_styled_early else None, js=file)


@cache
def _folder() -> Path:
    """Make a temporary folder for the scripts of widgets; it goes with the process."""
    folder = Path(_temporary().name)
    (folder / _SCRIPTS).mkdir()
    return folder


@cache
def _temporary() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="attnviz-")
