"""The secrets of a class: its code, which people type, and the tokens in links and browsers."""

import hashlib
import hmac
import secrets
import unicodedata

# Letters that cannot be taken for one another or for a number, and that make no words. Eight of them are 25,600,000,000
# codes: at the most tries that `FairJoining` lets through, the code of one of 1,000 classes is met after 59 days.
LETTERS = "BCDFGHJKMNPQRSTVWXYZ"
LENGTH = 8
_REHEARSAL = "A"  # the first letter of a rehearsal's code, and of no class's: a code says which of them it is
_TOKEN_BYTES = 24


def new_code(*, is_rehearsal: bool = False) -> str:
    """Return a random code with which students can join a new class."""
    code = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
    return _REHEARSAL + code[1:] if is_rehearsal else code


def is_rehearsal(code: str) -> bool:
    """Check whether a code belongs to a rehearsal, which no student may join."""
    return code.startswith(_REHEARSAL)


def read_code(typed: str) -> str:
    """Normalize a typed code, which may have spaces, hyphens or small letters; "" if it cannot be a code."""
    if len(typed) > 100:
        return ""
    plain = unicodedata.normalize("NFKC", typed).upper()
    code = "".join(one for one in plain if unicodedata.category(one)[0] not in "ZPC")
    letters = code.removeprefix(_REHEARSAL)
    return code if len(code) == LENGTH and set(letters) <= set(LETTERS) else ""


def format_code(code: str) -> str:
    """Format a code as two halves with a space between them, which is easier to read aloud."""
    half = len(code) // 2
    return f"{code[:half]} {code[half:]}"


def new_token() -> str:
    """Return a random secret of 192 bits that can be part of a link."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def hash_token(token: str) -> bytes:
    """Hash a token for the database. It has too many bits to be guessed from its hash."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def is_token_of(token: str, stored: bytes) -> bool:
    """Compare a token with a stored hash in constant time."""
    return hmac.compare_digest(hash_token(token), stored)
