"""Drawing of the model's text under the mask, piece by piece while it is written.

A long text takes a second and more: its beginning is there at once, and an edit never waits for its end.
"""

from collections.abc import Callable

import streamlit as st

from attnviz.app import hosting
from attnviz.app.cache import bounded
from attnviz.masks.page.experiment import MaskExperiment

FIRST, PIECE = 0.04, 0.1  # seconds: of the first piece, which is waited for, and of each later one


def drawn_while_written(bench: MaskExperiment, draw: Callable[[], object]) -> None:
    """Draw what is written so far, again and again until all is there; each drawing lets an edit break in."""
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
    """Let the model write for so long; whether nothing is left to write, with the mask and without."""
    if not bench.model.writes:
        return True
    ways = [bench.start_writing(), bench.unmasked_writing()]
    if going := [way for way in ways if not way.done]:
        bounded.with_room(lambda: going[0].go_on(seconds))
    return all(way.done for way in ways)
