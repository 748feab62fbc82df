"""The tab Reply: its controls, the reply, and a link that opens the reply on the page Heads.

While a reply is written, each token is sent to the browser once it is computed, with its attention row for one head.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.analysis.next_tokens import NextToken
from attnviz.app import hosting, layout, model_picker, mount, streamlit_internals
from attnviz.app.address import persistent
from attnviz.app.cache import bounded, traces
from attnviz.app.frame.chat_editor import MOST_TYPED
from attnviz.app.frame.page import current_page
from attnviz.app.markdown import literal
from attnviz.app.reports import NUMBER, TEXT, reported_value, reported_view
from attnviz.app.request import Request
from attnviz.decoding.page import controls
from attnviz.decoding.reply.numbers.reply import Reply
from attnviz.decoding.reply.page import held
from attnviz.decoding.reply.payload import Addition, ReplyState, ReplyStatus, reply_payload
from attnviz.kit.fields import MEAN, read, write_view
from attnviz.kit.wire import Payload
from attnviz.models.catalogue import Entry
from attnviz.models.protocol import Model
from attnviz.text.chat_link import write_chat
from attnviz.text.conversation import Turn
from attnviz.text.display import display, display_token

COMPONENT, _NEXT = "reply", "reply-next-question"


_LOOK = 0.25  # seconds between two checks for free memory
_PATIENCE = 60.0  # maximum seconds that a reply waits for memory
_FULL = "Other replies are being written, and they use all the memory that this server has for replies."
_APART = 0.025  # minimum seconds between two messages


@dataclass
class ReplyWriter:
    """Writes the reply on this page; `mount` draws a message at `place`."""

    model: Model
    reply: Reply
    state: ReplyState
    place: DeltaGenerator
    mount: Callable[[Payload], None]

    @property
    def is_writing(self) -> bool:
        """Whether more tokens are to be written."""
        return len(self.reply.written) < held.held().goal and not self.reply.ended

    def send(self) -> None:
        """Draw the tokens that the browser has not been sent yet, and those that it may have missed."""
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
        """Write until the reply has its intended length, and draw each token.

        Return whether anything was written. Raise ValueError if the visitor's turn does not come, if other replies take
        all the memory, or if the device has no memory left.
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
    """Wait until there is memory to write another reply, and give up the visitor's turn meanwhile.

    Raise ValueError with a message of one sentence if there is none in time.
    """
    until, place = time.monotonic() + _PATIENCE, None
    while not held.ROOM.enter(reply):
        if time.monotonic() > until:
            raise ValueError(f"{_FULL} Press Go on in a moment.")
        hosting.give_back_turn()
        place = place or current_page().above.empty()
        place.info(
            literal(f"{_FULL} Your reply will begin when one of the others ends."), icon=":material/hourglass_top:"
        )
        time.sleep(_LOOK)
    try:
        if place is not None:
            place.empty()
            hosting.wait(current_page().above)
        yield
    finally:
        held.ROOM.leave(reply)


def draw(request: Request) -> None:
    """Draw the tab Reply and the end of the page, then continue writing the reply if more tokens are to be written."""
    if not controls.writes_replies(request.entry):
        _name_another_model(request.entry)
    _write(_draw_page(request))


def _name_another_model(entry: Entry) -> None:
    """Say that this model writes no replies and which models do, and end the page."""
    does = "only reads" if traces.inputs(entry).is_pair else "only translates"
    said = f"This model {does}. For replies, open a chat model."
    if model_picker.is_free():
        said = f"{said[:-1]}: Model → Another model …"
        st.button("Another model …", icon=":material/folder_open:", on_click=model_picker.ask_for_another)
    layout.refuse(said)


