"""The speed of translation by the command line: the whole process, from its start to the last line."""

import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import Row

ROOT = Path(__file__).parents[1]


def rows() -> Iterator[Row]:
    """Translate the dev sets in the folder DATA, or else the examples many times over, into French and Chinese."""
    for to in ("fr", "zh"):
        name, sentences = _sentences(to)
        command = (sys.executable, "-m", "attnviz", "translate", "--to", to)
        started = time.perf_counter()
        done = subprocess.run(
            command, input="\n".join(sentences) + "\n", cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
        )
        seconds = time.perf_counter() - started
        if len(done.stdout.splitlines()) != len(sentences):
            raise RuntimeError(f"{len(sentences)} lines went in, {len(done.stdout.splitlines())} came out.")
        yield Row(f"translating {name} to {to}", len(sentences) / seconds, "sentences/s", 40, "at least")


def _sentences(to: str) -> tuple[str, list[str]]:
    dev = Path(os.environ.get("DATA", "")) / f"en-{to}.dev.tsv.gz"
    if dev.is_file():
        with gzip.open(dev, "rt", encoding="utf-8") as lines:
            sentences = [line.split("\t")[0] for line in lines]
        return f"the dev set, {len(sentences)} sentences,", sentences
    examples = json.loads((ROOT / "assets" / "examples.json").read_text(encoding="utf-8"))
    sentences = (examples * (512 // len(examples) + 1))[:512]
    return "512 sentences (examples repeated)", sentences
