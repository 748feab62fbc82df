"""Mistakes in a lesson's text, collected while it is read: for each a sentence and its place.

Functions that read a lesson raise `LessonError` for what they cannot read. `FaultList.collect` catches the error, adds
the place, and lets the caller go on with the next field or step. A message for a file names a field by its key; a
message for the form *Ask the room* names it by its label.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

MOST_NAMED = 40  # mistakes of one file


@dataclass(frozen=True)
class Fault:
    """One mistake.

    `sentence` has no full stop. If there is a `field`, given by its key, the sentence lacks its subject, which is the
    field. `in_file` tells how to write it correctly in a file. `line` counts from 1 (0: unknown); `place` is a text
    such as "step 3, question".
    """

    sentence: str
    field: str = ""
    in_file: str = ""
    line: int = 0
    place: str = ""

    def file_sentence(self) -> str:
        """Return the message for the author of a file: line, place, key, and how to write it correctly."""
        where = ", ".join(filter(None, (f"line {self.line}" if self.line else "", self.place)))
        said = "; ".join(filter(None, (self._subject_sentence(self.field), self.in_file)))
        return f"{_capital(where)}: {said}." if where else f"{_capital(said)}."

    def form_sentence(self, label: Callable[[str], str]) -> str:
        """Return the message for the user of a form. `label(key)` returns the label of the field with that key."""
        return f"{_capital(self._subject_sentence(label(self.field) if self.field else ''))}."

    def _subject_sentence(self, name: str) -> str:
        return f"“{name}” {self.sentence}" if name else self.sentence


class LessonError(ValueError):
    """Raised for the mistakes in a lesson or a part of it. The message has one line per mistake."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__("\n".join(limit_sentences([fault.file_sentence() for fault in faults])))
        self.faults = faults


class FaultList:
    """List of the mistakes that were found so far in a lesson's text."""

    def __init__(self) -> None:
        self._found: list[Fault] = []

    def add(self, sentence: str, field: str = "", *, in_file: str = "", line: int = 0) -> None:
        """Add a mistake; the parameters are the fields of `Fault`."""
        self._found.append(Fault(sentence, field, in_file, line))

    @contextmanager
    def collect(self, *, field: str = "", line: int = 0, place: str = "") -> Iterator[None]:
        """Catch a LessonError raised inside this context, and add its mistakes to the list.

        Mistakes without a field or line get the ones given here; `place` is put before the place of each mistake.
        """
        try:
            yield
        except LessonError as error:
            for one in error.faults:
                where = ", ".join(filter(None, (place, one.place)))
                self._found.append(replace(one, field=one.field or field, line=one.line or line, place=where))

    @property
    def found(self) -> tuple[Fault, ...]:
        """The mistakes without duplicates, ordered by line."""
        return tuple(sorted(dict.fromkeys(self._found), key=lambda one: one.line))

    def raise_any(self) -> None:
        """Raise LessonError, which lists all mistakes, if there are any."""
        if self._found:
            raise LessonError(*self.found)


def limit_sentences(sentences: Sequence[str]) -> list[str]:
    """Return the first `MOST_NAMED` sentences, and one that tells how many were left out."""
    rest = len(sentences) - MOST_NAMED
    return [*sentences] if rest <= 0 else [*sentences[:MOST_NAMED], f"And {rest} more: please fix these first."]


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
