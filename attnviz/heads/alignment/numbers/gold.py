"""Word alignments made by hand: sure and possible links in a sentence and its translation (Och and Ney 2003).

The tables name words by their text and not by number, so that they stay valid if a tokenizer changes.
`assets/alignments/README.md` describes the notation and the rules for linking.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

from attnviz.heads.alignment.numbers.word_alignment import Link, words_of
from attnviz.places import ASSETS
from attnviz.text.tokens import Token
from attnviz.text.words import is_within_word
from attnviz.tracing.trace import Trace

FOLDER = ASSETS / "alignments"
Span = tuple[int, int]  # character range, the end excluded
SpanLink = tuple[tuple[Span, ...], tuple[Span, ...]]  # linked parts of the sentence, and of its translation
_LINK = re.compile(r"([^=~]+)([=~])([^=~]+)")
_PART = re.compile(r"([^#]+)(?:#([1-9]\d*))?")


@dataclass(frozen=True)
class GoldLinks:
    """Links made by hand, with words numbered as in `word_alignment.word_links`. Every sure link is also possible."""

    sure: frozenset[Link]
    possible: frozenset[Link]


@dataclass(frozen=True)
class GoldPair:
    """A sentence, its translation into the language `to`, and the links made by hand, as character positions."""

    to: str
    src_text: str
    tgt_text: str
    sure: tuple[SpanLink, ...]
    possible: tuple[SpanLink, ...]

    def links(self, trace: Trace, item: int = 0) -> GoldLinks:
        """Return the links as word numbers of a trace with the same two sentences.

        Two words are linked if parts of them are. Raise ValueError if the trace has other sentences.
        """
        sentence = trace.sentences[item]
        if (sentence.src_text, sentence.tgt_text) != (self.src_text, self.tgt_text):
            raise ValueError(f"The trace is not of {self.src_text!r} with the target {self.tgt_text!r}.")
        src, tgt = _word_spans(sentence.src), _word_spans(sentence.tgt)
        sure, possible = (_number_links(links, src, tgt) for links in (self.sure, self.possible))
        return GoldLinks(sure, sure | possible)


@cache
def gold_pairs(to: str) -> tuple[GoldPair, ...]:
    """Return the shipped sentence pairs for a language. Raise ValueError for a language without any."""
    path = FOLDER / f"{to}.tsv"
    if path not in FOLDER.glob("*.tsv"):
        raise ValueError(f"There are no word alignments for {to!r}. They exist for {', '.join(gold_languages())}.")
    return read_gold(path)


def gold_languages() -> tuple[str, ...]:
    """Return the languages for which the package includes word alignments."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.tsv")))


def read_gold(path: Path) -> tuple[GoldPair, ...]:
    """Read a table of sentences, translations and links. Raise ValueError, which names the line, for a bad line."""
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name} is not UTF-8 text.") from error
    names = lines[0].split("\t")
    if len(names) != 3 or names[0] != "en" or names[2] != "links":
        raise ValueError(f"{path.name}, line 1: the columns must be en, the translation's language and links.")
    pairs: dict[tuple[str, str], GoldPair] = {}
    for number, line in enumerate(lines[1:], 2):
        try:
            pair = _pair(line, names[1])
            if (pair.src_text, pair.tgt_text) in pairs:
                raise ValueError("this pair has a line already.")
        except ValueError as error:
            raise ValueError(f"{path.name}, line {number}: {error}") from None
        pairs[pair.src_text, pair.tgt_text] = pair
    return tuple(pairs.values())


def _pair(line: str, to: str) -> GoldPair:
    columns = line.split("\t")
    if len(columns) != 3:
        raise ValueError("expected a sentence, its translation and links, with tabs between.")
    src, tgt, written = columns
    found: dict[str, list[SpanLink]] = {"=": [], "~": []}
    for link in written.split():
        sides = _LINK.fullmatch(link)
        if not sides:
            raise ValueError(f"{link!r} is not a link: write = (sure) or ~ (possible) between two words.")
        one = _spans(sides[1], src), _spans(sides[3], tgt)
        if one in found["="] or one in found["~"]:
            raise ValueError(f"{link!r}: these words are linked already.")
        found[sides[2]].append(one)
    if not found["="]:
        raise ValueError("there is no sure link.")
    return GoldPair(to, src, tgt, tuple(found["="]), tuple(found["~"]))


def _spans(side: str, text: str) -> tuple[Span, ...]:
    """Return the character spans of one side of a link, whose parts are joined by +."""
    return tuple(_span(part, text) for part in side.split("+"))


def _span(part: str, text: str) -> Span:
    """Return the character span of a part: consecutive words with _ for a space, and #2 for the second occurrence."""
    match = _PART.fullmatch(part)
    if not match:
        raise ValueError(f"{part!r} is neither a word nor a word with its number, such as the#2.")
    wanted = match[1].replace("_", " ")
    places = [found.start() for found in re.finditer(f"(?={re.escape(wanted)})", text)]
    places = [at for at in places if not is_within_word(text, at) and not is_within_word(text, at + len(wanted))]
    if not places:
        raise ValueError(f"{wanted!r} is not a word of {text!r}.")
    if match[2] is None and len(places) > 1:
        raise ValueError(f"{wanted!r} is {len(places)} times in {text!r}: write {match[1]}#1 for the first.")
    which = int(match[2] or 1)
    if which > len(places):
        raise ValueError(f"{wanted!r} is not {which} times in {text!r}.")
    return places[which - 1], places[which - 1] + len(wanted)


def _word_spans(tokens: tuple[Token, ...]) -> list[Span]:
    return [(min(tokens[at].start for at in word), max(tokens[at].end for at in word)) for word in words_of(tokens)]


def _number_links(links: Sequence[SpanLink], src: Sequence[Span], tgt: Sequence[Span]) -> frozenset[Link]:
    return frozenset(
        link
        for ours, theirs in links
        for link in product(_overlapping_words(ours, src), _overlapping_words(theirs, tgt))
    )


def _overlapping_words(parts: Sequence[Span], words: Sequence[Span]) -> list[int]:
    """Return the indices of the words that share a character with a part."""
    return [
        number
        for number, (start, end) in enumerate(words)
        if any(max(start, first) < min(end, last) for first, last in parts)
    ]
