"""Escape sentences that Streamlit would otherwise read as Markdown."""

import re
from collections.abc import Iterable

JOINER = "\u2060"  # has no width, and is no place to break a line at
_INDENT = re.compile(r"(?<![^\r\n])[ \t]+")  # four spaces would make code, and HTML shows none of them
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_LOOKED_FOR = re.compile(
    r":/(?=/)|(?<=ww)w\.|(?<=[-+.\w])@[-\w]"  # addresses: https://, www., name@host
    r"|:[-+\w](?=[-+\w]*:)"  # emoji and icons: :smile:
    r"|(?<!\S)(?:<->|->|<-|--|>=|<=|~=)(?!\S)",  # drawn as one character
    re.IGNORECASE,
)


def literal(sentence: str) -> str:
    """Return Markdown that shows a sentence unchanged.

    Streamlit replaces addresses, emoji codes and arrows even in escaped text. A word joiner (U+2060) is inserted into
    those, and nowhere else; it is invisible, but is copied with the text.
    """
    apart = _LOOKED_FOR.sub(lambda found: JOINER.join(found[0]), _INDENT.sub("", sentence))
    return _PUNCTUATION.sub(r"\\\g<0>", apart)


def literal_lines(lines: Iterable[str]) -> str:
    """Return Markdown that shows each sentence unchanged on its own line."""
    return "  \n".join(map(literal, lines))