def _draw_page(request: Request) -> ReplyWriter:
    """Draw everything that is already written.

    At the end, free the prompt's trace, which may be large, because writing takes minutes.
    """
    trace = layout.run_or_refuse(lambda: traces.attention(replace(request, new=0)))
    model = traces.model(request.entry.name)
    bar = st.container(key="reply-bar", horizontal=True, vertical_alignment="bottom", gap="xsmall")
    buttons = bar.container(horizontal=True, width="content", gap="xsmall")
    state = _draw_controls(_state(trace), bar)
    reply, state = layout.run_or_refuse(lambda: held.find_reply(model, request, state))
    layout.note(*reply.prompt.notes)
    with st.container(key="reply-picture"):
        place = st.empty()
    if not persistent.is_drawn("reply-shown"):
        held.held().sent = 0
    st.session_state["reply-shown"] = True
    writer = ReplyWriter(model, reply, state, place, _mount)
    _draw_next_question(request, writer)
    _draw_buttons(buttons, writer)
    writer.send()
    with bar:
        _draw_link_to_heads(request, reply, state)
    layout.end_page(request, trace, state)
    return writer


def _draw_next_question(request: Request, writer: ReplyWriter) -> None:
    """Draw the field for the next question below an answer of a conversation."""
    if request.messages and writer.reply.spoken.strip() and not writer.is_writing:
        st.text_input("Next question", key=_NEXT, max_chars=MOST_TYPED, on_change=_ask_next, args=(request.messages,))


def _ask_next(turns: tuple[Turn, ...]) -> None:
    """Add the answer and the next question to the conversation; forget the tokens chosen by hand for the answer."""
    asked = st.session_state[_NEXT].strip()
    if asked:
        said = (*turns, Turn("assistant", held.reply_to(turns)), Turn("user", asked))
        persistent.write({"chat": write_chat(said), "taken": None, "written": None})
        st.session_state[_NEXT] = ""


def _write(writer: ReplyWriter) -> None:
    try:
        if not writer.write():
            return
    except ValueError as why:
        current_page().add(str(why))  # shown by the next rerun
    _stop()
    held.held().handed_on = writer.reply if writer.reply.written else None
    st.rerun()


def _state(trace) -> ReplyState:
    bounds = {"layer": trace.n_layers, "head": trace.n_heads}
    found, problems = read(ReplyState, persistent.texts(), bounds)
    layout.note(*persistent.linked_problems(problems))
    return found


def _draw_controls(asked: ReplyState, bar) -> ReplyState:
    """Draw the controls for the choice of tokens."""
    controls.draw_one_of(asked, "choose", "Next token", bar, without=("beam",))
    if asked.choose == "sampled":
        for name, label in {"temperature": "Temperature", "top_p": "Top p", "seed": "Seed"}.items():
            controls.draw_number(asked, name, label, bar)
    controls.draw_number(asked, "limit", "At most", bar, width=92)
    return asked


def _draw_buttons(place, writer: ReplyWriter) -> None:
    """Draw the buttons Write or Go on (Stop while a reply is being written), and Step.

    Their callbacks receive numbers, never the reply itself.
    """
    reply, is_writing = writer.reply, writer.is_writing
    label, icon = ("Stop", "stop") if is_writing else ("Go on" if reply.written else "Write", "play_arrow")
    act, given = (_stop, ()) if is_writing else (_go_on, (reply.limit, reply.limit))
    place.button(  # one key for all three labels; a second button would stay visible until the run ends
        label, key="reply-go", icon=f":material/{icon}:", type="primary", on_click=act, args=given,
        disabled=bool(reply.ended),
    )  # fmt: skip
    place.button(
        "Step", key="reply-step", icon=":material/skip_next:", on_click=_go_on, args=(1, reply.limit),
        disabled=is_writing or bool(reply.ended),
    )  # fmt: skip


def _go_on(count: int, limit: int) -> None:
    mine = held.held()
    mine.goal = min(held.count_written() + count, limit)


def _stop() -> None:
    """Stop writing, and store the number of written tokens in the address."""
    mine = held.held()
    mine.goal = held.count_written()
    held.save(_taken(), mine.goal)


def _taken() -> dict[int, int]:
    """Return the tokens chosen by hand: those of the reply, or, if it was evicted, those in the address."""
    reply = held.held_reply()
    return dict(read(ReplyState, persistent.texts(), {})[0].taken if reply is None else reply.taken)


