"""A real PostgreSQL for a test: made in a folder of its own, on a loopback port, and deleted with it.

`python tests/cluster/classroom/postgresql.py` gets Debian's package where apt-get may. Without PostgreSQL this raises
no error: the tests then say why they are skipped.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

_PLACES = "/usr/lib/postgresql"  # Debian's, by version
_NOBODY = 65534  # PostgreSQL refuses to be root's
_PATIENCE = 60  # seconds for a start


def find() -> Path | None:
    """Return the folder of PostgreSQL's programs, the newest version's; None where it is not installed."""
    on_path = [Path(found).resolve().parent for found in [shutil.which("initdb")] if found]
    versions = sorted(Path(_PLACES).glob("*/bin/initdb"), key=lambda one: float(one.parts[-3]))
    return next(iter([*on_path, *(one.parent for one in reversed(versions))]), None)


class RunningPostgresql:
    """A server of its own data in `folder`, as a context. It can be killed and started again."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs, self._folder = programs, folder
        self._who = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        if self._who:
            os.chown(folder, _NOBODY, _NOBODY)

    @property
    def address(self) -> str:
        """As ATTNVIZ_DATABASE has it."""
        return f"postgresql+psycopg://attnviz@127.0.0.1:{self.port}/postgres"

    def __enter__(self) -> "RunningPostgresql":
        self._run("initdb", "-D", "data", "-U", "attnviz", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start it, after a kill too; it then reads its log of changes again. Returns when it answers."""
        command = [str(self._programs / "postgres"), "-D", "data", "-p", str(self.port)]
        settings = ("listen_addresses=127.0.0.1", "unix_socket_directories=")
        command += [part for setting in settings for part in ("-c", setting)]
        with (self._folder / "log").open("ab") as log:
            self._server = subprocess.Popen(command, cwd=self._folder, stderr=log, **self._who)
        deadline = time.monotonic() + _PATIENCE
        while not self._is_ready():
            if self._server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self._folder / "log").read_text())
            time.sleep(0.1)

    def kill(self) -> None:
        """Kill the whole server with -9, every process of it."""
        found = ["ps", "-o", "pid=", "--ppid", str(self._server.pid)]
        children = subprocess.run(found, capture_output=True, text=True, check=False).stdout.split()
        self._server.kill()
        for child in map(int, children):
            with suppress(ProcessLookupError):  # it went with the first
                os.kill(child, signal.SIGKILL)
        self._server.wait()

    def _is_ready(self) -> bool:
        asked = [str(self._programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(asked, check=False).returncode == 0

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        subprocess.run(command, cwd=self._folder, check=True, stdout=subprocess.DEVNULL, **self._who)


def install() -> Path | None:
    """Get PostgreSQL by apt-get; where its programs are, or None where that cannot be."""
    if os.name == "posix" and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for command in (("update", "-q"), ("install", "-qy", "--no-install-recommends", "postgresql")):
            subprocess.run(("apt-get", *command), env=environment, check=False, stdout=subprocess.DEVNULL)
    return find()


if __name__ == "__main__":
    place = find() or install()
    said = f"Classes will be tested with {place}" if place else "No PostgreSQL: its tests are skipped."
    sys.stdout.write(f"{said}\n")
