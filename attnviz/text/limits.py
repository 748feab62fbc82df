"""Limits on the length of texts, and the messages for texts that are too long or unusable."""

import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

MAX_CHARACTERS = 2_000
MAX_TOKENS = 512
MOST_TOKENS = 1_024  # default limit for a checkpoint's text; all heads of twelve layers can be drawn
MAX_TOKENIZER_BYTES = 20_000_000
_CUT = re.compile(r"only the first [\d,]+ of [\d,]+ (?:tokens|characters|words) were (?:kept|read)", re.IGNORECASE)
_PACKAGE = str(Path(__file__).parents[1])
_shows_cuts: ContextVar[bool] = ContextVar("shows_cuts", default=False)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class TextError(ValueError):
    """A sentence or a tokenizer cannot be used; the message says why and what to do."""


@contextmanager
def catch_panics() -> Iterator[None]:
    """Turn a panic of the `tokenizers` library into a TextError.

    A panic is not an `Exception` (pyo3's PanicException derives from BaseException), so no other handler here catches
    it: the thread that runs the page would end silently, and the browser would wait for ever.
    """
    try:
        yield
    except Exception:
        raise
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # pyo3 creates this class at run time, and no module exports it
            raise
        said = (str(error).splitlines() or [""])[0][:150]
        raise TextError(f"The model's tokenizer crashes: its files are damaged ({said}).") from None


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded, with one U+FFFD each, so that character offsets stay
    the same.
    """
    return _LONE_SURROGATE.sub("\ufffd", text)


def cut_to_limit(text: str, limit: int = MAX_CHARACTERS) -> tuple[str, str | None]:
    """Return the first `limit` characters, and a note that says how much was cut (None if nothing was)."""
    if len(text) <= limit:
        return text, None
    return text[:limit], f"Only the first {limit:,} of {len(text):,} characters were read."


def cut_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the notes that say that only the beginning of a text was read."""
    return tuple(note for note in notes if _CUT.search(note))


@contextmanager
def cuts_are_shown() -> Iterator[None]:
    """Suppress the warnings about truncated texts, because the caller shows each run's notes to the user."""
    token = _shows_cuts.set(True)
    try:
        yield
    finally:
        _shows_cuts.reset(token)


def warn_of_cuts(notes: Iterable[str], hint: str = "") -> None:
    """Warn that only the beginning of a text was read; `hint` says what to do. The warning names the caller's line."""
    said = cut_notes(notes)
    if said and not _shows_cuts.get():
        warnings.warn(" ".join((*said, hint)).strip(), UserWarning, stacklevel=_levels_to_the_caller())


def require_whole(notes: Iterable[str], new_tokens: int | None, limit: int, most: int) -> None:
    """Raise ValueError if a text that the model should continue was truncated, unless the caller shows the notes.

    `limit` is the number of tokens that were kept, `most` the most tokens that the model can read.
    """
    said = cut_notes(notes)
    if new_tokens and said and not _shows_cuts.get():
        whole = "pass a larger max_tokens=… to read the whole text" if limit < most else "pass a shorter text"
        raise ValueError(
            f"{said[0]} New tokens would follow the cut. Please {whole}, or max_tokens={limit} to write on from the "
            "part that was read."
        )


def _levels_to_the_caller() -> int:
    """Count the stack frames from `warn_of_cuts` to the first frame outside this package and torch."""
    frame, levels = sys._getframe(2), 2
    while frame.f_back is not None and _is_ours(frame.f_code.co_filename):
        frame, levels = frame.f_back, levels + 1
    return levels


def _is_ours(file: str) -> bool:
    return file.startswith(_PACKAGE) or f"{Path('site-packages', 'torch')}" in file


def prefix_notes(sentence: str, notes: tuple[str, ...]) -> tuple[str, ...]:
    """Put a sentence's name before each of its notes: "Source: only the first 510 of 600 tokens were kept."."""
    return tuple(f"{sentence}: {note[0].lower()}{note[1:]}" for note in notes)


def require_room(max_tokens: int) -> None:
    """Raise ValueError unless a target may have at least one token."""
    if max_tokens < 1:
        raise ValueError(f"A target needs room for at least 1 token, not {max_tokens}.")


def require_count(new_tokens: int | None) -> None:
    """Raise ValueError if the number of tokens to generate is below 0; None lets the model decide."""
    if new_tokens is not None and new_tokens < 0:
        raise ValueError(f"new_tokens must be 0 or more, not {new_tokens}.")


def require_ids(ids: Iterable[int], known: int) -> None:
    """Raise ValueError for the first id that is not in a vocabulary of `known` tokens."""
    if (beyond := next((id_ for id_ in ids if not 0 <= id_ < known), None)) is not None:
        raise ValueError(f"There is no token {beyond}: this model knows ids 0 to {known - 1:,}.")


def require_text(text: str) -> None:
    """Raise TextError if a text is empty or only spaces."""
    if not text.strip():
        raise TextError('The sentence is empty. Please type one, for example "I love you."')
