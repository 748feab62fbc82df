"""Pieces and what stands around them, as tokens that know their place in the text; and texts cut to fit."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from attnviz.models.huggingface.tokenization.backend import FIRST, SECOND, Frame, Pieces
from attnviz.text.tokens import Token


@dataclass(frozen=True)
class Placing:
    """How ids that stand for no text are named, and which of them are hidden where special tokens are."""

    special: Callable[[int, int], Token]  # an id, and after how many characters it stands
    special_ids: Collection[int]

    def tokens(self, frame: Frame, pieces: Sequence[Pieces], texts: Sequence[str]) -> tuple[Token, ...]:
        """The tokens of one text or of a pair, whose texts are joined by a space."""
        begins = (0, len(texts[0]) + 1)
        text = " ".join(texts)
        tokens: list[Token] = []
        end = segment = 0
        for place in frame:
            if place == SECOND:
                segment, end = 1, begins[1]
            if place >= 0:
                tokens.append(replace(self.special(place, end), segment=segment))
                continue
            of_text = self._of_text(text, pieces[segment], begins[segment], segment)
            tokens += of_text
            end = max((token.end for token in of_text), default=end)
        return tuple(tokens)

    def _of_text(self, text: str, pieces: Pieces, begin: int, segment: int) -> list[Token]:
        tokens, end = [], begin
        for id_, (first, last) in zip(pieces.ids, pieces.spans, strict=True):
            start, before = max(first + begin, end), end
            end = max(last + begin, start)
            token = token_of(text, id_, (start, end), segment, is_special=id_ in self.special_ids)
            # Bytes of one character are several tokens: the first shows it, and the others begin nothing.
            is_rest = start == end and first + begin < before
            tokens.append(replace(token, starts_word=False) if is_rest else token)
        return tokens


def token_of(text: str, id_: int, span: tuple[int, int], segment: int, *, is_special: bool = False) -> Token:
    """A token of `text`, without the space before it; one that shares its characters with the last is empty."""
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    starts_word = start == 0 or text[start - 1].isspace() or (start == end and text[start : start + 1].isspace())
    return Token(text[start:end], id_, start, end, is_special=is_special, starts_word=starts_word, segment=segment)


def cut_to(room: int, pieces: Sequence[Pieces]) -> tuple[list[Pieces], list[str | None]]:
    """Whichever is longer cut until they fit; for each a sentence that says what was cut (None: nothing)."""
    found = [len(each.ids) for each in pieces]
    lengths = list(found)
    while sum(lengths) > room:
        lengths[lengths.index(max(lengths))] -= 1
    said = [
        f"Only the first {kept:,} of {there:,} tokens were kept." if kept < there else None
        for kept, there in zip(lengths, found, strict=True)
    ]
    return [each.first(length) for each, length in zip(pieces, lengths, strict=True)], said


def specials_in(frame: Frame) -> int:
    """How many special tokens stand around a text, or two."""
    return sum(place not in (FIRST, SECOND) for place in frame)
