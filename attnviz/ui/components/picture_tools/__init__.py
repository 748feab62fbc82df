"""Buttons that save a Plotly figure of this page as a picture, without a server and without Plotly's own tool bar.

That bar shows on hover only, knows one format at a time and is not reached by the keyboard.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

_HERE = Path(__file__).parent
_HTML = """<div role="group" aria-label="Save this picture"><button type="button" data-format="png">PNG</button>
<button type="button" data-format="svg">SVG</button><span role="status"></span></div>
"""


def picture_tools(chart: str, *, name: str, caption: str = "") -> None:
    """Draw the buttons for the figure whose key is `chart`; files are called `name`, and `caption` is a line below the
    picture in them.
    """
    _component()(key=f"{chart}-save", data={"chart": chart, "name": name, "caption": caption})


@cache
def _component() -> Callable[..., Any]:
    style, script = ((_HERE / f"picture_tools.{ending}").read_text(encoding="utf-8") for ending in ("css", "js"))
    return component("attnviz_picture_tools", html=_HTML, css=style, js=script)
