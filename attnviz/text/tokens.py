"""A token: an id that knows which piece of the sentence it stands for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Token:
    """One token of a sentence.

    `text` is its piece of the sentence, as typed or as the model wrote it (a special token: its name);
    `start` and `end` count characters of that sentence, so that `sentence[start:end] == text` for every token
    that is not special. `starts_word` is False for a piece that continues the token before it.
    `segment` is 1 for the second sentence of a pair and for what a model wrote after its prompt, 0 elsewhere.
    `piece` is its entry in the vocabulary, "" where there is none or nobody said; `is_unknown` where that entry stands
    for everything that the vocabulary has no piece for, so that the model cannot tell this text from other such.
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
