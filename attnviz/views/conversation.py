"""A conversation as the model reads it: every token of the rendered template, with the turns named and marked."""

from collections.abc import Sequence
from html import escape

from attnviz.text.display import display_token
from attnviz.text.spans import Span
from attnviz.text.tokens import Token


def reading_html(tokens: Sequence[Token], spans: Sequence[Span]) -> str:
    """Draw tokens in their order; those in no span are the template's own, or, where `segment` is 1, were written."""
    if not spans:  # the template rewrites a turn: nothing tells its words from its own
        return f"<div class='chat-read'>{''.join(map(_token, tokens))}</div>"
    begins = {span.start: span for span in spans}
    parts, at = [], 0
    while at < len(tokens):
        span = begins.get(at)
        end = (
            span.end if span else next((place for place in range(at + 1, len(tokens)) if place in begins), len(tokens))
        )
        parts.append(_part(tokens[at:end], span))
        at = end
    return f"<div class='chat-read'>{''.join(parts)}</div>"


def _part(tokens: Sequence[Token], span: Span | None) -> str:
    inside = "".join(map(_token, tokens))
    if span is None:
        return f"<span class='in-template'>{inside}</span>"
    name = f"{span.name} (written)" if tokens[0].segment else span.name
    return f"<span class='said' data-role='{escape(span.role)}'><b>{escape(name)}</b>{inside}</span>"


def _token(token: Token) -> str:
    named = escape(display_token(token))
    classes = "token word" if token.starts_word else "token"
    return f"<span class='{classes}'>{named}</span>" + ("<br>" if "\n" in token.text else "")
