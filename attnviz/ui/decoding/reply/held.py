"""The reply that a visitor's session holds: one, in a cache that all visitors share, bounded by bytes.

A reply that was evicted is written again: the same choices give the same tokens.
"""

import secrets
from collections import deque
from dataclasses import dataclass, field, replace

import streamlit as st

from attnviz.analysis.reply.reply import Reply
from attnviz.models.protocol import Model
from attnviz.pictures.reply.state import MOST_TAKEN, ReplyState, begin_reply, write_taken
from attnviz.ui.address import persistent
from attnviz.ui.cache import budget
from attnviz.ui.cache.bounded import BoundedCache
from attnviz.ui.request import Request

_HELD = "decoding-reply"
_OVERLAP = 0.3  # seconds


def _size(reply: Reply) -> float:
    """Estimate the bytes of a reply when it is as long as its limit lets it be."""
    most = len(reply.prompt.encoded.tokens) + reply.limit
    return reply.nbytes * most / max(1, reply.row_count)


_replies: BoundedCache[str, Reply] = BoundedCache(most=budget.bytes_for("replies"), size=_size)


@dataclass
class HeldReply:
    """What a session knows of its reply: its name in the cache, what it answers (`prompt`) and how, how many tokens are
    to be there (`goal`), and what the browser was last sent: how much, of which head, in how many messages.
    """

    name: str = field(default_factory=lambda: secrets.token_hex(8))
    prompt: str = ""
    how: str = ""
    goal: int = 0
    seen: tuple[int, str] | None = None
    sent: int = 0
    sent_site: tuple[int | str, int | str] = (0, 0)
    messages: int = 0
    recent: deque[tuple[float, int]] = field(default_factory=deque)  # when how many tokens had been sent, lately

    def first_to_send(self, now: float) -> int:
        """Return from which token on the next message brings them: what was sent a moment ago is sent once more, since
        Streamlit may drop a message for a later one.
        """
        while self.recent and now - self.recent[0][0] > _OVERLAP:
            self.recent.popleft()
        return min([self.sent, *(before for _, before in self.recent)])

    def note_sent(self, now: float, count: int) -> None:
        """Note that the browser was sent all of so many tokens."""
        self.recent.append((now, self.sent))
        self.sent = count

    def renew(self) -> None:
        """Give the reply another name: what the browser has belongs to another one."""
        _replies.forget(lambda name: name == self.name)
        self.name, self.sent = secrets.token_hex(8), 0


def held() -> HeldReply:
    """Return what this session knows of its reply."""
    return st.session_state.setdefault(_HELD, HeldReply())


def find_reply(model: Model, request: Request, state: ReplyState) -> tuple[Reply, ReplyState]:
    """Return the reply that the address asks for, and what the address says then: the reply that is held, taken back as
    far as the address says, or a new one.

    What the address says of another reply is no news of a new one: tokens chosen by hand are forgotten, and where only
    the choosing is another, as many tokens are written as there were. Raises ValueError with one sentence.
    """
    mine = held()
    prompt, how = (
        repr((model.model_id, request.src, request.messages, request.do)),
        repr(state.choosing),
    )
    is_linked, is_other = (
        (state.written, write_taken(state.taken)) != mine.seen,
        (prompt, how) != (mine.prompt, mine.how),
    )
    if is_other and not is_linked:
        state = save(state, {}, state.written if prompt == mine.prompt else 0)
    if is_other:
        mine.renew()
        mine.prompt, mine.how = prompt, how
    if is_other or is_linked:
        mine.goal = state.written
    mine.seen = state.written, write_taken(state.taken)
    found = _replies.get(mine.name, read=lambda *_: _begin(model, request, state))
    found.limit = state.limit
    _take_back(found, dict(state.taken), state.written if is_linked else None)
    return found, state


def save(state: ReplyState, taken: dict[int, int], written: int) -> ReplyState:
    """Write into the address which tokens were chosen by hand and how many are written."""
    pairs = tuple(sorted(taken.items()))[:MOST_TAKEN]
    held().seen = written, write_taken(pairs)
    persistent.write({"taken": write_taken(pairs) or None, "written": str(written) if written else None})
    return replace(state, taken=pairs, written=written)


def _take_back(reply: Reply, taken: dict[int, int], written: int | None) -> None:
    """Go back to the first token that the address has otherwise, and to as many tokens as it says."""
    others = [at for at in {*taken, *reply.taken} if taken.get(at) != reply.taken.get(at)]
    until = min([*others, len(reply.written) if written is None else written])
    if until < len(reply.written):
        reply.go_back(until)
        held().sent = min(held().sent, len(reply.tokens))
    reply.taken = dict(taken)


def keep(reply: Reply) -> None:
    """Put a reply that has grown back into the cache, which counts its bytes anew."""
    name = held().name
    _replies.forget(lambda other: other == name)
    _replies.get(name, read=lambda *_: reply)


def _begin(model: Model, request: Request, state: ReplyState) -> Reply:
    turns = [turn.as_message for turn in request.messages]
    held().sent = 0
    return begin_reply(model, state, messages=turns, text=request.src, interventions=request.interventions)
