"""How many bytes caches may take: a share of the memory that there really is, all of them together."""

import os
from pathlib import Path

# What each cache may take of all that caches may take; none is asked for that does not stand here.
PARTS = {
    "traces": 0.3,
    "maps": 0.05,  # and their traces, which may be counted twice
    "pictures": 0.05,  # and theirs
    "decodings": 0.12,
    "masked runs": 0.12,
    "own tensors": 0.16,  # and what is made of them
    "payloads": 0.1,
    "batches": 0.05,
    "pairs": 0.05,
}
MOST = 4.2e9  # bytes of all caches, however much memory there is
_SHARE = 0.4  # of the memory that there is
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container, v2 and v1


def bytes_for(part: str) -> float:
    """How many bytes a cache may take. Raises KeyError for one that `PARTS` has not, ValueError as `share`."""
    return PARTS[part] * min(MOST, share() * memory())


def share() -> float:
    """What caches may take of the memory: ATTNVIZ_MEMORY_SHARE, if it is set. Raises ValueError with one sentence."""
    said = os.environ.get("ATTNVIZ_MEMORY_SHARE", "").strip()
    try:
        found = float(said or _SHARE)
    except ValueError:
        found = 0.0
    if not 0.05 <= found <= 0.9:
        raise ValueError(f"ATTNVIZ_MEMORY_SHARE={said!r} is no share of the memory: give a number from 0.05 to 0.9.")
    return found


def memory(root: Path = Path("/")) -> float:
    """Bytes that this process can have: of the machine, or fewer where a container has a limit."""
    found = [_number(root / limit.lstrip("/")) for limit in _LIMITS]
    return min([_of_machine(), *(limit for limit in found if limit)])


def _of_machine() -> float:
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not Linux, not macOS
        return MOST / _SHARE


def _number(file: Path) -> float:
    """A limit in bytes; 0 where there is none."""
    try:
        said = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return 0.0
    return float(said) if said.isdecimal() else 0.0
