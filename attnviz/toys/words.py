"""A toy's vocabulary: one id for each word, after `<pad>`, `<bos>` and `<eos>`. An unknown word raises an error."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from attnviz.text.display import display
from attnviz.text.limits import TextError, cut_to_limit
from attnviz.text.tokens import Token
from attnviz.transformer.decoding import Vocabulary

if TYPE_CHECKING:
    from attnviz.toys.tasks.task import ToyTask, Words

SPECIAL = ("<pad>", "<bos>", "<eos>")
PAD, BOS, EOS = range(3)
MOST_WORDS = 64  # in a typed line; the tasks' own lines have at most 24
_SPACED, _CHARACTERS = re.compile(r"\S+"), re.compile(r"\S")


class ToyWords:
    """The vocabulary of a task: converts between words, ids and tokens."""

    pad_id, eos_id = PAD, EOS

    def __init__(self, task: "ToyTask") -> None:
        self.task = task
        self.pieces = (*SPECIAL, *task.words)
        self._ids = {word: id_ for id_, word in enumerate(self.pieces)}

    @cached_property
    def rules(self) -> Vocabulary:
        """The id that ends a line, and the ids that are never written; a decoder-only task has no end to write."""
        return Vocabulary(EOS, (PAD, BOS, EOS) if self.task.is_decoder_only else (PAD, BOS))

    @property
    def vocab_size(self) -> int:
        """Number of vocabulary entries, including special ones."""
        return len(self.pieces)

    def padding(self, at: int) -> Token:
        """Return a `<pad>` token whose position in the line is after `at` characters."""
        return Token(SPECIAL[PAD], PAD, at, at, is_special=True)

    def ids(self, words: "Words") -> list[int]:
        """Return the ids of words that the task knows."""
        return [self._ids[word] for word in words]

    def words(self, ids: Sequence[int]) -> "Words":
        """Return the words for ids, without special ones."""
        return tuple(self.pieces[id_] for id_ in ids if id_ >= len(SPECIAL))

    def text(self, ids: Sequence[int]) -> str:
        """Return the line that ids stand for, as text."""
        return " ".join(self.words(ids))

    def tokens(self, ids: Sequence[int]) -> tuple[Token, ...]:
        """Return the tokens for ids, with offsets into `text(ids)`."""
        return self.continue_line("", (), ids, segment=0)[1]

    def continue_line(
        self, text: str, begun: tuple[Token, ...], ids: Sequence[int], *, segment: int = 1
    ) -> tuple[str, tuple[Token, ...]]:
        """Append the words for generated ids to a typed line; return the whole text and its tokens."""
        tokens = list(begun)
        text = text[: max((token.end for token in begun), default=0)]
        for id_ in ids:
            piece = self.pieces[id_]
            if is_special := id_ < len(SPECIAL):
                start = len(text)
            else:
                text = f"{text} {piece}" if text else piece
                start = len(text) - len(piece)
            tokens.append(Token(piece, id_, start, len(text), is_special=is_special, segment=segment))
        return text, tuple(tokens)

    def read(self, typed: str) -> tuple[tuple[Token, ...], tuple[str, ...]]:
        """Read a typed line as tokens, with notes if it was truncated.

        Raises TextError for a word that the toy does not know.
        """
        text, note = cut_to_limit(typed)
        matches = list((_SPACED if self.task.spaced else _CHARACTERS).finditer(text))
        notes = () if note is None else (note,)
        if len(matches) > MOST_WORDS:
            notes = (*notes, f"Only the first {MOST_WORDS} of {len(matches)} words were kept.")
        return tuple(self._token(match) for match in matches[:MOST_WORDS]), notes

    def _token(self, match: re.Match[str]) -> Token:
        id_ = self._ids.get(match[0].lower(), PAD)
        if id_ < len(SPECIAL):
            raise TextError(f"This toy does not know the word {display(match[0][:40])!r}. It knows {self.known_words}.")
        return Token(match[0], id_, match.start(), match.end())

    @property
    def known_words(self) -> str:
        """The known words for an error message: all single characters, or the number of words and an example."""
        words = self.task.words
        if not self.task.spaced:
            return f"{words[0]} to {words[-1]}" if words[-1].isalpha() else " ".join(words)
        return f"{len(words)} words, such as {self.task.sample!r}"
