"""A token: an id with its piece of the sentence."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Token:
    """One token of a sentence.

    `text` is its piece of the sentence, as typed or as the model wrote it (a special token: its name);
    `start` and `end` count characters of that sentence, so that `sentence[start:end] == text` for every token
    that is not special. `starts_word` is False for a piece that continues the token before it.
    `segment` is 1 for the second sentence of a pair and for what a model wrote after its prompt, 0 elsewhere.
    `piece` is its entry in the vocabulary, "" if it is not known; `is_unknown` marks the entry for all text without a
    piece, by which the model cannot tell this text from other such text.
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
