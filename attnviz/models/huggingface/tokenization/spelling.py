"""Make tokens from ids and spans: texts, places, pieces, and which are special or unknown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from attnviz.models.huggingface.tokenization.backend import SECOND, Backend, Frame, Pieces, is_mark
from attnviz.text.tokens import Token

_UNFINISHED = "\ufffd"  # what a decoder writes for bytes that do not make a character yet
_LINE_ENDS = ("\n", "Ċ", "<0x0A>")  # how vocabularies of characters, of bytes, and of both spell it


@dataclass(frozen=True)
class EncodedText:
    """Tokens side by side; their offsets count in `text`, where a pair's sentences are joined by a space.

    `notes` say what was cut of the text, or of a pair's first sentence, `pair_notes` what of the second. `language` is
    the id of the language that a source asks for, where the model has several and the source says one.
    """

    tokens: tuple[Token, ...]
    text: str
    notes: tuple[str, ...] = ()
    pair_notes: tuple[str, ...] = ()
    language: int | None = None

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids alone."""
        return tuple(token.id for token in self.tokens)

    @property
    def segments(self) -> tuple[int, ...]:
        """1 for tokens of a pair's second sentence, the special token that closes it included; 0 before."""
        return tuple(token.segment for token in self.tokens)


class Spelling:
    """A vocabulary's own words for ids. `unknown_id` is None where unknown text is not told from other tokens; padded
    positions are named `pad_name`.
    """

    _backend: Backend
    special_ids: frozenset[int]
    unknown_id: int | None
    pad_id: int
    pad_name: str

    def is_pad(self, token: Token) -> bool:
        """Check whether a token only pads to a longer sentence of the same batch."""
        return token.id == self.pad_id and token == self.padding(token.start)

    def padding(self, at: int = 0) -> Token:
        """Make a `<pad>` token after `at` characters of a text."""
        return Token(self.pad_name, self.pad_id, at, at, is_special=True, piece=self.piece(self.pad_id))

    def special_token(self, id_: int, at: int = 0) -> Token:
        """Make a named token without any text."""
        return Token(self.piece(id_) or f"<{id_}>", id_, at, at, is_special=True, piece=self.piece(id_))

    def piece(self, id_: int) -> str:
        """Return an id's entry in the vocabulary; "" for an id without one."""
        return self._backend.id_to_token(id_) or ""

    def append_ids(self, before: EncodedText, ids: Iterable[int], *, segment: int = 0) -> EncodedText:
        """Append generated ids to `before`, their text and offsets included."""
        tokens, text, written = list(before.tokens), before.text, list(before.ids)
        decoded = self._decode_finished(before)
        for id_ in ids:
            written.append(id_)
            longer = self._decode(written)
            piece = longer[len(decoded) :] if longer.startswith(decoded) else self._decode([id_])
            unfinished = longer.endswith(_UNFINISHED) and id_ not in self.special_ids
            if id_ in self.special_ids:
                tokens.append(replace(self.special_token(id_, len(text)), segment=segment))
                continue
            piece = "" if unfinished else piece
            decoded = decoded if unfinished else longer
            start, text = len(text), text + piece
            token = self._token(text, id_, (start, len(text)), segment)
            # Bytes of one character are several tokens: the last shows it, and the others begin nothing.
            tokens.append(replace(token, starts_word=False) if unfinished else token)
        return EncodedText(tuple(tokens), text, before.notes)

    def _decode_finished(self, before: EncodedText) -> str:
        """Decode the tokens, less bytes at their end that wait for the rest of their character."""
        if not (decoded := self._decode(before.ids)).endswith(_UNFINISHED):
            return decoded
        shown = [index for index, token in enumerate(before.tokens, start=1) if token.text and not token.is_special]
        return self._decode(before.ids[: max(shown, default=0)])

    def _decode(self, ids: Sequence[int]) -> str:
        return self._backend.decode(ids)

    def _tokens(self, frame: Frame, pieces: Sequence[Pieces], texts: Sequence[str]) -> tuple[Token, ...]:
        """Make tokens of one text or of a pair, with the special ones around them."""
        text, begins = " ".join(texts), (0, len(texts[0]) + 1)
        tokens: list[Token] = []
        end = segment = 0
        for place in frame:
            if place == SECOND:
                segment, end = 1, begins[1]
            if place >= 0:
                tokens.append(replace(self.special_token(place, end), segment=segment))
                continue
            tokens += self._place_tokens(text, pieces[segment], begins[segment], segment)
            end = tokens[-1].end if tokens else end
        return tuple(tokens)

    def _place_tokens(self, text: str, pieces: Pieces, begin: int, segment: int) -> list[Token]:
        """Make the tokens of a text that begins at `begin` in the joined one."""
        tokens: list[Token] = []
        end = begin
        for id_, (first, last) in zip(pieces.ids, pieces.spans, strict=True):
            start, before = max(first + begin, end), end
            end = max(last + begin, start)
            token = self._token(text, id_, (start, end), segment)
            # Bytes of one character are several tokens: the first shows it, and the others begin nothing.
            is_rest = start == end and first + begin < before
            tokens.append(replace(token, starts_word=False) if is_rest else token)
        return tokens

    def _token(self, text: str, id_: int, span: tuple[int, int], segment: int) -> Token:
        """Make a token of `text`, without the space before it; one that shares its characters with the last
        is empty.
        """
        piece, (start, end) = self.piece(id_), span
        kept = "\n" if any(mark in piece for mark in _LINE_ENDS) else ""
        while start < end and text[start].isspace() and text[start] != kept:
            start += 1
        return Token(
            text[start:end], id_, start, end,
            is_special=id_ in self.special_ids, starts_word=is_mark(piece) or _starts_word(text, start, end),
            segment=segment, piece=piece, is_unknown=id_ == self.unknown_id,
        )  # fmt: skip


def _starts_word(text: str, start: int, end: int) -> bool:
    """Check whether a word begins at `start`; the end of a line is one of its own."""
    if start == 0 or text[start - 1].isspace():
        return True
    return text[start : start + 1].isspace() if start == end else text[start] == "\n"
