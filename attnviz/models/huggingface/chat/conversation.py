"""Encode a conversation as a checkpoint's template writes it, and name each turn's tokens."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from attnviz.models.huggingface.chat.template import ChatTemplate, Rendering
from attnviz.models.huggingface.tokenization.spelling import EncodedText
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer
from attnviz.text.conversation import Turn
from attnviz.text.limits import TextError
from attnviz.text.spans import Span
from attnviz.text.tokens import Token
from attnviz.tracing.trace import Trace

_NO_BAND = {  # what a template does to turns, so that they have no band
    "changed": "The chat template changes the text of {}",
    "left out": "The chat template leaves out {}",
    "repeated": "The chat template repeats the text of {}",
    "late": "The chat template is too slow for attnviz to find {} in its text",
}
_DATED = "The chat template writes the date: on another day, this conversation has different tokens."


@dataclass(frozen=True)
class Conversation:
    """A conversation as the model reads it: its turns, the tokens of the template's text, and the spans of the turns
    that were found in it. With `continues` the text ends inside the last turn.
    """

    turns: tuple[Turn, ...]
    encoded: EncodedText
    spans: tuple[Span, ...]
    notes: tuple[str, ...]
    continues: bool = False

    def name_turns(self, trace: Trace) -> Trace:
        """Return a trace of this conversation with its turns as spans; the model's new tokens belong to the assistant's
        turn, unless they follow a closed turn of the assistant.
        """
        sentence, begin = trace.sentences[0], len(self.encoded.tokens)
        spans, is_answer = self.spans, self.continues or self.turns[-1].role != "assistant"
        if is_answer and len(sentence.tgt) > begin:
            turns = self.turns if self.continues else (*self.turns, Turn("assistant", ""))
            name = _names(turns)[-1]
            first = next((span.start for span in spans if span.name == name), begin)
            others = (span for span in spans if span.name != name)
            spans = (*others, Span(name, first, len(sentence.tgt), "assistant"))
        return replace(trace, sentences=(replace(sentence, spans=spans),))


def encode_conversation(
    text: CheckpointTokenizer, turns: tuple[Turn, ...], *, limit: int, name: str, continues: bool = False
) -> Conversation:
    """Encode turns. If the last turn is not the assistant's, the beginning of the assistant's answer follows. With
    `continues`, a last turn of the assistant is left open, so that the model can write on.

    Raises TextError for a model without a template, for a template that fails, and for more than `limit` tokens.
    """
    continues = continues and turns[-1].role == "assistant"
    rendered = render(text, turns, limit=limit, name=name, continues=continues)
    encoded = text.encode_rendered(rendered.text, limit=limit)
    notes = (*_notes(turns, rendered.places), *([_DATED] if rendered.is_dated else []))
    return Conversation(turns, encoded, _spans(encoded.tokens, turns, rendered.places), notes, continues)


def render(
    text: CheckpointTokenizer, turns: Sequence[Turn], *, limit: int, name: str, continues: bool = False
) -> Rendering:
    """Return what the template makes of the turns.

    Raises TextError as `encode_conversation` does; for more characters than `limit` tokens have, before the template
    sees them.
    """
    template = ChatTemplate.of(text.tokenizer)
    if template is None:
        raise TextError(f"{name} has no chat template, so it takes a plain text, not a conversation.")
    count, most = sum(len(turn.content) for turn in turns), text.most_characters(limit)
    if count > most:
        raise TextError(f"The conversation has {count:,} characters; at most {most:,} are read: shorten a turn.")
    return template.render(turns, add_generation_prompt=turns[-1].role != "assistant", continues=continues)


def _notes(turns: Sequence[Turn], places: Sequence[tuple[int, int] | str]) -> list[str]:
    """Write notes on what the template did to turns: turns without a band, and turns that it moved."""
    notes = []
    for done, sentence in _NO_BAND.items():
        those = [number for number, place in enumerate(places) if place == done]
        if those:
            end = "so this turn has no band." if len(those) == 1 else "so these turns have no bands."
            notes.append(f"{sentence.format(_turns(turns, those))}, {end}")
    found = [(place[0], number) for number, place in enumerate(places) if not isinstance(place, str)]
    for start, number in found:
        if any(place < start for place, later in found if later > number):
            after = max(each for each in found if each[0] < start)[1]
            notes.append(f"The chat template moves {_turns(turns, [number])} behind {_turns(turns, [after])}.")
    return notes


def _turns(turns: Sequence[Turn], numbers: Sequence[int]) -> str:
    """Name turns in a sentence: "turn 2 (assistant)", "turns 1 (system), 2 (user) and 3 (assistant)"."""
    *some, last = (f"{number + 1} ({turns[number].role})" for number in numbers)
    return f"turns {', '.join(some)} and {last}" if some else f"turn {last}"


def _names(turns: Sequence[Turn]) -> list[str]:
    """Name turns: "system", "user", "assistant", "user 2" and so on."""
    counts: dict[str, int] = {}
    names = []
    for turn in turns:
        counts[turn.role] = counts.get(turn.role, 0) + 1
        names.append(turn.role if counts[turn.role] == 1 else f"{turn.role} {counts[turn.role]}")
    return names


def _spans(tokens: Sequence[Token], turns: Sequence[Turn], places: Sequence[tuple[int, int] | str]) -> tuple[Span, ...]:
    """Name the tokens of each turn that was found, in the order of the text."""
    spans: list[Span] = []
    named = zip(_names(turns), turns, places, strict=True)
    found = sorted((place, name, turn.role) for name, turn, place in named if not isinstance(place, str))
    for (start, end), name, role in found:
        taken = spans[-1].end if spans else 0  # a token on the border of two turns is the first one's
        inside = [
            at
            for at, token in enumerate(tokens)
            if at >= taken and (start <= token.start < end or token.start < start < token.end)
        ]
        if inside:
            spans.append(Span(name, inside[0], inside[-1] + 1, role))
    return tuple(spans)
