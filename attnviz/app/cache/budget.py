"""How many bytes each cache may use. All caches together use a share of the memory of the machine or its container."""

import os

from attnviz.guards.memory import memory

# What each cache may take of all that caches may take; none is asked for that does not stand here.
PARTS = {
    "traces": 0.23,
    "decodings": 0.12,
    "masked runs": 0.08,
    "written under masks": 0.04,
    "own tensors": 0.16,  # and what is made of them
    "pictures": 0.15,  # and what they are made from
    "batches": 0.05,
    "pairs": 0.05,
    "replies": 0.1,
    "conversations": 0.02,  # as templates have written them
}
MOST = 4.2e9  # bytes of all caches, however much memory there is
_SHARE = 0.4  # of the memory that there is


def bytes_for(part: str) -> float:
    """Return how many bytes a cache may use.

    Raises KeyError for a name missing from `PARTS`, ValueError as `share` does.
    """
    return PARTS[part] * min(MOST, share() * memory())


def share() -> float:
    """Return the share of the memory that caches may use: ATTNVIZ_MEMORY_SHARE if it is set, or the default.

    Raises ValueError if the variable is not a number from 0.05 to 0.9.
    """
    said = os.environ.get("ATTNVIZ_MEMORY_SHARE", "").strip()
    try:
        found = float(said or _SHARE)
    except ValueError:
        found = 0.0
    if not 0.05 <= found <= 0.9:
        raise ValueError(
            f"ATTNVIZ_MEMORY_SHARE={said!r} is not a share of the memory. Please set it to a number from 0.05 to 0.9."
        )
    return found
