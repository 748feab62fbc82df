"""Spans of a decoder's text, by a rule or by hand, and their notation in the address parameter `spans`.

The notation is `rule:roles`, `rule:sentences`, `rule:passages`, or `name=start-end;name=start-end`, with token indices
from 0, the end excluded, and percent-encoded names. Rules split the text by characters; a token belongs to the piece
that contains its first letter.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import quote, unquote

from attnviz.text.limits import replace_surrogates
from attnviz.text.tokens import Span, Token, check_spans

RULES = {"roles": "Roles", "sentences": "Sentences", "passages": "Passages"}
MOST_SPANS, MOST_NAME = 100, 60
_BY_HAND = re.compile(r"([^=;]*)=([0-9]{1,7})-([0-9]{1,7})")
_RANGE = re.compile(r"([0-9]{1,7})-([0-9]{1,7})")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class Cut(NamedTuple):
    """A piece of a text that becomes a span, with its name: characters `start` to `end`, `end` excluded."""

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
    """Return the pieces of a text of `end` characters before, between and after the cuts; they have no names."""
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
    """Return the end of the first line or paragraph with a word in it, as `pattern` separates them; else the text's
    end.
    """
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


@dataclass(frozen=True)
class SpannedText:
    """A decoder's text with all of its tokens, and the turns if it is a conversation."""

    tokens: tuple[Token, ...]
    text: str
    turns: tuple[Span, ...] = ()

    @classmethod
    def of(cls, tokens: Sequence[Token], text: str, turns: Sequence[Span] = ()) -> "SpannedText":
        """Make the text from tokens with character positions; for tokens without positions, as in a file of
        weights, concatenate their texts.
        """
        if all(token.is_special or text[token.start : token.end] == token.text for token in tokens):
            return cls(tuple(tokens), text, tuple(turns))
        placed, joined = [], ""
        for token in tokens:
            placed.append(replace(token, start=len(joined), end=len(joined) + len(token.text)))
            joined += token.text
        return cls(tuple(placed), joined, tuple(turns))

    @property
    def regions(self) -> tuple[Span, ...]:
        """The turns of a conversation; for a plain text, the prompt and the text written after it."""
        if self.turns:
            return self.turns
        written = next((at for at, token in enumerate(self.tokens) if token.segment), len(self.tokens))
        has_more = written < len(self.tokens)
        parts = Span("prompt" if has_more else "text", 0, written), Span("written", written, len(self.tokens))
        return tuple(part for part in parts if len(part))

    def role_of(self, span: Span) -> str:
        """Return the role of the turn that contains a span; "" if no turn contains it."""
        return next((turn.role for turn in self.turns if turn.start <= span.start and span.end <= turn.end), "")


def read_spans(written: str, spanned: SpannedText) -> tuple[Span, ...]:
    """Parse the address parameter `spans`. Raise ValueError with a message of one sentence if it is invalid."""
    if not written.strip():
        return default_spans(spanned)
    if written.startswith("rule:"):
        return spans_by_rule(written.removeprefix("rule:"), spanned)
    found = [_by_hand(part) for part in written.split(";") if part.strip()]
    if len(found) > MOST_SPANS:
        raise ValueError(f"At most {MOST_SPANS} spans are shown; these are {len(found)}.")
    checked = check_spans(found, len(spanned.tokens))
    return tuple(replace(span, role=spanned.role_of(span)) for span in checked)


def write_spans(spans: Sequence[Span]) -> str:
    """Return spans in the notation of the address parameter."""
    return ";".join(f"{quote(replace_surrogates(span.name), safe='')}={span.start}-{span.end}" for span in spans)


def default_spans(spanned: SpannedText) -> tuple[Span, ...]:
    """Return the turns of a conversation; for a plain text its sentences, or its regions if it has too many
    sentences.
    """
    return spans_by_rule(default_rule(spanned), spanned)


def default_rule(spanned: SpannedText) -> str:
    """Return the name of the rule that is used if none is requested."""
    return "roles" if spanned.turns or missing_reason("sentences", spanned) else "sentences"


def missing_reason(rule: str, spanned: SpannedText) -> str:
    """Return why a rule finds no spans in a text; "" if it finds some."""
    try:
        spans_by_rule(rule, spanned)
    except ValueError as why:
        return str(why)
    return ""


def spans_by_rule(rule: str, spanned: SpannedText) -> tuple[Span, ...]:
    """Split a text into spans by a rule.

    Raise ValueError with a message of one sentence if it finds none, or too many.
    """
    if rule not in RULES:
        raise ValueError(f"There is no rule called “{rule[:40]}”. Please choose one of {', '.join(RULES)}.")
    found = {"roles": _roles, "sentences": _sentences, "passages": _passages}[rule](spanned)
    if not found:
        raise ValueError("This text has no tokens, so it has no spans.")
    if len(found) > MOST_SPANS:
        raise ValueError(f"This text has {len(found)} {rule}; at most {MOST_SPANS} spans are shown.")
    return check_spans(_told_apart(found), len(spanned.tokens))


