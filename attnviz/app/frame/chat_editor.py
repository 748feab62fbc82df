"""The editor of a conversation in the top bar: a choice between a text and a conversation, and a field per turn.

A text becomes the first user turn of a conversation, and the first user turn becomes the text. The other turns are kept
for the next time that the visitor chooses a conversation.
"""

from collections.abc import Callable

import streamlit as st

from attnviz.app.address import persistent, widgets
from attnviz.app.frame.page import current_page
from attnviz.app.markdown import literal
from attnviz.doors import door
from attnviz.text.chat_link import last_user_text, read_draft, replace_last_user_text, write_chat
from attnviz.text.conversation import MOST_TURNS, Role, Turn
from attnviz.text.display import display
from attnviz.text.limits import cut_to_limit

NAME = "chat"
MOST_TYPED = 8_192  # characters of a text, or of all turns together: the address carries them
_FORMS = {"text": "Text", "conversation": "Conversation"}
_KEPT = "_attnviz_turns"  # of the conversation that was left for a plain text
_TITLES: dict[Role, str] = {"system": "System", "user": "User", "assistant": "Assistant"}
_ADDS: dict[Role, str] = {
    "system": "Add a system turn",
    "user": "Add a user turn",
    "assistant": "Add an assistant turn",
}
_PLUS = ":material/add:"
_MOST_SAID = 60  # characters of a question on the button


def draw_choice(default_text: str) -> None:
    """Draw the choice between a text and a conversation; `default_text` is used while no text was typed."""
    value, shown = "conversation" if persistent.text(NAME) else "text", "form-shown"

    def draw(**more) -> str:
        return st.selectbox("Input", list(_FORMS), format_func=_FORMS.__getitem__, **more)

    def take() -> None:
        begin = {"conversation": _begin, "text": _end}[st.session_state[shown]]
        begin(persistent.text("src", default_text))

    widgets.show(shown, value, {"index": list(_FORMS).index(value)}, draw, take)


def draw(turns: tuple[Turn, ...]) -> None:
    """Draw the button that opens the conversation's turns, and a place for the text that the model reads."""
    question = display(last_user_text(turns)[:_MOST_SAID]) if last_user_text(turns).strip() else "no question yet"
    label = f"{_count(len(turns), 'turn')}: {question}"
    with st.container(key="chat-open"), st.popover(literal(label), width="stretch", key="chat-popover"):
        with st.container(key="chat-turns", gap="small"):
            if turns[0].role != "system":
                _button(
                    "chat-add-system", ":material/add: Add a system turn", lambda: _write((Turn("system", ""), *turns))
                )
            for number, turn in enumerate(turns):
                _draw_turn(turns, number, turn)
            if len(turns) < MOST_TURNS:
                follows = _next_role(turns)
                _button("chat-add", _ADDS[follows], lambda: _add(turns, follows), icon=_PLUS)
        current_page().reading = st.container(key="chat-reading")


def use_question(text: str, turns: tuple[Turn, ...]) -> None:
    """Replace the user's last turn by another question."""
    _write(replace_last_user_text(turns, text) if last_user_text(turns) else (Turn("user", text),))


def _begin(text: str) -> None:
    """Begin a conversation whose first user turn is `text`. Turns of a conversation that was left earlier come back."""
    kept: tuple[Turn, ...] = st.session_state.get(_KEPT, ())
    first = next((number for number, turn in enumerate(kept) if turn.role == "user"), None)
    turns = (Turn("user", text),) if first is None else (*kept[:first], Turn("user", text), *kept[first + 1 :])
    persistent.write({NAME: write_chat(turns), "src": None, "tgt": None})


def _end(_: str) -> None:
    """Go back to a plain text, which is the first user turn. The conversation is kept for this visit."""
    st.session_state[_KEPT] = turns = read_draft(persistent.text(NAME))
    first = next((turn.content for turn in turns if turn.role == "user"), "")
    persistent.write({NAME: None, "src": first})


def _draw_turn(turns: tuple[Turn, ...], number: int, turn: Turn) -> None:
    shown = f"chat-{number}-shown"

    def draw(**more) -> str | None:
        return st.text_area(f"{number + 1}. {_TITLES[turn.role]}", height="content", **more)

    def take() -> None:
        others = sum(len(other.content) for other in turns) - len(turn.content)
        typed, note = cut_to_limit(st.session_state[shown] or "", max(0, MOST_TYPED - others))
        if note:
            current_page().add(f"Turn {number + 1}: {note[0].lower()}{note[1:]}")
        _write((*turns[:number], Turn(turn.role, typed), *turns[number + 1 :]))

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"chat-row-{number}"):
        widgets.show(shown, turn.content, {"value": turn.content}, draw, take)
        if (rest := _without(turns, number)) is not None:
            removed = len(turns) - len(rest)
            means = "Remove this turn" if removed == 1 else "Remove this turn and the one after it"
            _button(f"chat-remove-{number}", f"Remove turn {number + 1}", lambda: _write(rest), means)


def _without(turns: tuple[Turn, ...], number: int) -> tuple[Turn, ...] | None:
    """Return the turns without one of them and the turn after it, so that user and assistant still alternate.

    A system turn and the last turn are removed alone. Returns None if no user turn would be left.
    """
    is_last, is_system = number == len(turns) - 1, turns[number].role == "system"
    rest = (*turns[:number], *turns[number + (1 if is_last or is_system else 2) :])
    return rest if any(turn.role == "user" for turn in rest) else None


def _next_role(turns: tuple[Turn, ...]) -> Role:
    return "assistant" if turns[-1].role == "user" else "user"


def _add(turns: tuple[Turn, ...], role: Role) -> None:
    """Add a turn. An assistant turn starts with the reply that the page Decoding has written to these turns, if any."""
    _write((*turns, Turn(role, door("reply_to")(turns) if role == "assistant" else "")))


def _write(turns: tuple[Turn, ...]) -> None:
    persistent.write({NAME: write_chat(turns)})


def _button(key: str, label: str, take: Callable[[], None], means: str = "", *, icon: str | None = None) -> None:
    st.button(label, key=key, on_click=take, help=means or None, type="tertiary", icon=icon)
    persistent.catch_up(key, take)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
