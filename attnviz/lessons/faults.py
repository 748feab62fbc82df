"""Mistakes of a lesson's texts, collected while it is read: the place of each, and a sentence on it.

Readers raise `LessonError` for what they cannot read; `FaultList.collect` takes its mistakes, adds the place, and lets
the reading go on with the next field or step. A sentence names its field as its reader knows it: a file by its key, the
form that asks the room by the field's label.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

MOST_NAMED = 40  # mistakes of one file


@dataclass(frozen=True)
class Fault:
    """One mistake. `sentence` has no full stop, and begins after its subject: the `field`, by its key, if there is one.
    `in_file` says how a file writes it; `line` counts from 1 (0: unknown), `place` is such as "step 3, question".
    """

    sentence: str
    field: str = ""
    in_file: str = ""
    line: int = 0
    place: str = ""

    def file_sentence(self) -> str:
        """Return the fault in the file's terms: line, place, key, and how the file writes it."""
        where = ", ".join(filter(None, (f"line {self.line}" if self.line else "", self.place)))
        said = "; ".join(filter(None, (self._subject_sentence(self.field), self.in_file)))
        return f"{_capital(where)}: {said}." if where else f"{_capital(said)}."

    def form_sentence(self, label: Callable[[str], str]) -> str:
        """Return the fault in a form's terms; `label` gives the name of a key's field."""
        return f"{_capital(self._subject_sentence(label(self.field) if self.field else ''))}."

    def _subject_sentence(self, name: str) -> str:
        return f"“{name}” {self.sentence}" if name else self.sentence


class LessonError(ValueError):
    """The mistakes of a lesson, or of a part of it; its message has a line for each."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__("\n".join(limit_sentences([fault.file_sentence() for fault in faults])))
        self.faults = faults


class FaultList:
    """The mistakes that were found so far."""

    def __init__(self) -> None:
        self._found: list[Fault] = []

    def add(self, sentence: str, field: str = "", *, in_file: str = "", line: int = 0) -> None:
        """Note a mistake."""
        self._found.append(Fault(sentence, field, in_file, line))

    @contextmanager
    def collect(self, *, field: str = "", line: int = 0, place: str = "") -> Iterator[None]:
        """Collect the mistakes that are raised inside, and add the place that they lack; a place stands before the
        place within it.
        """
        try:
            yield
        except LessonError as error:
            for one in error.faults:
                where = ", ".join(filter(None, (place, one.place)))
                self._found.append(replace(one, field=one.field or field, line=one.line or line, place=where))

    @property
    def found(self) -> tuple[Fault, ...]:
        """The mistakes, in the order of lines, each once."""
        return tuple(sorted(dict.fromkeys(self._found), key=lambda one: one.line))

    def raise_any(self) -> None:
        """Raise LessonError, if anything was found."""
        if self._found:
            raise LessonError(*self.found)


def limit_sentences(sentences: Sequence[str]) -> list[str]:
    """Return the first `MOST_NAMED` sentences, and how many more follow."""
    rest = len(sentences) - MOST_NAMED
    return [*sentences] if rest <= 0 else [*sentences[:MOST_NAMED], f"And {rest} more: mend these first."]


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