def _mount(payload: Payload) -> None:
    mount.reply(payload, key=COMPONENT, on_change=_adopt, on_take=_take, on_have=_send_again)


def _adopt() -> None:
    """Write the chosen layer and head into the address."""
    chosen = reported_view(COMPONENT, ReplyState) or {}
    persistent.write(write_view(ReplyState, {name: chosen[name] for name in ("layer", "head") if name in chosen}))


def _take() -> None:
    """Replace a token by the one that the visitor chose, and continue writing after it.

    An evicted reply is written again up to this token.
    """
    asked = reported_value(COMPONENT, "take", {"position": NUMBER, "id": NUMBER})
    mine, reply = held.held(), held.held_reply()
    if asked is None or not 0 <= asked["position"] < held.count_written():
        return
    position = asked["position"]
    if reply is not None and all(each.id != asked["id"] for each in reply.written[position].alternatives):
        return
    taken = {at: id_ for at, id_ in _taken().items() if at < position} | {position: asked["id"]}
    if reply is not None:
        reply.go_back(position)
        reply.taken = taken
        mine.sent = min(mine.sent, len(reply.tokens))
    mine.goal, mine.written = read(ReplyState, persistent.texts(), {})[0].limit, position
    held.save(taken, position)


def _send_again() -> None:
    """Send again the tokens that the browser reports as missing."""
    said = reported_value(COMPONENT, "have", {"key": TEXT, "count": NUMBER})
    mine = held.held()
    if said is not None:
        mine.sent = max(0, min(said["count"], mine.sent)) if said["key"] == mine.name else 0


def _draw_link_to_heads(request: Request, reply: Reply, state: ReplyState) -> None:
    """Draw the link to the page Heads, once something is written."""
    if not reply.spoken.strip():
        return
    site = {"kind": "decoder_self", "layer": str(state.layer), "head": str(state.head)}
    query = persistent.link_to("Heads", site | {"tab": "", "zoom": "", "new": ""} | _texts_of_heads(request, reply))
    st.page_link("pages/heads.py", label="Look at it on Heads", query_params=query)


def _texts_of_heads(request: Request, reply: Reply) -> dict[str, str]:
    """Return the address parameters for Heads: the conversation with the reply as its last turn, or the text."""
    if request.messages:
        return {"chat": write_chat((*request.messages, Turn("assistant", reply.spoken)))}
    return {"src": request.src + reply.spoken}


def message_since(
    model: Model, reply: Reply, state: ReplyState, since: int, *, key: str, number: int, writing: bool
) -> Payload:
    """Return the message with the tokens of prompt and reply from index `since` on, and their attention rows
    for one head.

    A row has the index of its token; the last token has no row yet.
    """
    prompt, written = len(reply.prompt.encoded.tokens), reply.written
    first = max(0, since - prompt)
    # The prompt's rows are computed together with the first token.
    first_row = min(since - 1, reply.row_count) if since > prompt else 0
    layer, head = (None if at == MEAN else at for at in state.site)
    rows = _rows(reply, layer, head, first_row)  # type: ignore[arg-type]
    added = Addition(
        since,
        reply.tokens[since:],
        [[_alternative(model, each) for each in one.alternatives] for one in written[first:]],
        [one.is_taken for one in written[first:]],
        first_row,
        rows,
    )
    status = ReplyStatus(
        key, prompt, reply.prompt.spans, writing, reply.ended, reply.limit,
        model.shapes["decoder_self"], state.site,
    )  # fmt: skip
    return reply_payload(status, added, number=number, view={"layer": state.layer, "head": state.head})


def _rows(reply: Reply, layer: int | None, head: int | None, first: int) -> list[Any]:
    if first >= reply.row_count:
        return []
    made = reply.rows.mean(layer=layer, head=head, start=first, stop=reply.row_count)
    return [row[: first + at + 1] for at, row in enumerate(made)]


def _alternative(model: Model, token: NextToken) -> tuple[str, float, float, int, str]:
    named = model.decode_ids((token.id,))[1][0]
    return display_token(named), token.probability, token.drawn, token.id, display(named.piece) if named.piece else ""
