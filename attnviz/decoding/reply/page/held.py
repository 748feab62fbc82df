"""The one reply that a visitor's session holds, in a cache that all visitors share, bounded by bytes.

A reply that was evicted is written again: the same choices give the same tokens. So the session itself, and what it
gives to Streamlit as callbacks, holds the name of a reply and never the reply: sessions live for as long as browsers
are open.
"""

import secrets
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from threading import Lock

import streamlit as st

from attnviz.app.address import persistent
from attnviz.app.cache import budget
from attnviz.app.cache.bounded import BoundedCache, give_memory_back
from attnviz.app.request import Request
from attnviz.decoding.reply.numbers.reply import Reply
from attnviz.decoding.reply.state import MOST_TAKEN, ReplyState, begin_reply, write_taken
from attnviz.models.protocol import Model
from attnviz.text.conversation import Turn

_HELD = "decoding-reply"
_OVERLAP = 0.3  # seconds
_MOST = budget.bytes_for("replies")


def _size(reply: Reply) -> float:
    """Estimate the bytes of a reply at its greatest length; infinite before its first token."""
    if not reply.row_count:
        return inf
    most = len(reply.prompt.encoded.tokens) + min(reply.limit, reply.prompt.places)
    return reply.nbytes * most / reply.row_count


_replies: BoundedCache[str, Reply] = BoundedCache(
    most=_MOST, size=lambda reply: _size(reply) if reply.row_count else reply.nbytes
)


class ReplyRoom:
    """Limit on the replies that are being written, whether the cache holds them or not: at most so many bytes of them,
    or one reply alone.

    A reply's size is unknown until its first token is there; until then, no other reply begins.
    """

    def __init__(self, most: float) -> None:
        self._most, self._lock = most, Lock()
        self._writing: list[Reply] = []

    def enter(self, reply: Reply) -> bool:
        """Admit a reply if there is room for it; return whether it was admitted."""
        with self._lock:
            others = sum(map(_size, self._writing))
            if others and others + (_size(reply) if reply.row_count else 0) > self._most:
                return False
            self._writing.append(reply)
            return True

    def leave(self, reply: Reply) -> None:
        """Give back the room of a reply that is no longer being written."""
        with self._lock:
            self._writing = [each for each in self._writing if each is not reply]


ROOM = ReplyRoom(_MOST)


@dataclass
class HeldReply:
    """What a session knows of its reply: its name in the cache; what it answers (`prompt`, `turns`) and how; how many
    tokens it is to have (`goal`) and has (`written`); and what the browser was last sent: how many tokens, of which
    head, in how many messages. `handed_on` passes the reply itself from the end of a run that has written to the next
    run, which draws it: in between, another reply may have taken its place in the cache.
    """

    name: str = field(default_factory=lambda: secrets.token_hex(8))
    prompt: str = ""
    turns: tuple[Turn, ...] = ()
    how: str = ""
    goal: int = 0
    written: int = 0
    handed_on: Reply | None = None
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
        self.name, self.sent, self.handed_on = secrets.token_hex(8), 0, None


def held() -> HeldReply:
    """Return what this session knows of its reply."""
    return st.session_state.setdefault(_HELD, HeldReply())


def held_reply() -> Reply | None:
    """Return this session's reply; None if there is none, or if it was evicted."""
    return _replies.find(held().name)


def reply_to(turns: tuple[Turn, ...]) -> str:
    """Return the text of the held reply to these turns; "" if the reply answers other turns."""
    reply = held_reply()
    return reply.spoken if reply is not None and held().turns == turns else ""


def count_written() -> int:
    """Count the tokens of this session's reply, as last noted where it was evicted."""
    reply = held_reply()
    return held().written if reply is None else len(reply.written)


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
        state = replace(state, taken=(), written=state.written if prompt == mine.prompt else 0)
        save({}, state.written)
    if is_other:
        mine.renew()
        mine.prompt, mine.turns, mine.how = prompt, request.messages, how
    if is_other or is_linked:
        mine.goal = state.written
    mine.seen = state.written, write_taken(state.taken)
    found = _replies.get(mine.name, read=lambda *_: mine.handed_on or _begin(model, request, state))
    mine.handed_on = None
    found.limit = state.limit
    _take_back(found, dict(state.taken), mine.goal)
    mine.written = len(found.written)
    return found, state


def save(taken: Mapping[int, int], written: int) -> None:
    """Write into the address which tokens were chosen by hand and how many are written."""
    pairs = tuple(sorted(taken.items()))[:MOST_TAKEN]
    held().seen = written, write_taken(pairs)
    persistent.write({"taken": write_taken(pairs) or None, "written": str(written) if written else None})


def _take_back(reply: Reply, taken: dict[int, int], goal: int) -> None:
    """Go back to the first token that the address has otherwise, and to at most `goal` tokens.

    A reply has more tokens than its goal when *Stop* came while the run before was writing a token: Streamlit starts
    the next run while the one before finishes its step.
    """
    others = [at for at in {*taken, *reply.taken} if taken.get(at) != reply.taken.get(at)]
    until = min([*others, goal])
    if until < len(reply.written):
        reply.go_back(until)
        held().sent = min(held().sent, len(reply.tokens))
    reply.taken = dict(taken)


def keep(reply: Reply) -> None:
    """Put a reply that has grown back into the cache, which counts its bytes anew."""
    name, held().written = held().name, len(reply.written)
    _replies.forget(lambda other: other == name)
    _replies.get(name, read=lambda *_: reply)
    give_memory_back(now_and_then=True)


def _begin(model: Model, request: Request, state: ReplyState) -> Reply:
    turns = [turn.as_message for turn in request.messages]
    held().sent = 0
    return begin_reply(model, state, messages=turns, text=request.src, interventions=request.interventions)
