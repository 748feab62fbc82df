"""Turn any text into a string that can be seen: no invisible characters, and none that move or cover their neighbours.

No character is dropped. An invisible character is replaced by its code point, such as `U+200B`, and the end of a line
by `↵`. The result is plain text and is *not* escaped for markup: a caller that writes HTML, Plotly or Markdown must
escape it.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from unicodedata import category

from attnviz.text.tokens import Token

SPACE = "\u2423"  # ␣
PART = "\u22ef"  # ⋯
LINE_END = "\u21b5"  # ↵
_MOST_REMEMBERED = 32  # length of cached texts; nearly all pieces are shorter
MAX_MARKS = 4  # on one letter; languages use up to three, and many more would cover the neighbouring lines
_JOINER, _STYLES = "\u200d", frozenset("\ufe0e\ufe0f")
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
# Invisible, although Unicode's category is letter, mark or symbol: Default_Ignorable_Code_Point, and U+2800.
_UNSEEN_RANGES = (
    *((0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2800, 0x2800), (0x3164, 0x3164)),
    *((0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xE0100, 0xE01EF)),
)


def display(text: str) -> str:
    """Replace the invisible characters of a text by their code points: a zero-width space gives `a U+200B b`.

    This replaces control, format and direction characters, line ends, spaces other than U+0020, unassigned and
    private-use characters, lone surrogates, combining marks without a letter, and more than `MAX_MARKS` marks on one
    letter. Joined emoji stay joined. Spaces without a visible neighbour are shown as one `␣` each, and an empty text as
    one `␣`. The result is never empty and can always be encoded as UTF-8.
    """
    if text.isascii() and text.isprintable() and text.strip():
        return text  # true for nearly every word
    return _name_unseen_cached(text) if len(text) <= _MOST_REMEMBERED else _name_unseen(text)


def _name_unseen(text: str) -> str:
    runs = groupby(zip(_must_be_named(text), text, strict=True), key=lambda pair: pair[0])
    shown = [_run([character for _, character in run], unseen) for unseen, run in runs]
    return " ".join(shown) or SPACE


_name_unseen_cached = lru_cache(maxsize=8192)(_name_unseen)  # the same piece, such as `▁love`, is displayed many times


def display_token(token: Token) -> str:
    """Make a token's text visible with `display`, after the mark `[UNK]` if the token's text is not in the vocabulary.

    Return `⋯` for a token that holds only some bytes of a character that a neighbouring token shows.
    """
    if token.is_unknown and not token.text:
        return unknown_mark(token).strip()  # the model wrote this token, and it has no text
    is_part = not (token.text or token.starts_word or token.is_special)
    return PART if is_part else f"{unknown_mark(token)}{display(token.text)}"


def unknown_mark(token: Token) -> str:
    """Return the mark before text that is not in the vocabulary, such as `[UNK] `, or "" for a known token."""
    return f"{display(token.piece or '[UNK]')} " if token.is_unknown else ""


def _run(characters: list[str], unseen: bool) -> str:
    if unseen:
        return " ".join(LINE_END if c == "\n" else f"U+{ord(c):04X}" for c in characters)
    return "".join(characters) if any(c != " " for c in characters) else SPACE * len(characters)


def _must_be_named(text: str) -> Iterator[bool]:
    """Yield for each character whether it is invisible and must be replaced by its code point."""
    marks = MAX_MARKS  # number of marks on the last letter; before any letter, no mark is allowed
    for index, character in enumerate(text):
        if category(character)[0] == "M":
            unseen = marks >= MAX_MARKS or (_is_unseen(character) and not _styles_emoji(text, index))
            marks = MAX_MARKS if unseen else marks + 1
        else:
            unseen = _is_unseen(character) and not _joins_emoji(text, index)
            marks = MAX_MARKS if unseen or character == " " else 0
        yield unseen


def _is_unseen(character: str) -> bool:
    if character == " ":
        return False
    return category(character) in _UNSEEN_CATEGORIES or is_unseen_letter(character)


def is_unseen_letter(character: str) -> bool:
    """Whether a character is invisible although Unicode's category calls it a letter, mark or symbol."""
    return any(low <= ord(character) <= high for low, high in _UNSEEN_RANGES)


def _joins_emoji(text: str, index: int) -> bool:
    """Check whether a zero-width joiner joins two emoji into one; everywhere else the joiner is invisible."""
    if text[index] != _JOINER or not 0 < index < len(text) - 1:
        return False
    before = text[index - 1]
    return (category(before) in {"So", "Sk"} or before in _STYLES) and category(text[index + 1]) in {"So", "Sm"}


def _styles_emoji(text: str, index: int) -> bool:
    """Check whether a variation selector follows a symbol or digit and styles it; everywhere else it is invisible."""
    return text[index] in _STYLES and index > 0 and category(text[index - 1])[0] in "SPN"
