"""A conversation in the top bar instead of a prompt, for a model with a chat template.

The address holds the conversation in its text `chat`. It is kept exactly as written, even with an empty turn; a
sentence on the page says what is wrong with it.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from attnviz.app.address import persistent
from attnviz.app.cache import traces
from attnviz.app.frame import chat_editor
from attnviz.app.frame.chat_editor import NAME
from attnviz.app.frame.page import current_page
from attnviz.kit.fields import Problem
from attnviz.models import chat
from attnviz.models.catalogue import Entry
from attnviz.text import chat_link
from attnviz.text.conversation import Turn, read_turns
from attnviz.text.display import display_token
from attnviz.text.limits import TextError
from attnviz.text.tokens import Span, Token


def turns(entry: Entry) -> tuple[Turn, ...]:
    """Return the turns of the address's conversation; () for a plain text, or for a model without a chat template.

    Turns that the visitor has not typed yet are left out. If the conversation cannot be run, the reason becomes the
    page's refusal.
    """
    if not persistent.text(NAME) or current_page().refusal:
        return ()
    try:
        loaded = traces.model(entry.name)
        if not chat.takes_chat(loaded):
            say_unsupported(
                f"{entry.title} has no chat template, so the model reads only the last question, as plain text."
            )
            return ()
        drafted = chat_link.read_draft(persistent.text(NAME))
    except TextError as why:
        say_unsupported(str(why))
        return ()
    typed = _without_empty_turns(drafted)
    try:
        return read_turns(typed)
    except TextError as why:
        current_page().refusal = str(why)
    return typed


def _without_empty_turns(drafted: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Leave out the turns that the visitor has not typed yet, and note that on the page.

    User and assistant must alternate, so if a question or its answer is empty, both are left out, unless the answer is
    the last turn. A conversation that would lose all its user turns stays unchanged.
    """
    empty = {number for number, turn in enumerate(drafted) if not turn.content.strip()}
    last = max((number for number in range(len(drafted)) if number not in empty), default=-1)
    left_out = empty | {_partner(drafted, number) for number in empty if number <= last}
    kept = tuple(turn for number, turn in enumerate(drafted) if number not in left_out)
    if not empty or not any(turn.role == "user" for turn in kept):
        return drafted
    for number in sorted(empty):
        other = _partner(drafted, number)
        more = f" Turn {other + 1}, which belongs to this turn, is left out, too." if other in left_out - empty else ""
        current_page().add(f"Turn {number + 1} is empty and is not read yet. Please type it in the conversation.{more}")
    return kept


def _partner(drafted: tuple[Turn, ...], number: int) -> int:
    """Return the index of the answer to a question, or of the question to an answer; `number` itself without either."""
    role = drafted[number].role
    other = number + {"user": 1, "assistant": -1}.get(role, 0)
    is_pair = 0 <= other < len(drafted) and {role, drafted[other].role} == {"user", "assistant"}
    return other if is_pair else number


def drafted_turns() -> tuple[Turn, ...]:
    """Return the turns of the address's conversation, empty ones included; () without a conversation."""
    try:
        return chat_link.read_draft(persistent.text(NAME)) if persistent.text(NAME) else ()
    except TextError:
        return ()


def render_ahead(entry: Entry, asked: tuple[Turn, ...]) -> None:
    """Render the conversation with the model's chat template before this run takes its turn in the server's queue.

    Other visitors wait while a turn lasts. If the template refuses the conversation, its message becomes the page's
    refusal.
    """
    if not asked or current_page().refusal:
        return
    try:
        render = getattr(traces.model(entry.name), "render_ahead", None)  # None if an engine has the template
        if render is not None:
            render(asked)
    except ValueError as why:
        current_page().refusal = str(why)


def is_offered(entry: Entry) -> bool:
    """Whether the bar offers a conversation: the model has a chat template."""
    try:
        return not current_page().refusal and chat.takes_chat(traces.model(entry.name))
    except ValueError:
        return False


def draw_reading(trace: Any) -> None:
    """Draw the rendered text of a conversation in the top bar, as the model reads it."""
    place = current_page().reading
    if place is None:
        return

    sentence = trace.sentences[0]
    with place:
        st.html("<p class='chat-label'>As the model reads it: the template’s own tokens are in italics</p>")
        st.html(_reading_html(sentence.tgt, sentence.spans))


def use_example(text: str) -> bool:
    """Replace the conversation's last question by an example. Return False if there is no conversation."""
    try:
        drafted = chat_link.read_draft(persistent.text(NAME)) if persistent.text(NAME) else ()
    except TextError:
        return False
    if drafted:
        chat_editor.use_question(text, drafted)
    return bool(drafted)


def waiting_turns(entry: Entry) -> tuple[Turn, ...]:
    """Return the conversation that the other pages would run, for a page without a top bar; () if it cannot be run."""
    try:
        has_chat = chat.takes_chat(traces.model(entry.name))
        return chat_link.read_chat(persistent.text(NAME)) if has_chat else ()
    except ValueError:
        return ()


def say_unsupported(sentence: str) -> None:
    """Show `sentence` if the opened link has a conversation that this model does not read.

    A conversation that was typed for another model leaves the address silently.
    """
    if persistent.text(NAME):
        problem = Problem(sentence)
        problem.name, problem.is_part = NAME, False
        current_page().add(*persistent.linked_problems([problem]))


def last_user_text() -> str:
    """Return the last user turn's text in the address's conversation; "" if there is none, or if it cannot be read."""
    try:
        drafted = chat_link.read_draft(persistent.text(NAME)) if persistent.text(NAME) else ()
    except TextError:
        return ""
    return chat_link.last_user_text(drafted)


def _reading_html(tokens: Sequence[Token], spans: Sequence[Span]) -> str:
    """Render the tokens in order as HTML, turn by turn.

    Tokens outside all spans belong to the chat template, or were written by the model if their `segment` is 1.
    """
    if not spans:  # the template rewrites a turn: nothing tells its words from its own
        return f"<div class='chat-read'>{''.join(map(_token_html, tokens))}</div>"
    begins = {span.start: span for span in spans}
    parts, at = [], 0
    while at < len(tokens):
        span = begins.get(at)
        end = (
            span.end if span else next((place for place in range(at + 1, len(tokens)) if place in begins), len(tokens))
        )
        parts.append(_turn_html(tokens[at:end], span))
        at = end
    return f"<div class='chat-read'>{''.join(parts)}</div>"


def _turn_html(tokens: Sequence[Token], span: Span | None) -> str:
    inside = "".join(map(_token_html, tokens))
    if span is None:
        return f"<span class='in-template'>{inside}</span>"
    name = f"{span.name} (written)" if tokens[0].segment else span.name
    return f"<span class='said' data-role='{escape(span.role)}'><b>{escape(name)}</b>{inside}</span>"


def _token_html(token: Token) -> str:
    named = escape(display_token(token))
    classes = "token word" if token.starts_word else "token"
    return f"<span class='{classes}'>{named}</span>" + ("<br>" if "\n" in token.text else "")
