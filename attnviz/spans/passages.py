"""Find sentences and numbered passages in a text, as named character ranges."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple


class Cut(NamedTuple):
    """A named piece of a text: characters `start` to `end`, `end` excluded."""

    name: str
    start: int
    end: int


# Possessive quantifiers, so that a long run of such characters is scanned only once.
_SENTENCE_END = re.compile(r"(?:(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s)|[。！？]++[」』”’]*+|\n)\s*+")
_NO_END = re.compile(r"(?:^|[\s(])(?:\d{1,3}|\w|[Mm]rs?|Dr|St|vs|etc|e\.g|i\.e|No|Fig)\.$")
_WORDS = r"(?:passage|document|doc|source|text|context|chunk|excerpt)"
_TAGGED = re.compile(rf"<({_WORDS})\b[^<>\n]{{0,200}}>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_NUMBERED = (
    re.compile(rf"(?:^|(?<=\s)){_WORDS}[ \t]*+[\[(#]?(\d{{1,3}})[\])]?[ \t]*+[:.)—–-]", re.IGNORECASE | re.MULTILINE),
    re.compile(r"(?:^|(?<=\s))\[(\d{1,3})\]", re.MULTILINE),
    re.compile(r"(?:^|(?<=\s))\(?(\d{1,3})[.)](?=\s)", re.MULTILINE),
)
_ASKS = re.compile(r"(?:^|(?<=\s))(?:question|q|answer|a)[ \t]*+:", re.IGNORECASE | re.MULTILINE)
_PARAGRAPH, _LINE = re.compile(r"\n[ \t\r]*+\n"), re.compile(r"\n")


def cut_sentences(text: str) -> list[Cut]:
    """Split a text into sentences, each with the whitespace after it. A line break also ends a sentence."""
    ends = [found.end() for found in _SENTENCE_END.finditer(text) if not _is_short(text, found)]
    starts = [0, *ends]
    pieces = zip(starts, [*ends, len(text)], strict=True)
    kept = [(start, end) for start, end in pieces if _has_words(text[start:end])]
    return [Cut(f"sentence {number}", start, end) for number, (start, end) in enumerate(kept, start=1)]


def cut_passages(text: str) -> list[Cut]:
    """Find numbered passages: `[1] …`, `1. …`, `Passage 1: …` or `<document>…</document>`; [] without markers.

    Text around the passages is left out. A passage ends where the next one begins. The last passage is a sentence, a
    line or a paragraph long, whichever is the shortest unit that contains each earlier passage, and it ends before a
    marked question.
    """
    tagged = [Cut(f"passage {n}", *found.span()) for n, found in enumerate(_TAGGED.finditer(text), start=1)]
    if tagged:
        return tagged
    for pattern in _NUMBERED:
        markers = _in_sequence(pattern.finditer(text))
        if len(markers) > 1:
            return _between(text, markers)
    return []


def pieces_around(cuts: Sequence[Cut], end: int) -> list[Cut]:
    """Return the unnamed pieces of a text of `end` characters that are outside all cuts."""
    starts = [0, *(cut.end for cut in cuts)]
    return [Cut("", one, other) for one, other in zip(starts, [*(cut.start for cut in cuts), end], strict=True)]


def _in_sequence(found: Iterable[re.Match[str]]) -> list[re.Match[str]]:
    """Keep the markers whose numbers count up by one; a number out of sequence, such as a year, is ordinary text."""
    kept: list[re.Match[str]] = []
    for one in found:
        number = int(one[1])
        if (not kept and number <= 1) or (kept and number == int(kept[-1][1]) + 1):
            kept.append(one)
    return kept


def _between(text: str, markers: Sequence[re.Match[str]]) -> list[Cut]:
    starts = [marker.start() for marker in markers]
    earlier = [text[start:end] for start, end in pairwise(starts)]
    ends = [*starts[1:], _end_of_last(text, markers[-1], earlier)]
    return [
        Cut(f"passage {int(marker[1])}", start, end) for marker, start, end in zip(markers, starts, ends, strict=True)
    ]


def _end_of_last(text: str, marker: re.Match[str], earlier: Sequence[str]) -> int:
    """Return the end of the last passage, which has no marker after it."""
    rest = text[marker.end() :]
    asked = _ASKS.search(rest)
    most = len(rest) if asked is None else asked.start()
    for end_of in (_end_of_sentence, _end_of_line, _end_of_paragraph):
        if all(end_of(piece) >= len(piece.rstrip()) for piece in earlier):
            return marker.end() + min(most, end_of(rest))
    return marker.end() + most


def _end_of_sentence(text: str) -> int:
    cuts = cut_sentences(text)
    return cuts[0].end if cuts else len(text)


def _end_of_line(text: str) -> int:
    return _first_end(_LINE, text)


def _end_of_paragraph(text: str) -> int:
    return _first_end(_PARAGRAPH, text)


def _first_end(pattern: re.Pattern[str], text: str) -> int:
    """Return the end of the first line or paragraph that contains a word."""
    for found in pattern.finditer(text):
        if _has_words(text[: found.start()]):
            return found.end()
    return len(text)


def _is_short(text: str, found: re.Match[str]) -> bool:
    """Return whether the period ends an abbreviation or a number at the start of a line, not a sentence."""
    sign = found[0].rstrip()
    return sign == "." and bool(_NO_END.search(text[max(0, found.start() - 8) : found.start() + 1]))


def _has_words(text: str) -> bool:
    return any(sign.isalnum() or ord(sign) > 0x2190 for sign in text)
