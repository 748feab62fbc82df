"""`python -m benchmarks` says on what it measured: times of one processor promise nothing of another."""

import json
import sys
from types import SimpleNamespace

import pytest
import torch

from benchmarks import __main__ as benchmarks
from benchmarks.report import Row


def test_the_processor_and_its_vector_units_are_named_in_the_table_and_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = SimpleNamespace(rows=lambda: [Row("a forward pass", 3.0, "ms")])
    monkeypatch.setitem(sys.modules, "benchmarks.recording", one)
    monkeypatch.setattr(benchmarks, "OUT", tmp_path / "bench.json")
    assert benchmarks.main(["recording"]) == 0
    machine = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))["machine"]
    assert machine["processor"]
    assert machine["vector_units"] == torch.backends.cpu.get_cpu_capability()
    first, *table = capsys.readouterr().out.splitlines()
    assert first == f"{machine['processor']}, {machine['vector_units']}, {machine['cores']} cores"
    assert "| a forward pass | 3 ms |  |  |" in table
