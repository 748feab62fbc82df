"""How much text is taken, and what is said when it was too much or unusable."""

import re
from collections.abc import Iterable

MAX_CHARACTERS = 2_000
MAX_TOKENS = 512
MAX_TOKENIZER_BYTES = 20_000_000
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class TextError(ValueError):
    """A sentence or a tokenizer that cannot be used; the message says why and what to do."""


def without_surrogates(text: str) -> str:
    """Lone surrogates, which no encoder takes, become U+FFFD, one for one, so that offsets stay."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def capped(text: str, limit: int = MAX_CHARACTERS) -> tuple[str, str | None]:
    """The first `limit` characters, and a sentence that says what was cut (None when nothing was)."""
    if len(text) <= limit:
        return text, None
    return text[:limit], f"Only the first {limit:,} of {len(text):,} characters were read."


def about(sentence: str, notes: tuple[str, ...]) -> tuple[str, ...]:
    """Notes that name the sentence they are about: "Source: only the first 510 of 600 tokens were kept."."""
    return tuple(f"{sentence}: {note[0].lower()}{note[1:]}" for note in notes)


def require_room(max_tokens: int) -> None:
    """Raises ValueError where a target may not have a single token."""
    if max_tokens < 1:
        raise ValueError(f"A target needs room for at least 1 token, not {max_tokens}.")


def require_count(new_tokens: int | None) -> None:
    """Raises ValueError for fewer tokens than none; None leaves the number to the model."""
    if new_tokens is not None and new_tokens < 0:
        raise ValueError(f"new_tokens is 0 or more, not {new_tokens}.")


def require_ids(ids: Iterable[int], known: int) -> None:
    """Raises ValueError for an id that a vocabulary of so many tokens does not have."""
    if (beyond := next((id_ for id_ in ids if not 0 <= id_ < known), None)) is not None:
        raise ValueError(f"There is no token {beyond}: this model knows ids 0 to {known - 1:,}.")


def require_text(text: str) -> None:
    """Raises TextError when there is nothing to read."""
    if not text.strip():
        raise TextError('The sentence is empty: type one, for example "I love you."')
