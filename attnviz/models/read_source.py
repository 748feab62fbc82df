"""A text as a Transformer of this package reads it, and its vocabulary."""

from dataclasses import dataclass
from typing import Protocol

from attnviz.text.tokens import Token
from attnviz.tracing.record import Sentence


class Codec(Protocol):
    """A vocabulary: ids to texts and tokens."""

    pad_id: int
    eos_id: int

    @property
    def vocab_size(self) -> int:
        """Entries of the vocabulary, special ones included."""
        ...

    def text(self, ids: tuple[int, ...], /) -> str:
        """Spell ids, without special tokens."""
        ...

    def tokens(self, ids: tuple[int, ...], /) -> tuple[Token, ...]:
        """Return the tokens of ids, with offsets into `text(ids)`."""
        ...

    def padding(self, at: int, /) -> Token:
        """Return a `<pad>` after `at` characters of a text."""
        ...


@dataclass(frozen=True)
class ReadSource:
    """A text as a model reads it: source tokens with their end (none for a decoder alone), the tokens that every target
    begins with, and notes on what was cut.
    """

    text: str
    src: tuple[Token, ...]
    begun: tuple[Token, ...]
    notes: tuple[str, ...] = ()

    @property
    def initial_sentence(self) -> Sentence:
        """The sentence before anything is written: the source, or the prompt of a decoder alone."""
        if self.src:
            return Sentence(self.src, src_text=self.text)
        return Sentence(tgt=self.begun, tgt_text=self.text, cut=True)
