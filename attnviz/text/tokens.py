"""A token: an id with the part of the sentence that it encodes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Token:
    """One token of a sentence.

    `text` is the part of the sentence that the token encodes, as typed or as the model wrote it, or a special token's
    name. `start` and `end` count characters of that sentence: `sentence[start:end] == text` for every token that is not
    special. `starts_word` is False for a piece that continues the word of the token before it. `segment` is 1 in the
    second sentence of a pair and in what a model wrote after its prompt, otherwise 0. `piece` is the token's entry in
    the vocabulary, or "" if the entry is not known. `is_unknown` marks the entry that the vocabulary uses for all text
    without a piece, so that the model cannot tell such texts apart.
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
