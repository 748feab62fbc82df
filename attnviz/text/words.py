"""Groups of neighbouring tokens that make up a word, by their text. Knows no model."""

import re
import unicodedata
from collections.abc import Sequence

from attnviz.text.tokens import Token

# Written without spaces: Han, kana, bopomofo, and the punctuation and full-width forms used with them.
_UNSPACED = re.compile(
    "[\u2e80-\u303f\u3040-\u312f\u31a0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)


def word_groups(tokens: Sequence[Token]) -> tuple[tuple[int, ...], ...]:
    """Group the positions of tokens by word, in order; every token is in one group.

    A token that does not start a word continues the one before it. Special tokens and characters of scripts
    that are written without spaces (Chinese) stand alone, and so does punctuation at the edge of a word:
    `pond` `.` are two groups, `don` `'` `t` is one.
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
    """Check whether the place before character `at` lies between two letters or digits of one word.

    A character of a script that is written without spaces stands alone.
    """
    beside = text[max(at - 1, 0) : at + 1]
    return len(beside) == 2 and at > 0 and beside.isalnum() and not _UNSPACED.search(beside)


def _continues(before: Token, token: Token, shown: str) -> bool:
    if before.is_special or token.is_special:
        return False
    if _is_rest(token):
        return True
    if _UNSPACED.search(shown[-1:]) or _UNSPACED.search(token.text[:1]):
        return False
    return not token.starts_word or _is_blank(before)


def _is_rest(token: Token) -> bool:
    """Check whether a token holds further bytes of the character before it."""
    return not token.text and not token.starts_word


def _is_blank(token: Token) -> bool:
    """Check whether a token is a space without text, which introduces the word after it."""
    return not token.text and token.starts_word


def _split_edges(run: list[int], tokens: Sequence[Token]) -> list[tuple[int, ...]]:
    """Split a run into punctuation, the word, and punctuation; leading blanks join the first group."""
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
