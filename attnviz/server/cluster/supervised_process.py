"""A supervised process, which is restarted if it exits unexpectedly. The pauses between restarts grow."""

import asyncio
import ctypes
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from attnviz.server.telemetry import Say

_FIRST, _LONGEST = 0.5, 30.0  # seconds of a pause
_STEADY = 60.0  # seconds of running after which the pauses start small again
_PARENT_DIES = 1  # prctl's PR_SET_PDEATHSIG


class SupervisedProcess:
    """A process that `run` restarts until `end`. `starts` counts its starts."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str] | None, say: Say) -> None:
        self.name, self.starts, self.status = name, 0, 0
        self._command, self._environment, self._say = command, environment, say
        self._process: asyncio.subprocess.Process | None = None
        self._is_ending = self._is_expected = False

    @property
    def is_running(self) -> bool:
        """Whether the process runs just now."""
        return self._process is not None and self._process.returncode is None

    async def run(self) -> None:
        """Start the process, and restart it whenever it exits. Raises OSError if it cannot be started at all."""
        pause = _FIRST
        while not self._is_ending:
            started, self._is_expected = time.monotonic(), False
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                env=self._environment,
                stdin=asyncio.subprocess.DEVNULL,
                start_new_session=True,  # a key pressed at the terminal is for the supervisor alone
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )
            self.starts += 1
            self.status = await self._process.wait()
            if self._is_ending or self._is_expected:
                pause = _FIRST
                continue
            pause = _FIRST if time.monotonic() - started > _STEADY else pause
            self._say("ended", process=self.name, status=self.status, again_in=pause)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST)

    def send_signal(self, sign: signal.Signals) -> None:
        """Send a signal to the process if it runs."""
        if self._process is not None and self.is_running:
            with suppress(ProcessLookupError):
                self._process.send_signal(sign)

    async def replace(self, seconds: float) -> None:
        """Ask the process to stop, and kill it after this many seconds. `run` then starts another one at once."""
        self._is_expected = True
        await self._stop(seconds)

    async def end(self, seconds: float) -> None:
        """Ask the process to stop, and kill it after this many seconds. `run` starts no other one."""
        self._is_ending = True
        await self._stop(seconds)

    async def _stop(self, seconds: float) -> None:
        process = self._process
        self.send_signal(signal.SIGTERM)
        if process is None:
            return
        try:
            async with asyncio.timeout(seconds):
                await process.wait()
        except TimeoutError:
            self._say("killed", process=self.name, after=seconds)
            self.send_signal(signal.SIGKILL)
            await process.wait()


def _die_with_parent() -> None:
    """Make the kernel end the new process when the supervisor ends, even if the supervisor is killed."""
    ctypes.CDLL(None).prctl(_PARENT_DIES, signal.SIGTERM)
