"""The C library's memory, for a process that answers for weeks and keeps much in caches between what it throws away.

glibc gives each new thread a heap of its own, up to eight for every core, and once a large piece has been freed it
takes the next ones of that size from a heap too. Every run is a thread: pieces that caches keep then lie scattered over
heaps whose free parts never go back to the system, and memory grows although what is in use does not.
"""

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # of glibc's malloc.h
_HEAPS = 2
_LARGE = 4 << 20  # bytes, as a long text's tensors have; what a sentence needs is smaller, and taken from a heap sooner
_SPARE = 32 << 20  # bytes at a heap's end that it keeps: handing them back after each answer costs 6 ms of the next


def prepare() -> None:
    """Few heaps, and none of them for large pieces: these go back to the system when they are freed. Does nothing
    where the C library is not glibc.
    """
    set_option = _from_glibc("mallopt")
    if set_option is not None:
        set_option(_ARENA_MAX, _HEAPS)
        set_option(_MMAP_THRESHOLD, _LARGE)
        set_option(_TRIM_THRESHOLD, _SPARE)


def give_back() -> None:
    """Hand what is free back to the system, where the C library is glibc."""
    trim = _from_glibc("malloc_trim")
    if trim is not None:
        trim(0)


def _from_glibc(name: str) -> "ctypes._NamedFuncPointer | None":
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
