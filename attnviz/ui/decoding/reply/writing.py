"""Drawing of a reply while it is written: each token travels as soon as it is computed, its row of one head with it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from streamlit.delta_generator import DeltaGenerator

from attnviz.analysis.reply.reply import Reply
from attnviz.models.protocol import Model
from attnviz.pictures.reply.message import message_since
from attnviz.pictures.reply.state import ReplyState
from attnviz.ui import hosting, streamlit_internals
from attnviz.ui.cache import bounded
from attnviz.ui.decoding.reply import held
from attnviz.ui.frame.page import current_page
from attnviz.ui.markdown import literal
from attnviz.widgets.wire import Payload

_LOOK = 0.25  # seconds between two looks for room
_PATIENCE = 60.0  # seconds that a reply waits for room
_FULL = "The replies that are being written take all the memory that there is for replies."
_APART = 0.025  # seconds between two messages, at least


@dataclass
class ReplyWriter:
    """The reply of this run's page, its `place`, and `mount`, which draws a message there."""

    model: Model
    reply: Reply
    state: ReplyState
    place: DeltaGenerator
    mount: Callable[[Payload], None]

    @property
    def is_writing(self) -> bool:
        """Whether tokens are to follow."""
        return len(self.reply.written) < held.held().goal and not self.reply.ended

    def send(self) -> None:
        """Draw what the browser has not been sent yet, and what it may have missed."""
        mine, now = held.held(), time.monotonic()
        if mine.sent_site != self.state.site:
            mine.sent, mine.sent_site = 0, self.state.site
        mine.messages += 1
        since = min(mine.first_to_send(now), len(self.reply.tokens))
        payload = message_since(
            self.model, self.reply, self.state, since, key=mine.name, number=mine.messages, writing=self.is_writing
        )
        with self.place, streamlit_internals.drawn_again():
            self.mount(payload)
        mine.note_sent(now, len(self.reply.tokens))

    def write(self) -> bool:
        """Write until the reply has its goal's length, and draw each token; return whether anything was written.

        Raises ValueError if the visitor's turn does not come, if other replies take all the memory, or if the device
        has no memory left.
        """
        if not self.is_writing:
            return False
        with _room_for(self.reply):
            self._write()
        held.keep(self.reply)
        return True

    def _write(self) -> None:
        began = drawn = time.monotonic()
        while self.is_writing:
            bounded.with_room(lambda: self.reply.go_on(1))
            if len(self.reply.written) == 1:
                held.keep(self.reply)
            if time.monotonic() - drawn >= _APART or not self.is_writing:
                self.send()
                drawn = time.monotonic()
            if time.monotonic() - began >= hosting.SLICE:
                held.keep(self.reply)
                hosting.wait(current_page().above)
                began = time.monotonic()


@contextmanager
def _room_for(reply: Reply) -> Iterator[None]:
    """Wait until there is room to write another reply; meanwhile, give back the visitor's turn.

    Raises ValueError with one sentence if there is no room in time.
    """
    until, place = time.monotonic() + _PATIENCE, None
    while not held.ROOM.enter(reply):
        if time.monotonic() > until:
            raise ValueError(f"{_FULL} Press Go on in a moment.")
        hosting.give_back_turn()
        place = place or current_page().above.empty()
        place.info(literal(f"{_FULL} Yours begins when one of them ends."), icon=":material/hourglass_top:")
        time.sleep(_LOOK)
    try:
        if place is not None:
            place.empty()
            hosting.wait(current_page().above)
        yield
    finally:
        held.ROOM.leave(reply)
