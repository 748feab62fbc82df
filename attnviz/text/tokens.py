"""Tokens and spans of tokens.

A token is an id with the part of the sentence that it encodes. A span is neighbouring tokens with a common name, such
as a turn of a conversation or a passage of a prompt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Token:
    """One token of a sentence.

    `text` is the part of the sentence that the token encodes, as typed or as the model wrote it, or a special token's
    name. `start` and `end` count characters of that sentence: `sentence[start:end] == text` for every token that is not
    special. `starts_word` is False for a piece that continues the word of the token before it. `segment` is 1 in the
    second sentence of a pair and in what a model wrote after its prompt, otherwise 0. `piece` is the token's entry in
    the vocabulary, or "" if the entry is not known. `is_unknown` marks the entry that the vocabulary uses for all text
    without a piece, so that the model cannot tell such texts apart. `place` is the image, row and column of the token's
    patch, each counted from 0, or None.
    """

    text: str
    id: int
    start: int
    end: int
    is_special: bool = False
    starts_word: bool = True
    segment: int = 0
    piece: str = ""
    is_unknown: bool = False
    place: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class Span:
    """Tokens from `start` up to but excluding `end`, counted from 0, with a name.

    `role` is the speaker of a turn, "template" for tokens that a chat template adds, and "" for a span that a user or a
    rule has named.
    """

    name: str
    start: int
    end: int
    role: str = ""

    def __len__(self) -> int:
        return self.end - self.start

    def __contains__(self, position: object) -> bool:
        return isinstance(position, int) and self.start <= position < self.end


def check_spans(spans: Sequence[Span], length: int) -> tuple[Span, ...]:
    """Return the spans sorted by their tokens.

    Raises ValueError if a span holds no token or ends beyond `length` tokens, if two have the same name, or if two
    overlap.
    """
    ordered = tuple(sorted(spans, key=lambda span: (span.start, span.end)))
    for span in ordered:
        if not 0 <= span.start < span.end:
            raise ValueError(f"The span “{span.name}” holds no token: it goes from {span.start} to {span.end}.")
        if span.end > length:
            raise ValueError(f"The span “{span.name}” ends at token {span.end}; the text has {length}.")
    for one, other in pairwise(ordered):
        if other.start < one.end:
            raise ValueError(
                f"The spans “{one.name}” and “{other.name}” share tokens. Please pass spans that do not overlap."
            )
    names = [span.name for span in ordered]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"Two spans are named “{twice}”. Please give them different names.")
    return ordered
