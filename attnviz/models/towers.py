"""Names of the two towers of a model of images and texts, such as CLIP.

The model's own name stands for its vision tower, and the name with `#text` behind it for its text tower. The towers are
two models: no attention head reads both an image and a text.
"""

from pathlib import Path

from attnviz.models import local_paths

TEXT = "#text"


def is_text_tower(name: str | Path) -> bool:
    """Check whether a name stands for the text tower of a model; a folder whose own name ends in `#text` does not."""
    return str(name).endswith(TEXT) and local_paths.place(name) is None


def whole_name(name: str | Path) -> str:
    """Return the name of the whole model, without the mark of the text tower."""
    return str(name).removesuffix(TEXT) if is_text_tower(name) else str(name)


def tower_name(name: str, *, is_text: bool) -> str:
    """Return the name of the text tower or of the vision tower of a model, given the name of either tower."""
    return whole_name(name) + (TEXT if is_text else "")
