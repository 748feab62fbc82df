"""What the C library does with memory, asked in a process of its own."""

import json
import subprocess
import sys

import pytest

_COUNTED = """
import ctypes, json, sys, threading
from attnviz.server import allocator

class Counts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "free_chunks", "_1", "mapped", "_2", "_3", "_4", "in_use", "free", "_5")]

told = ctypes.CDLL(None).mallinfo2
told.restype = Counts
if sys.argv[1] == "prepared":
    allocator.prepare()
del (first := [bytearray(16 << 20)])[:]
before = told().mapped
kept = bytearray(8 << 20)
print(json.dumps(told().mapped - before))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc is Linux's")
def test_a_large_piece_is_the_systems_own_also_after_one_was_freed() -> None:
    mapped = {}
    for how in ("as it is", "prepared"):
        done = subprocess.run([sys.executable, "-c", _COUNTED, how], capture_output=True, text=True, check=True)
        mapped[how] = json.loads(done.stdout)
    assert mapped["as it is"] <= 0, "then this machine's C library needs no telling"
    assert mapped["prepared"] >= 1
