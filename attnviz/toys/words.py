"""A toy's vocabulary: one id a word, after `<pad>`, `<bos>` and `<eos>`. An unknown word is an error, not a guess."""

import re
from collections.abc import Sequence
from functools import cached_property

from attnviz.text.display import display
from attnviz.text.limits import TextError, cut_to_limit
from attnviz.text.tokens import Token
from attnviz.toys.tasks.task import ToyTask, Words
from attnviz.transformer.decoding import Vocabulary

SPECIAL = ("<pad>", "<bos>", "<eos>")
PAD, BOS, EOS = range(3)
MOST_WORDS = 64  # in a typed line; the tasks' own have 24 at most
_SPACED, _CHARACTERS = re.compile(r"\S+"), re.compile(r"\S")


class ToyWords:
    """The ids of a task's words, and tokens that know their place in a line."""

    pad_id, eos_id = PAD, EOS

    def __init__(self, task: ToyTask) -> None:
        self.task = task
        self.pieces = (*SPECIAL, *task.words)
        self._ids = {word: id_ for id_, word in enumerate(self.pieces)}

    @cached_property
    def rules(self) -> Vocabulary:
        """The id that ends a line, and those that are never written: a task for a decoder alone has no end to write."""
        return Vocabulary(EOS, (PAD, BOS, EOS) if self.task.is_decoder_only else (PAD, BOS))

    @property
    def vocab_size(self) -> int:
        """Entries of the vocabulary, special ones included."""
        return len(self.pieces)

    def padding(self, at: int) -> Token:
        """Return a `<pad>` after `at` characters of a line."""
        return Token(SPECIAL[PAD], PAD, at, at, is_special=True)

    def ids(self, words: Words) -> list[int]:
        """Return the ids of words that the task knows."""
        return [self._ids[word] for word in words]

    def words(self, ids: Sequence[int]) -> Words:
        """Return the words of ids, special ones left out."""
        return tuple(self.pieces[id_] for id_ in ids if id_ >= len(SPECIAL))

    def text(self, ids: Sequence[int]) -> str:
        """Spell the line of ids."""
        return " ".join(self.words(ids))

    def tokens(self, ids: Sequence[int]) -> tuple[Token, ...]:
        """Return the tokens of ids, with offsets into `text(ids)`."""
        return self.continue_line("", (), ids, segment=0)[1]

    def continue_line(
        self, text: str, begun: tuple[Token, ...], ids: Sequence[int], *, segment: int = 1
    ) -> tuple[str, tuple[Token, ...]]:
        """Append the words of ids to a line that was typed; return its text and tokens."""
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
        """Read the tokens of a line as it was typed, with notes on what was cut.

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
            raise TextError(f"{display(match[0][:40])!r} is not a word of this toy, which knows {self.known_words}.")
        return Token(match[0], id_, match.start(), match.end())

    @property
    def known_words(self) -> str:
        """The known words, for an error's sentence: single characters all of them, words the first few."""
        words = self.task.words
        if not self.task.spaced:
            return f"{words[0]} to {words[-1]}" if words[-1].isalpha() else " ".join(words)
        return f"{len(words)} words, such as {self.task.sample!r}"
