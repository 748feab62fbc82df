"""Match the tokens of one sentence with the tokens of another, without a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from attnviz.text.tokens import Token
from attnviz.text.words import word_groups


@dataclass(frozen=True)
class Alignment:
    """Matched positions of two sentences as pairs (here, there), in order, and the positions without a partner."""

    pairs: tuple[tuple[int, int], ...]
    only_here: tuple[int, ...] = ()
    only_there: tuple[int, ...] = ()


def align_by_position(here: int, there: int) -> Alignment:
    """Pair equal positions of two sentences with these lengths."""
    both = min(here, there)
    return Alignment(tuple((at, at) for at in range(both)), tuple(range(both, here)), tuple(range(both, there)))


def align_tokens(here: Sequence[Token], there: Sequence[Token]) -> Alignment:
    """Pair the tokens of two sentences.

    Sentences of equal length are paired by position. Otherwise tokens are matched by id and word with difflib, which
    finds the longest runs first; if equally many tokens lie between two matches on both sides, they are paired too.
    Raises ValueError if the sentences have no token in common.
    """
    if len(here) == len(there):
        return align_by_position(len(here), len(there))
    one, other = _keys(here), _keys(there)
    if not {key for key in one if not key[2]} & set(other):
        raise ValueError(
            f"“{_text(here)}” and “{_text(there)}” have no token in common and differ in length ({len(here)} and "
            f"{len(there)} tokens), so their tokens cannot be matched."
        )
    pairs: list[tuple[int, int]] = []
    for _, first, last, from_, to in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if last - first == to - from_:  # equal runs, or runs of the same length that replace each other
            pairs += zip(range(first, last), range(from_, to), strict=True)
    left, right = ({pair[side] for pair in pairs} for side in (0, 1))
    return Alignment(
        tuple(pairs),
        tuple(at for at in range(len(here)) if at not in left),
        tuple(at for at in range(len(there)) if at not in right),
    )


def word_positions(word: str, tokens: Sequence[Token]) -> list[tuple[int, ...]]:
    """Return the token positions of every occurrence of a word.

    A different capitalization counts only if the word does not occur exactly as typed.
    """
    groups = [(group, _text([tokens[at] for at in group])) for group in word_groups(tokens)]
    exact = [group for group, text in groups if text == word.strip()]
    return exact or [group for group, text in groups if text.casefold() == word.strip().casefold()]


def _keys(tokens: Sequence[Token]) -> list[tuple[int, str, bool]]:
    """Return what is compared when tokens are matched: id, word and whether it is special, for each token."""
    words = {at: _text([tokens[each] for each in group]) for group in word_groups(tokens) for at in group}
    return [(token.id, words[at], token.is_special) for at, token in enumerate(tokens)]


def _text(tokens: Sequence[Token]) -> str:
    """Join the texts of tokens, with spaces between tokens that do not touch in the sentence."""
    text, end = "", None
    for token in tokens:
        if token.is_special:
            continue
        text += (" " if end is not None and token.start > end else "") + token.text
        end = token.end
    return text.strip()
