"""Encode a conversation as a checkpoint's template writes it, and find each turn among the tokens."""

from collections.abc import Sequence

from attnviz.models.huggingface.chat.template import ChatTemplate
from attnviz.models.huggingface.tokenization.spelling import EncodedText
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer
from attnviz.text.conversation import Turn
from attnviz.text.limits import TextError
from attnviz.text.spans import Span
from attnviz.text.tokens import Token

_REWRITTEN = "The chat template changes the text of turn {}, so no turn's tokens are marked."
_TRIMS = (str, str.strip, str.rstrip, str.lstrip)  # what templates do to a turn's text


def encode_conversation(
    text: CheckpointTokenizer, turns: Sequence[Turn], *, limit: int, name: str
) -> tuple[EncodedText, tuple[Span, ...], tuple[str, ...]]:
    """Encode turns; where the last one is not the assistant's, the beginning of its answer follows.

    Returns tokens with the text that the template made, the span of each turn's own text, and notes. Raises TextError
    for a model without a template, for a template that fails, and for more than `limit` tokens.
    """
    rendered, marked = render(text, turns, limit=limit, name=name)
    encoded = text.encode_rendered(rendered, limit=limit)
    places = find_turns(rendered, turns, marked)
    if isinstance(places, int):
        return encoded, (), (_REWRITTEN.format(places),)
    return encoded, _spans(encoded.tokens, turns, places), ()


def render(text: CheckpointTokenizer, turns: Sequence[Turn], *, limit: int, name: str) -> tuple[str, str]:
    """Return what the template makes of the turns, and of markers in the place of each turn's text.

    Raises TextError as `encode_conversation` does; for more characters than `limit` tokens have, before the template
    sees them.
    """
    template = ChatTemplate.of(text.tokenizer)
    if template is None:
        raise TextError(f"{name} has no chat template, so it takes a plain text and no conversation.")
    count, most = sum(len(turn.content) for turn in turns), text.most_characters(limit)
    if count > most:
        raise TextError(f"The conversation has {count:,} characters; at most {most:,} are read: shorten a turn.")
    begins_answer = turns[-1].role != "assistant"
    marked = [Turn(turn.role, _marker(number)) for number, turn in enumerate(turns)]
    rendered, found = (template.render(each, add_generation_prompt=begins_answer) for each in (turns, marked))
    return rendered, found


def _marker(number: int) -> str:
    """Return a text that no turn holds and no template changes: letters between two private characters."""
    return f"\ue123turn{number}\ue124"


def find_turns(rendered: str, turns: Sequence[Turn], marked: str) -> list[tuple[int, int]] | int:
    """Return the characters of each turn's text in a rendering, told by a rendering of markers in their places.

    The template may trim a text. Where it does anything else, the number of the first such turn, from 1, is returned.
    """
    places, at, rest = [], 0, marked
    for number, turn in enumerate(turns):
        before, found, rest = rest.partition(_marker(number))
        after = rest.partition(_marker(number + 1))[0]
        at += len(before)
        fits = (trim(turn.content) for trim in _TRIMS)
        kept = next((each for each in fits if rendered.startswith(each + after, at)), None)
        if not found or kept is None or not rendered.startswith(before, at - len(before)):
            return number + 1
        places.append((at, at + len(kept)))
        at += len(kept)
    return places


def _spans(tokens: Sequence[Token], turns: Sequence[Turn], places: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    """Name the tokens of each turn: "system", "user", "assistant", "user 2" and so on."""
    spans: list[Span] = []
    counts: dict[str, int] = {}
    for turn, (start, end) in zip(turns, places, strict=True):
        counts[turn.role] = counts.get(turn.role, 0) + 1
        inside = [i for i, token in enumerate(tokens) if start <= token.start < end or token.start < start < token.end]
        if inside:
            name = turn.role if counts[turn.role] == 1 else f"{turn.role} {counts[turn.role]}"
            spans.append(Span(name, inside[0], inside[-1] + 1, turn.role))
    return tuple(spans)
