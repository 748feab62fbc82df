"""How much text is taken, and what is said when it was too much or unusable."""

import re

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


def require_text(text: str) -> None:
    """Raises TextError when there is nothing to read."""
    if not text.strip():
        raise TextError('The sentence is empty: type one, for example "I love you."')
