"""Group neighbouring tokens into words by their text, without a model."""

import re
import unicodedata
from collections.abc import Sequence

from attnviz.text.tokens import Token

# Scripts written without spaces between words, where each token stands alone.
_UNSPACED = re.compile(
    "["
    # Chinese and Japanese
    "\u2e80-\u303f\u3040-\u312f\u31a0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
    "\u0e01-\u0e3a\u0e40-\u0e4e"  # Thai, without its currency sign and digits
    "\u0e81-\u0ece\u0edc-\u0edf"  # Lao
    "\u0f00-\u0f1f\u0f34-\u0fff"  # Tibetan
    "\u1000-\u103f\u104a-\u108f\ua9e0-\ua9ef\uaa60-\uaa7f"  # Burmese
    "\u1780-\u17da"  # Khmer
    "\u1950-\u19df\u1a20-\u1aad\uaa80-\uaadf"  # Tai Le, New Tai Lue, Tai Tham, Tai Viet
    "\u1b00-\u1b4f\ua980-\ua9cf"  # Balinese, Javanese
    "]"
)
_VOWELS_AFTER = "\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3"  # letters of Thai and Lao that never begin a syllable


def word_groups(tokens: Sequence[Token]) -> tuple[tuple[int, ...], ...]:
    """Group the positions of tokens by word, in order; every token is in exactly one group.

    A token that does not start a word continues the word of the token before it. Special tokens and tokens of scripts
    that are written without spaces (Chinese, Thai) form groups of their own, and so does punctuation at the edge of a
    word: `pond` `.` are two groups, `don` `'` `t` is one. A vowel sign or an accent stays with its letter.
    """
    runs: list[list[int]] = []
    shown = ""  # the last token that had text: a character of several tokens is shown by the first
    for at, token in enumerate(tokens):
        if at and _continues(tokens[at - 1], token, shown):
            runs[-1].append(at)
        else:
            runs.append([at])
        shown = token.text or shown
    return tuple(group for run in runs for group in _split_edges(run, tokens))


def is_within_word(text: str, at: int) -> bool:
    """Check whether the boundary before character `at` lies inside a word, between two letters or digits.

    Each character of a script that is written without spaces is a word.
    """
    beside = text[max(at - 1, 0) : at + 1]
    return len(beside) == 2 and at > 0 and beside.isalnum() and not _UNSPACED.search(beside)


def _continues(before: Token, token: Token, shown: str) -> bool:
    if before.is_special or token.is_special:
        return False
    if _is_rest(token):
        return True
    if _UNSPACED.search(shown[-1:]) or _UNSPACED.search(token.text[:1]):
        return not token.starts_word and _is_sign(token.text[:1])
    return not token.starts_word or _is_blank(before)


def _is_sign(character: str) -> bool:
    """Check whether a character is a combining mark or a vowel sign that belongs to the letter before it."""
    return character != "" and (unicodedata.category(character)[0] == "M" or character in _VOWELS_AFTER)


def _is_rest(token: Token) -> bool:
    """Check whether a token holds further bytes of the character that the token before it began."""
    return not token.text and not token.starts_word


def _is_blank(token: Token) -> bool:
    """Check whether a token is only the space before the word that follows."""
    return not token.text and token.starts_word


def _split_edges(run: list[int], tokens: Sequence[Token]) -> list[tuple[int, ...]]:
    """Split a run of tokens into leading punctuation, the word, and trailing punctuation.

    Blanks before the run join its first group.
    """
    blanks = 0
    while blanks < len(run) - 1 and not tokens[run[blanks]].text:
        blanks += 1
    first, last = blanks, len(run)
    while first < last - 1 and _is_punctuation(tokens[run[first]].text):
        first += 1
    while last > first + 1 and _is_punctuation(tokens[run[last - 1]].text):
        last -= 1
    groups = [*((at,) for at in run[blanks:first]), tuple(run[first:last]), *((at,) for at in run[last:])]
    return [(*run[:blanks], *groups[0]), *groups[1:]]


def _is_punctuation(text: str) -> bool:
    return bool(text) and all(unicodedata.category(character).startswith("P") for character in text)
