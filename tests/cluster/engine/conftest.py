"""An engine on Ray, as its command starts it, in a network of its own: nobody else can reach Ray's ports.

Only root can make such a network; without it, or without Ray, these tests are skipped and say why.
"""

import ctypes
import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from attnviz.engine.client import Engine, EngineGoneError
from attnviz.models import catalogue
from tests.models.huggingface import checkpoints

ROOT = Path(__file__).parents[3]
PORT, TOKEN = 8601, "of the test"
KINDS = ("bert", "gpt2", "bart")
_NEW_NETWORK = 0x40000000


@pytest.fixture(scope="session")
def alone() -> Iterator[None]:
    """Provide a network with a loopback and nothing else, for this thread and all that it starts."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed: pip install --group cluster")
    libc, before = ctypes.CDLL(None, use_errno=True), os.open("/proc/self/ns/net", os.O_RDONLY)
    if libc.unshare(_NEW_NETWORK) != 0:
        pytest.skip("only root can give Ray a network of its own, and in any other its ports are open")
    try:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        yield
    finally:
        libc.setns(before, 0)
        os.close(before)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Checkpoints of an encoder, a decoder, and both, and the shipped translator, by name."""
    made = tmp_path_factory.mktemp("engine")
    small = {name: str(checkpoints.save(made / name, checkpoints.ALL[name])) for name in KINDS}
    return {catalogue.DEFAULT: catalogue.DEFAULT, **small}


class OnRay:
    """The command's process."""

    def __init__(self, models: list[str], replicas: int, log: Path) -> None:
        self._models, self._replicas, self._log = models, replicas, log

    def start(self) -> None:
        """Start the engine, and return when it answers for every model."""
        asked = [part for model in self._models for part in ("--model", model)]
        how = ["--replicas", str(self._replicas), "--port", str(PORT), "--waiting", "16"]
        environment = os.environ | {
            "ATTNVIZ_ENGINE_TOKEN": TOKEN,
            "PYTHONPATH": str(ROOT),
            "RAY_USAGE_STATS_ENABLED": "0",
        }
        with self._log.open("wb") as log:
            command = [sys.executable, "-m", "attnviz", "engine", *asked, *how]
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=log,
            )
        self.wait_for("the engine answers")

    def wait_for(self, words: str, *, seconds: float = 600) -> None:
        """Wait until its output contains this text."""
        until = time.monotonic() + seconds
        while words not in self._log.read_text(errors="replace"):
            assert self.process.poll() is None, self._log.read_text(errors="replace")[-2000:]
            assert time.monotonic() < until, self._log.read_text(errors="replace")[-2000:]
            time.sleep(0.2)

    def stop(self) -> None:
        """Stop it with the signal that an operator sends."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


@pytest.fixture(scope="module")
def ray_engine(
    request: pytest.FixtureRequest, alone: None, folders: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OnRay]:
    """Provide the engine with the models and replicas that a file asks for, as MODELS and REPLICAS."""
    models = [folders[name] for name in request.module.MODELS]
    running = OnRay(models, request.module.REPLICAS, tmp_path_factory.mktemp("log") / "engine.log")
    running.start()
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture
def engine(ray_engine: OnRay) -> Iterator[Engine]:
    """Its client."""
    with closing(Engine(f"http://127.0.0.1:{PORT}", TOKEN)) as client:
        until = time.monotonic() + 30
        while time.monotonic() < until:
            try:
                client.models()
                break
            except EngineGoneError:
                time.sleep(0.5)
        yield client


@pytest.fixture(scope="session")
def local(folders: dict[str, str]) -> dict[str, Any]:
    """Provide the same models in this process."""
    return {name: catalogue.load(folder) for name, folder in folders.items()}
