"""The one reply of each visitor's session, kept in a cache that all visitors share and that is bounded in bytes.

An evicted reply is written again: the same choices give the same tokens. The session, and the callbacks given to
Streamlit, therefore refer to a reply by name and never hold it, because sessions live as long as browsers are open.
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
from attnviz.decoding.reply.payload import MOST_TAKEN, ReplyState, begin_reply, write_taken
from attnviz.models.protocol import Model
from attnviz.text.conversation import Turn

_HELD = "decoding-reply"
_OVERLAP = 0.3  # seconds
_MOST = budget.bytes_for("replies")


def _size(reply: Reply) -> float:
    """Estimate the bytes of a reply at its maximum length; infinite before its first token."""
    if not reply.row_count:
        return inf
    most = len(reply.prompt.encoded.tokens) + min(reply.limit, reply.prompt.places)
    return reply.nbytes * most / reply.row_count


_replies: BoundedCache[str, Reply] = BoundedCache(
    most=_MOST, size=lambda reply: _size(reply) if reply.row_count else reply.nbytes
)


class ReplyRoom:
    """Memory limit for all replies that are being written, whether or not they are in the cache.

    Replies are admitted up to `most` bytes in total; a single reply is always admitted. The size of a reply is unknown
    before its first token, and until then no other reply is admitted.
    """

    def __init__(self, most: float) -> None:
        self._most, self._lock = most, Lock()
        self._writing: list[Reply] = []

    def enter(self, reply: Reply) -> bool:
        """Admit a reply if there is memory for it; return whether it was admitted."""
        with self._lock:
            others = sum(map(_size, self._writing))
            if others and others + (_size(reply) if reply.row_count else 0) > self._most:
                return False
            self._writing.append(reply)
            return True

    def leave(self, reply: Reply) -> None:
        """Release the memory of a reply that is no longer being written."""
        with self._lock:
            self._writing = [each for each in self._writing if each is not reply]


ROOM = ReplyRoom(_MOST)


@dataclass
class HeldReply:
    """What a session stores about its reply.

    `name` is the reply's name in the cache; `prompt`, `turns` and `how` say what it answers and how tokens are chosen.
    `goal` is the number of tokens to write, and `written` the number written. `sent`, `sent_site` and `messages` say
    what the browser was last sent: number of tokens, layer and head, and number of messages. `handed_on` passes the
    reply from the end of a run that wrote it to the next run, because another reply may have replaced it in the cache
    in between.
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
    recent: deque[tuple[float, int]] = field(default_factory=deque)  # (time, tokens sent before) of recent messages

    def first_to_send(self, now: float) -> int:
        """Return the first token to send.

        It overlaps the last message, because Streamlit may drop a message in favour of a later one.
        """
        while self.recent and now - self.recent[0][0] > _OVERLAP:
            self.recent.popleft()
        return min([self.sent, *(before for _, before in self.recent)])

    def note_sent(self, now: float, count: int) -> None:
        """Record that `count` tokens have been sent to the browser."""
        self.recent.append((now, self.sent))
        self.sent = count

    def renew(self) -> None:
        """Remove the reply from the cache, and choose a new name for the next one, so that the browser discards old
        data.
        """
        _replies.forget(lambda name: name == self.name)
        self.name, self.sent, self.handed_on = secrets.token_hex(8), 0, None


def held() -> HeldReply:
    """Return the `HeldReply`: what this visitor's session stores about its reply."""
    return st.session_state.setdefault(_HELD, HeldReply())


def held_reply() -> Reply | None:
    """Return this session's reply; None if there is none, or if it was evicted."""
    return _replies.find(held().name)


def reply_to(turns: tuple[Turn, ...]) -> str:
    """Return the text of the session's reply to these turns; "" if it answers other turns."""
    reply = held_reply()
    return reply.spoken if reply is not None and held().turns == turns else ""


def count_written() -> int:
    """Return the number of tokens in this session's reply; for an evicted reply, the last known number."""
    reply = held_reply()
    return held().written if reply is None else len(reply.written)


def find_reply(model: Model, request: Request, state: ReplyState) -> tuple[Reply, ReplyState]:
    """Return the reply that the address asks for, and the state that results.

    It is the session's own reply, with tokens removed until it agrees with the address, or a new reply. A new reply
    ignores choices that belonged to the previous reply: tokens chosen by hand are forgotten, and if only the way of
    choosing changed, as many tokens are written as before. Raise ValueError with a message of one sentence.
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
    """Write the tokens chosen by hand and the number of written tokens into the address."""
    pairs = tuple(sorted(taken.items()))[:MOST_TAKEN]
    held().seen = written, write_taken(pairs)
    persistent.write({"taken": write_taken(pairs) or None, "written": str(written) if written else None})


def _take_back(reply: Reply, taken: dict[int, int], goal: int) -> None:
    """Remove tokens from the end of a reply until it agrees with the address and has at most `goal` tokens.

    A reply has more tokens than `goal` if the visitor pressed *Stop* while the previous run was writing a token,
    because Streamlit starts the next run before that step is finished.
    """
    others = [at for at in {*taken, *reply.taken} if taken.get(at) != reply.taken.get(at)]
    until = min([*others, goal])
    if until < len(reply.written):
        reply.go_back(until)
        held().sent = min(held().sent, len(reply.tokens))
    reply.taken = dict(taken)


def keep(reply: Reply) -> None:
    """Store a reply that has grown in the cache again, so that the cache counts its additional bytes."""
    name, held().written = held().name, len(reply.written)
    _replies.forget(lambda other: other == name)
    _replies.get(name, read=lambda *_: reply)
    give_memory_back(now_and_then=True)


def _begin(model: Model, request: Request, state: ReplyState) -> Reply:
    turns = [turn.as_message for turn in request.messages]
    held().sent = 0
    return begin_reply(model, state, messages=turns, text=request.src, interventions=request.interventions)
