"""Limits on texts, and the sentences for texts that are too long or unusable."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

MAX_CHARACTERS = 2_000
MAX_TOKENS = 512
MAX_TOKENIZER_BYTES = 20_000_000
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class TextError(ValueError):
    """A sentence or a tokenizer that cannot be used; the message says why and what to do."""


@contextmanager
def catch_panics() -> Iterator[None]:
    """Turn a panic of the `tokenizers` library into a TextError.

    A panic is no `Exception` (pyo3's PanicException derives from BaseException), so nothing else here would catch it:
    the thread of a page's run would end without a word, and its browser would wait for ever.
    """
    try:
        yield
    except Exception:
        raise
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # pyo3 makes this class, and no module exports it
            raise
        said = (str(error).splitlines() or [""])[0][:150]
        raise TextError(f"The model's tokenizer breaks off: its files are damaged ({said}).") from None


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which no encoder takes, by U+FFFD, one for one, so that offsets stay."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def cut_to_limit(text: str, limit: int = MAX_CHARACTERS) -> tuple[str, str | None]:
    """Return the first `limit` characters, and a sentence about the cut (None without one)."""
    if len(text) <= limit:
        return text, None
    return text[:limit], f"Only the first {limit:,} of {len(text):,} characters were read."


def prefix_notes(sentence: str, notes: tuple[str, ...]) -> tuple[str, ...]:
    """Put a sentence's name before its notes: "Source: only the first 510 of 600 tokens were kept."."""
    return tuple(f"{sentence}: {note[0].lower()}{note[1:]}" for note in notes)


def require_room(max_tokens: int) -> None:
    """Check that a target may have a token. Raises ValueError otherwise."""
    if max_tokens < 1:
        raise ValueError(f"A target needs room for at least 1 token, not {max_tokens}.")


def require_count(new_tokens: int | None) -> None:
    """Check a number of tokens to write; None leaves it to the model. Raises ValueError below 0."""
    if new_tokens is not None and new_tokens < 0:
        raise ValueError(f"new_tokens is 0 or more, not {new_tokens}.")


def require_ids(ids: Iterable[int], known: int) -> None:
    """Check that a vocabulary of `known` tokens has all ids. Raises ValueError for the first that it has not."""
    if (beyond := next((id_ for id_ in ids if not 0 <= id_ < known), None)) is not None:
        raise ValueError(f"There is no token {beyond}: this model knows ids 0 to {known - 1:,}.")


def require_text(text: str) -> None:
    """Check that a text is more than spaces. Raises TextError for an empty one."""
    if not text.strip():
        raise TextError('The sentence is empty: type one, for example "I love you."')
