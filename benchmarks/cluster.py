"""Traces a second of an engine on Ray: with one replica and with two, alone and in batches.

Needs Ray (the group `cluster`) and root, for a network that keeps Ray's ports from others. The clients run on the
same machine, so that with two cores a second replica has little to gain: read the ratios.
"""

import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

from attnviz.engine.client import Engine, EngineGoneError
from attnviz.engine.remote import RemoteModel
from attnviz.models.catalogue import DEFAULT
from benchmarks.report import Row
from benchmarks.timing import percentile

ROOT = Path(__file__).parents[1]
PORT, TOKEN = 8602, "of the benchmark"
SECONDS, CLIENTS = 12.0, (1, 16)
WORDS = ("I", "you", "we", "they", "love", "see", "the", "red", "small", "dog", "house", "river", "and", "never")


def rows() -> Iterator[Row]:
    """Measure with another sentence of ten tokens in each request."""
    if not os.environ.get("ATTNVIZ_BENCH_INSIDE"):
        yield from _run_in_own_network()
        return
    for replicas, batch in itertools.product((1, 2), (1, 8)):
        with _engine(replicas, batch) as engine:
            for clients in CLIENTS:
                yield from _measure(engine, f"{replicas} x, {f'batches of {batch}' if batch > 1 else 'alone'}", clients)


def _run_in_own_network() -> Iterator[Row]:
    """Run this benchmark as a process in a network of its own."""
    script = (
        "from benchmarks import cluster\n"
        "for row in cluster.rows(): print('ROW', row.name, row.measured, row.unit, sep='\\t', flush=True)"
    )
    inside = f'ip link set lo up && exec {sys.executable} -c "$SCRIPT"'
    environment = os.environ | {"ATTNVIZ_BENCH_INSIDE": "1", "SCRIPT": script, "PYTHONPATH": str(ROOT)}
    made = subprocess.run(
        ["unshare", "--net", "sh", "-c", inside],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    for line in made.stdout.splitlines():
        if line.startswith("ROW\t"):
            _, name, measured, unit = line.split("\t")
            yield Row(name, float(measured), unit)


@contextmanager
def _engine(replicas: int, batch: int) -> Iterator[Engine]:
    how = ["--model", DEFAULT, "--replicas", str(replicas), "--batch", str(batch), "--port", str(PORT)]
    environment = os.environ | {"ATTNVIZ_ENGINE_TOKEN": TOKEN, "RAY_USAGE_STATS_ENABLED": "0"}
    with tempfile.TemporaryFile() as log:
        command = (sys.executable, "-m", "attnviz", "engine", *how)
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            with closing(Engine(f"http://127.0.0.1:{PORT}", TOKEN)) as engine:
                _wait_for(engine)
                yield engine
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def _wait_for(engine: Engine, seconds: float = 600) -> None:
    until = time.monotonic() + seconds
    while True:
        try:
            RemoteModel(engine, DEFAULT)
            return
        except (EngineGoneError, ValueError):
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


def _measure(engine: Engine, name: str, clients: int) -> Iterator[Row]:
    model, numbers, lock = RemoteModel(engine, DEFAULT), itertools.count(), threading.Lock()
    _ask(model, numbers, lock, time.monotonic() + 2)
    until, began = time.monotonic() + SECONDS, time.monotonic()
    with ThreadPoolExecutor(clients) as pool:
        asked = [pool.submit(_ask, model, numbers, lock, until) for _ in range(clients)]
        times = [1e3 * one for each in asked for one in each.result()]
    name = f"{name}, {clients} {'client' if clients == 1 else 'clients'}"
    yield Row(f"{name}: traces", len(times) / (time.monotonic() - began), "/s")
    yield Row(f"{name}: p95", percentile(times, 95), "ms")


def _ask(model: RemoteModel, numbers: Iterator[int], lock: threading.Lock, until: float) -> list[float]:
    times = []
    while time.monotonic() < until:
        with lock:
            number = next(numbers)
        text = " ".join(WORDS[number // len(WORDS) ** place % len(WORDS)] for place in range(8))
        began = time.monotonic()
        model.trace(text, to="fr")
        times.append(time.monotonic() - began)
    return times
