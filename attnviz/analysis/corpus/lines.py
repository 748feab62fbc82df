"""Lists of lines: the shipped lists of sentences with translations, which the translator was not trained on, or the
lines that a visitor pasted or uploaded. The error for an unusable line has its number.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.places import ASSETS
from attnviz.text.limits import MAX_CHARACTERS, TextError

FOLDER = ASSETS / "sentences"
_ANY = "fr"  # its English sentences are used for models of other languages
MOST_LINES = 1_000
_SHOWN = 40  # maximum characters of a line quoted in a message
_UNUSABLE = ("Cc", "Cs", "Co", "Cn")  # control characters, lone surrogates, private and unassigned ones


@dataclass(frozen=True)
class CorpusLine:
    """A sentence, its target if one is given, and its line number, from 1."""

    text: str
    target: str = ""
    number: int = 1

    def refusal(self, why: str) -> TextError:
        """Return an error about this line: it has the line's number, its text, and the reason `why`."""
        quoted = self.text if len(self.text) <= _SHOWN else f"{self.text[:_SHOWN]}…"
        return TextError(f"Line {self.number} (“{_escape(quoted)}”) {why}")


def lines_of(given: str | Sequence[str]) -> tuple[CorpusLine, ...]:
    """Split a text or a list into lines, each a sentence, optionally followed by a tab and its target.

    Blank lines are dropped, and duplicates are kept once. Raise TextError with a message of one sentence for an empty
    list, for more than `MOST_LINES` lines, and for a line that is too long or is not text.
    """
    texts = given.split("\n") if isinstance(given, str) else given
    read = [_line(text.rstrip("\r"), number) for number, text in enumerate(texts, 1) if text.strip()]
    if not read:
        raise TextError("There is no line to read. Please write one sentence per line.")
    if len(read) > MOST_LINES:
        raise TextError(
            f"There are {len(read):,} lines, but at most {MOST_LINES:,} are allowed. Please delete the "
            f"lines from line {read[MOST_LINES].number:,} on."
        )
    once: dict[tuple[str, str], CorpusLine] = {}
    for line in read:
        _require(line)
        once.setdefault((line.text, line.target), line)
    return tuple(once.values())


def _line(text: str, number: int) -> CorpusLine:
    source, _, target = text.partition("\t")
    return CorpusLine(source.strip(), target.strip(), number)


def _require(line: CorpusLine) -> None:
    for part in (line.text, line.target):
        if len(part) > MAX_CHARACTERS:
            raise line.refusal(f"has {len(part):,} characters, more than {MAX_CHARACTERS:,}. Please split it.")
        if strange := [mark for mark in part if unicodedata.category(mark) in _UNUSABLE]:
            raise line.refusal(f"has a character that is not text (U+{ord(strange[0]):04X}). Please remove it.")
    if not any(mark.isalnum() for mark in line.text):
        raise line.refusal("has neither a letter nor a digit. Please leave it out.")


def _escape(text: str) -> str:
    return "".join("\ufffd" if unicodedata.category(mark) in _UNUSABLE else mark for mark in text)


def languages() -> tuple[str, ...]:
    """Return the languages for which the package includes sentences with translations."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.tsv")))


def shipped_lines(to: str = "") -> tuple[CorpusLine, ...]:
    """Return the 200 lines of a language; for other languages and for "", English sentences without targets."""
    has_targets = to in languages()
    text = (FOLDER / f"{to if has_targets else _ANY}.tsv").read_text(encoding="utf-8")
    lines = lines_of(text.removesuffix("\n"))
    return lines if has_targets else tuple(CorpusLine(line.text, number=line.number) for line in lines)
