"""A span: neighbouring tokens with a common name, such as a turn of a conversation or a passage of a prompt."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


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
            raise ValueError(f"The spans “{one.name}” and “{other.name}” share tokens: give spans that do not overlap.")
    names = [span.name for span in ordered]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"Two spans are named “{twice}”: give each a name of its own.")
    return ordered