def read_answer(written: str, spanned: SpannedText) -> Span:
    """Parse which tokens are the answer, written `start-end`.

    "" means the assistant's last turn, otherwise the written text, otherwise the last token. Raise ValueError with a
    message of one sentence for an invalid range.
    """
    if not written.strip():
        return _default_answer(spanned)
    found = _RANGE.fullmatch(written.strip())
    if found is None:
        raise ValueError("Write an answer as its first token and the one after its last, such as 12-20.")
    (answer,) = check_spans([Span("answer", int(found[1]), int(found[2]))], len(spanned.tokens))
    if answer.start < 1:
        raise ValueError("The answer begins with the first token, which no row outputs. Please choose a later span.")
    return replace(answer, role=spanned.role_of(answer))


def _default_answer(spanned: SpannedText) -> Span:
    length = len(spanned.tokens)
    if length < 2:
        raise ValueError("This text has only one token. An answer needs at least one token before it.")
    spoken = [turn for turn in spanned.turns if turn.role == "assistant" and 0 < turn.start < turn.end <= length]
    written = [region for region in spanned.regions if region.name == "written" and region.start > 0]
    return replace(next(iter(spoken[-1:] + written), Span("", length - 1, length)), name="answer")


def _by_hand(part: str) -> Span:
    found = _BY_HAND.fullmatch(part.strip())
    name = "" if found is None else _CONTROLS.sub(" ", replace_surrogates(unquote(found[1]))).strip()[:MOST_NAME]
    if found is None or not name:
        raise ValueError(f"“{part.strip()[:40]}” is not a span. Please write name=start-end, such as question=12-20.")
    return Span(name, int(found[2]), int(found[3]))


def _roles(spanned: SpannedText) -> list[Span]:
    return [region for region in spanned.regions if region.start < len(spanned.tokens)]


def _sentences(spanned: SpannedText) -> list[Span]:
    """Split each region into sentences. A region of a single sentence, and the written text, keep the region's name."""
    found: list[Span] = []
    for region in spanned.regions:
        begin, text = _characters(spanned, region)
        cuts = cut_sentences(text)
        if len(cuts) < 2 or region.name == "written":
            cuts = [Cut(region.name, 0, len(text) + 1)]
        elif spanned.turns:
            cuts = [cut._replace(name=f"{region.name}, {cut.name}") for cut in cuts]
        found += _to_tokens(cuts, begin, spanned, region)
    return found


def _passages(spanned: SpannedText) -> list[Span]:
    """Find the passages in each region; the pieces around the passages become spans too."""
    found, has_some = [], False
    for region in spanned.regions:
        begin, text = _characters(spanned, region)
        cuts = cut_passages(text)
        has_some |= bool(cuts)
        around = [_name_piece(piece, text, region) for piece in pieces_around(cuts, len(text))]
        found += _to_tokens(sorted([*cuts, *filter(None, around)], key=lambda cut: cut.start), begin, spanned, region)
    if not has_some:
        raise ValueError("This text has no numbered passages: write [1], 2. or Passage 3: before each.")
    return found


def _name_piece(piece: Cut, text: str, region: Span) -> Cut | None:
    """Name a piece outside the passages: "question" if it is one, otherwise its turn's name; None without a word."""
    written = text[piece.start : piece.end].strip()
    if not any(sign.isalnum() for sign in written):
        return None
    return piece._replace(name="question" if written.endswith(("?", "？")) else region.name)


def _characters(spanned: SpannedText, region: Span) -> tuple[int, str]:
    """Return the character position at which a region begins, and the text of the region."""
    tokens = [token for token in spanned.tokens[region.start : region.end] if token.end > token.start]
    if not tokens:
        return 0, ""
    begin = min(token.start for token in tokens)
    return begin, spanned.text[begin : max(token.end for token in tokens)]


def _to_tokens(cuts: Sequence[Cut], begin: int, spanned: SpannedText, region: Span) -> list[Span]:
    """Return the tokens of each piece as a span, in order; pieces in which no token begins are left out."""
    starts, reached = [cut.start for cut in cuts], 0
    held: dict[int, list[int]] = {}
    for position in range(region.start, min(region.end, len(spanned.tokens))):
        letter = _first_letter(spanned.tokens[position], spanned.text)
        index = -1 if letter is None else bisect_right(starts, letter - begin) - 1
        if letter is not None and index >= 0 and letter - begin < cuts[index].end:
            reached = max(reached, index)  # keeps positions in order for one-letter pieces and tokens out of order
            held.setdefault(reached, []).append(position)
    return [Span(cuts[index].name, at[0], at[-1] + 1, region.role) for index, at in held.items()]


def _first_letter(token: Token, text: str) -> int | None:
    """Return the position of a token's first non-space character; None for a token without text."""
    if token.end <= token.start or token.is_special:
        return None
    written = text[token.start : token.end].lstrip()
    return token.end - len(written) if written else token.start


def _told_apart(spans: Sequence[Span]) -> list[Span]:
    """Add numbers to spans with the same name: user, user (2)."""
    seen: dict[str, int] = {}
    found = []
    for span in spans:
        count = seen[span.name] = seen.get(span.name, 0) + 1
        found.append(span if count == 1 else replace(span, name=f"{span.name} ({count})"))
    return found
