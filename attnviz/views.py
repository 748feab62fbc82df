"""Figures and payloads for traces and arrays. They are imported at first use, since importing Plotly takes a while."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from attnviz.extras import needs

if TYPE_CHECKING:
    from attnviz.heads.figures.heatmap import heatmap
    from attnviz.heads.figures.links import links, whole_model
    from attnviz.kit.views.paper import save

__all__ = ["heatmap", "links", "save", "whole_model"]

_HOME = {
    "heatmap": "attnviz.heads.figures.heatmap",
    "links": "attnviz.heads.figures.links",
    "save": "attnviz.kit.views.paper",
    "whole_model": "attnviz.heads.figures.links",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"attnviz.views has no {name!r}; it has {', '.join(__all__)}, and its modules.")
    with needs("plot", f"attnviz.views.{name}"):
        return getattr(import_module(_HOME[name]), name)
