"""The server's side of the training worker: a process that is started on demand and killed when it hangs."""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from threading import Timer
from typing import Any, BinaryIO

from attnviz.places import CODE
from attnviz.toys.learn import seconds_allowed

_LENGTH = 8  # bytes
_PATIENCE = 45.0  # seconds of silence, beyond the longest allowed run, after which the worker hangs


class WorkerProcess:
    """A worker process that is restarted after it ended.

    One thread may call `ask`; any thread may read `pid` and call `kill`. A worker that sends nothing for `silence`
    seconds is killed; the default is 45 s plus the longest allowed run.
    """

    def __init__(self, silence: float | None = None) -> None:
        self._silence = silence
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The id of the process, or None if it does not run."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def ask(self, said: Any) -> Iterator[Any]:
        """Send a message, and yield the answers until the worker ends or the caller stops."""
        process = self._start()
        try:
            write_frame(process.stdin, said)  # type: ignore[arg-type]
            while (frame := self._frame(process)) is not None:
                yield frame
        except OSError:
            return

    def kill(self) -> None:
        """Kill the worker, so that a waiting reader gets the end of the stream."""
        if self._process is not None:
            self._process.kill()

    def end(self) -> None:
        """End the worker and close its pipes."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # unsent data cannot be flushed to a killed process
                    continue
        process.wait()

    def _frame(self, process: "subprocess.Popen[bytes]") -> Any | None:
        """Read the worker's next message; None if the worker ended or was silent too long."""
        timer = Timer(_PATIENCE + seconds_allowed() if self._silence is None else self._silence, process.kill)
        timer.daemon = True
        timer.start()
        try:
            return read_frame(process.stdout)  # type: ignore[arg-type]
        finally:
            timer.cancel()

    def _start(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            self.end()
            paths = os.pathsep.join(filter(None, (str(CODE), os.environ.get("PYTHONPATH"))))
            self._process = subprocess.Popen(
                [sys.executable, "-m", "attnviz.learning.live.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | {"PYTHONPATH": paths, "OMP_WAIT_POLICY": "passive"},
            )
        return self._process


def write_frame(stream: BinaryIO, said: Any) -> None:
    """Send a message. Raise BrokenPipeError if the other end is closed."""
    content = pickle.dumps(said, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(len(content).to_bytes(_LENGTH, "little") + content)
    stream.flush()


def read_frame(stream: BinaryIO) -> Any | None:
    """Read the next message; return None at the end of the stream, even within a message."""
    length = stream.read(_LENGTH)
    if len(length) < _LENGTH:
        return None
    content = stream.read(size := int.from_bytes(length, "little"))
    return pickle.loads(content) if len(content) == size else None
