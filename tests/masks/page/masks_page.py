"""Read the Masks page after AppTest has run it: the data of its component, and the texts."""

import numpy as np
from streamlit.testing.v1 import AppTest

from attnviz.kit.wire import unpack
from attnviz.masks.masks import painting_to_text


def laboratory(app: AppTest) -> tuple[dict, bytes]:
    """Read what the component is told, and its numbers."""
    return next(unpack(part.proto.bytes) for part in app.get("bidi_component") if part.proto.bytes)


def weights(app: AppTest) -> np.ndarray:
    header, blobs = laboratory(app)
    rows, cols, _ = header["shape"]
    return np.frombuffer(blobs, "<f4", rows * cols, header["attn"]).reshape(rows, cols)


def page_html(app: AppTest) -> str:
    return "\n".join(part.proto.body for part in app.get("html"))


def paint_rows(app: AppTest, *rows: int) -> str:
    """Paint that shuts these rows of the map that is drawn."""
    painted = np.ones_like(weights(app), dtype=bool)
    painted[list(rows)] = False
    return painting_to_text(painted)
