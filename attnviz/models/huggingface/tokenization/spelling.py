"""Make tokens from ids and spans: their texts, positions and pieces, and whether they are special or unknown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from attnviz.models.huggingface.tokenization.backend import SECOND, Backend, Frame, Pieces, is_mark
from attnviz.text.tokens import Token

_UNFINISHED = "\ufffd"  # decoded from bytes that are not a complete character yet
_LINE_ENDS = ("\n", "Ċ", "<0x0A>")  # a newline in vocabularies of characters, of bytes, and of both


@dataclass(frozen=True)
class EncodedText:
    """An encoded text; the tokens' offsets count in `text`, in which a pair's sentences are joined by a space.

    `notes` say what was cut from the text, or from a pair's first sentence, `pair_notes` what was cut from the second.
    `language` is the id of the target language that a source asks for, or None.
    """

    tokens: tuple[Token, ...]
    text: str
    notes: tuple[str, ...] = ()
    pair_notes: tuple[str, ...] = ()
    language: int | None = None

    @property
    def ids(self) -> tuple[int, ...]:
        """The tokens' ids."""
        return tuple(token.id for token in self.tokens)

    @property
    def segments(self) -> tuple[int, ...]:
        """The tokens' segments: 1 for a pair's second sentence and its closing special token, otherwise 0."""
        return tuple(token.segment for token in self.tokens)


class Spelling:
    """Base class that turns ids of a vocabulary into tokens.

    `unknown_id` is None if unknown text cannot be told from other tokens; tokens at padded positions are named
    `pad_name`.
    """

    _backend: Backend
    special_ids: frozenset[int]
    unknown_id: int | None
    pad_id: int
    pad_name: str

    def is_pad(self, token: Token) -> bool:
        """Check whether a token is padding after a sentence that is shorter than others in the batch."""
        return token.id == self.pad_id and token == self.padding(token.start)

    def padding(self, at: int = 0) -> Token:
        """Return a `<pad>` token whose position in the text is after `at` characters."""
        return Token(self.pad_name, self.pad_id, at, at, is_special=True, piece=self.piece(self.pad_id))

    def special_token(self, id_: int, at: int = 0) -> Token:
        """Return a special token, which has a name but no text."""
        return Token(self.piece(id_) or f"<{id_}>", id_, at, at, is_special=True, piece=self.piece(id_))

    def piece(self, id_: int) -> str:
        """Return an id's entry in the vocabulary, or ""."""
        return self._backend.id_to_token(id_) or ""

    def append_ids(self, before: EncodedText, ids: Iterable[int], *, segment: int = 0) -> EncodedText:
        """Append generated ids to `before`, with their text and offsets."""
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
            # If one character is several byte tokens, the last one shows it, and the others start no word.
            tokens.append(replace(token, starts_word=False) if unfinished else token)
        return EncodedText(tuple(tokens), text, before.notes)

    def _decode_finished(self, before: EncodedText) -> str:
        """Decode the tokens, without final bytes of an incomplete character."""
        if not (decoded := self._decode(before.ids)).endswith(_UNFINISHED):
            return decoded
        shown = [index for index, token in enumerate(before.tokens, start=1) if token.text and not token.is_special]
        return self._decode(before.ids[: max(shown, default=0)])

    def _decode(self, ids: Sequence[int]) -> str:
        return self._backend.decode(ids)

    def _tokens(self, frame: Frame, pieces: Sequence[Pieces], texts: Sequence[str]) -> tuple[Token, ...]:
        """Return the tokens of one text or of a pair, with the special tokens around them."""
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
        """Return the tokens of a text that begins at `begin` in the joined text."""
        tokens: list[Token] = []
        end = begin
        for id_, (first, last) in zip(pieces.ids, pieces.spans, strict=True):
            start, before = max(first + begin, end), end
            end = max(last + begin, start)
            token = self._token(text, id_, (start, end), segment)
            # If one character is several byte tokens, the first one shows it, and the others start no word.
            is_rest = start == end and first + begin < before
            tokens.append(replace(token, starts_word=False) if is_rest else token)
        return tokens

    def _token(self, text: str, id_: int, span: tuple[int, int], segment: int) -> Token:
        """Return a token of `text` without the space before it; its text is empty if an earlier token has its
        characters.
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
    """Check whether a word starts at `start`. A newline counts as a word."""
    if start == 0 or text[start - 1].isspace():
        return True
    return text[start : start + 1].isspace() if start == end else text[start] == "\n"
