"""Figures and payloads of traces and plain arrays. `heatmap` is imported at its first use: Plotly takes a while."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnviz.views.heatmaps import heatmap

__all__ = ["heatmap"]


def __getattr__(name: str) -> Any:
    if name != "heatmap":
        raise AttributeError(f"attnviz.views has no {name!r}; it has {', '.join(__all__)}, and its modules.")
    return import_module("attnviz.views.heatmaps").heatmap
