"""Crafted files of any content: each is opened within bounds of memory and time, or refused in one sentence."""

import json
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile import archives, folders, tensor_files

ROOT = Path(__file__).parents[2]
MEGABYTE = 1 << 20
# Megabytes and seconds of the processor that opening one may take. Weights of 128 MB are read, and become a second
# array; a trace may unpack to 256 MB, a recording to 32.
BOUNDS = {"npz": (400, 10), "safetensors": (200, 10), "trace": (400, 10), "recording": (120, 10), "folder": (300, 20)}
# Refused by what the header says, before anything of it is made: a tenth of what the contents would take.
BY_HEADER = (40, 3)
BOUNDS_OF = dict.fromkeys(
    (
        "thirty million empty texts",
        "thirty million empty texts, as pieces",
        "a kind of a hundred megabytes",
        "a million empty tensors",
        "sixty thousand empty tensors",
        "weights of 600,000 names",
        "weights of short names",
    ),
    BY_HEADER,
)
NAMES = {
    "npz": [*archives.REFUSED, *archives.TAKEN],
    "safetensors": list(tensor_files.SAFETENSORS),
    "trace": [
        "a bomb that says it is a hundred bytes",
        "a directory of a million",
        "Python objects",
        "a shape of 10^15",
        "thirty million empty texts, as pieces",
        "a character beyond Unicode",
    ],
    "recording": [
        "a bomb that says it is a hundred bytes",
        "a directory of a million",
        "Python objects",
        *archives.RECORDINGS,
    ],
    "folder": list(folders.FOLDERS),
}
CORPUS = [(kind, name) for kind, names in NAMES.items() for name in names]
TAKEN = {*archives.TAKEN}
# What the sentence must say: that it was refused before it was unpacked, and not for something else.
SAID = {"bzip2": "another way than deflate", "LZMA": "another way than deflate", "a directory of a million": "members"}
SAID |= dict.fromkeys(("many members of zeros", "deflate of half a gigabyte"), "it unpacks to more than 128 MB")
SAID |= dict.fromkeys(folders.MARIAN, "numbers, and it asks for 6,0")
SAID |= {"weights of 600,000 names": "its header takes 3", "weights of short names": "it names 125,000 tensors"}
MAKING = 90  # seconds until a piece is made ready and, the first time, torch imported, on a busy machine


class Child:
    """A process that opens pieces. It is ended and begun anew where one takes too long."""

    def __init__(self) -> None:
        self._process = None

    def open(self, kind: str, name: str) -> dict:
        """Open a piece in the process: its result, or that it gave none in time."""
        if self._process is None or self._process.poll() is not None:
            command = (sys.executable, "-m", "tests.hostile.child")
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            self._process = subprocess.Popen(command, cwd=ROOT, text=True, bufsize=1, **pipes)
        self._process.stdin.write(f"{kind}\t{name}\n")
        ready, _, _ = select.select([self._process.stdout], [], [], MAKING)
        line = self._process.stdout.readline() if ready else ""
        if not line:
            self.end()
            return {"said": "", "fault": "it hangs, or the process died", "grown": 0, "seconds": MAKING}
        return json.loads(line)

    def end(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            for pipe in (self._process.stdin, self._process.stdout):
                pipe.close()
            self._process.wait()
            self._process = None


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    """Start the process that opens all pieces: most of what it costs is to begin it."""
    one = Child()
    yield one
    one.end()


@pytest.mark.parametrize(("kind", "name"), CORPUS, ids=[f"{kind}: {name}" for kind, name in CORPUS])
def test_a_crafted_file_takes_neither_memory_nor_time_and_is_refused_in_one_sentence(child, kind, name) -> None:
    found = child.open(kind, name)
    assert not found["fault"]
    said = found["said"]
    assert len(said) < 600
    assert "\n" not in said
    if kind in ("npz", "trace", "recording"):
        assert bool(said) == (name not in TAKEN), said
    assert SAID.get(name, "") in said
    megabytes, seconds = BOUNDS_OF.get(name, BOUNDS[kind])
    assert found["grown"] < megabytes * MEGABYTE, f"{found['grown'] / MEGABYTE:.0f} MB"
    assert found["seconds"] < seconds
