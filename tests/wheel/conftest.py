"""The wheel, and an environment in which attnviz comes from that wheel alone."""

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Runs first in each Python of the environment: a request to the network fails; this machine's own servers are reached.
_ALONE = """
import socket
connect = socket.socket.connect
def on_this_machine(self, address):
    if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
        raise OSError(f"the network was asked for {address}")
    return connect(self, address)
socket.socket.connect = on_this_machine
"""


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel in it: `packages` is where, `home` a read-only folder."""

    bin: Path
    packages: Path
    home: Path

    def command(self, name: str, *arguments: str) -> list[str]:
        """Return the command line of a program of the environment."""
        return [str(self.bin / name), *arguments]

    @property
    def variables(self) -> dict[str, str]:
        """Return the variables of the shell that it is used from."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ATTNVIZ", "PYTHON"))}
        return kept | {"HOME": str(self.home), "HF_HUB_OFFLINE": "0", "OMP_WAIT_POLICY": "passive"}

    def run(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program in the read-only folder."""
        return subprocess.run(
            self.command(name, *arguments), cwd=self.home, env=self.variables, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this repository as `make wheel` does."""
    subprocess.run(
        (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
         "--disable-pip-version-check", "--wheel-dir", folder, ROOT),
        check=True,
    )  # fmt: skip
    (wheel,) = folder.glob("attnviz-*.whl")
    return wheel


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run((sys.executable, "-m", "venv", "--without-pip", folder / "venv"), check=True)
    python = folder / "venv" / "bin" / "python"
    subprocess.run(
        (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index",
         "--disable-pip-version-check", wheel),
        check=True,
    )  # fmt: skip
    (packages,) = (folder / "venv").glob("lib/python*/site-packages")
    # What it depends on is taken from where the tests run; a folder named in a .pth brings no .pth of its own.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    (packages / "sitecustomize.py").write_text(_ALONE, encoding="utf-8")
    home = folder / "home"
    home.mkdir(mode=0o555)
    return Installed(python.parent, packages, home)
