"""Saving a figure as a file for a paper."""

from pathlib import Path
from typing import TYPE_CHECKING

from attnviz.guards.arguments import reads_arguments

if TYPE_CHECKING:
    import plotly.graph_objects as go

FORMATS = (".svg", ".png", ".pdf")
_NEEDS = (
    "Plotly writes svg, png and pdf with the package kaleido and a Chrome or Chromium on this machine: "
    "pip install kaleido, then plotly_get_chrome if there is no browser"
)


@reads_arguments
def save(
    figure: "go.Figure", path: Path | str, *, width: int = 900, height: int | None = None, scale: float = 2.0
) -> Path:
    """Write a figure as .svg, .png or .pdf, depending on the extension of `path`; return the path.

    Folders are created. `width` and `height` are in pixels; by default the height is the figure's own. A .png has
    `scale` times as many pixels. Raises ValueError with one sentence for another extension, and if Plotly's export
    packages are missing.
    """
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise ValueError(
            f"{target.name} is not the name of a picture. Please choose a name that ends in {', '.join(FORMATS)}."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        content = figure.to_image(target.suffix[1:].lower(), width=width, height=height, scale=scale)
    except (ValueError, ImportError, RuntimeError) as error:  # Plotly without kaleido, or kaleido without Chrome
        why = str(error).strip().partition("\n")[0].rstrip(".,: ")
        raise ValueError(f"{target.name} cannot be written: {_NEEDS} ({why}).") from None
    target.write_bytes(content)
    return target
