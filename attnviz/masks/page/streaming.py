"""Draw the text under the mask while the model writes it.

A long text takes a second or more: its beginning is shown at once, and an edit does not have to wait for the end.
"""

from collections.abc import Callable

import streamlit as st

from attnviz.app import hosting
from attnviz.app.cache import bounded
from attnviz.masks.page.experiment import MaskExperiment

FIRST, PIECE = 0.04, 0.1  # seconds of writing for the first piece, and for each later one


def drawn_while_written(bench: MaskExperiment, draw: Callable[[], object]) -> None:
    """Redraw the text after each piece until it is complete. An edit can interrupt between two pieces."""
    slot, queue = st.empty(), st.empty()
    is_whole = _write(bench, FIRST)
    while True:
        with slot.container():
            draw()
        if is_whole:
            return
        hosting.give_way(queue)
        is_whole = _write(bench, PIECE)


def _write(bench: MaskExperiment, seconds: float) -> bool:
    """Let the model write for some seconds; return whether both texts, with and without the mask, are complete."""
    if not bench.model.writes:
        return True
    ways = [bench.start_writing(), bench.unmasked_writing()]
    if going := [way for way in ways if not way.done]:
        bounded.with_room(lambda: going[0].go_on(seconds))
    return all(way.done for way in ways)
