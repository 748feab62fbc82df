"""`benchmarks/gpu.py` compares and measures on a device, reports what fails, and ends in time."""

import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from benchmarks import gpu
from tests.fake_device import fake_device

BARE = """
import sys
for name in ("streamlit", "plotly", "pandas", "jaxtyping", "PIL", "anywidget", "sqlalchemy", "markdown_it"):
    sys.modules[name] = None  # as if it were not installed
from benchmarks import gpu
gpu.MODELS = {name: gpu.MODELS[name] for name in ("Llama with groups",)}
gpu.PRECISIONS = gpu.PRECISIONS[:1]
sys.exit(gpu.main(["--device", "cpu", "--small", "--out", sys.argv[1], "--seconds", "300"]))
"""


@pytest.fixture
def session(tmp_path):
    return gpu.Session(torch.device("cpu"), tmp_path, seconds=60, started=time.monotonic())


def test_the_script_runs_without_the_packages_that_a_bare_machine_lacks(tmp_path):
    found = subprocess.run(
        [sys.executable, "-c", BARE, str(tmp_path)], capture_output=True, text=True, check=False, timeout=300
    )
    content = json.loads((tmp_path / "gpu.json").read_text(encoding="utf-8"))
    failed = [one for one in content["results"] if one["value"] is None and not one["is_refused"]]
    assert not failed, found.stderr
    compared = {one["what"].partition(",")[0] for one in content["results"] if "Llama" in one["part"]}
    assert compared == {*gpu.AREAS}
    assert content["machine"]["name"] in (tmp_path / "gpu.md").read_text(encoding="utf-8")
    assert not content["left_out"]


def test_a_gpu_is_held_against_the_cpu_in_coarser_precisions(session, monkeypatch):
    monkeypatch.setattr(gpu, "PRECISIONS", gpu.PRECISIONS[1:])
    with fake_device("cuda") as device:
        session.device = device
        found = list(gpu.compared(session, "T5"))
    assert len(found) == 2 * len(gpu.AREAS)
    assert all(one.passed for one in found), found
    (refused,) = (one for one in found if one.is_refused)
    assert refused.what.startswith("attribution, bfloat16")
    assert "load it in float32" in refused.note
    assert all((one.value or 0) > 1e-4 for one in found if one is not refused), "numbers were rounded"


def test_long_texts_are_measured_on_a_device(session, monkeypatch):
    for name in ("reset_peak_memory_stats", "max_memory_allocated"):
        monkeypatch.setattr(torch.cuda, name, lambda *_: 1_000_000)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(total_memory=80e9))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "a GPU that is not there")
    with fake_device("cuda") as device:
        session.device = device
        gpu.time_long_texts(session, gpu.PRECISIONS[0], small=True)
    assert all(one.value is not None for one in session.results), session.results
    assert {one.part for one in session.results} == {
        "float32", "5 written tokens, float32", "16 tokens, float32", "64 tokens, float32",
    }  # fmt: skip
    assert (session.folder / "gpu.md").read_text(encoding="utf-8").startswith("a GPU that is not there; ")


def test_a_wrong_number_is_more_than_rounding_allows():
    expected = {"weights cross": torch.tensor([0.25, 0.75])}
    sizes, unit = gpu.Sizes(logit=1.0, score=1.0), torch.finfo(torch.float32).eps
    assert gpu.share_of_allowed("traces", expected, expected, sizes, unit) == (0.0, "")
    for wrong in ([0.25, 0.7501], [0.25, torch.nan], [0.25]):
        share, name = gpu.share_of_allowed("traces", {"weights cross": torch.tensor(wrong)}, expected, sizes, unit)
        assert share > 1
        assert name == "weights cross"


def test_a_part_that_fails_is_a_row_and_the_others_go_on(session):
    def fails():
        yield gpu.Result("first", "before it failed", 1.0)
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 38 GiB.\nMore | lines.")

    session.run("first", fails)
    session.run("second", lambda: iter([gpu.Result("second", "works", 2.0, "ms", 3.0)]))
    assert [one.value for one in session.results] == [1.0, None, 2.0]
    table = (session.folder / "gpu.md").read_text(encoding="utf-8")
    assert "| first | failed |  |  | OutOfMemoryError: CUDA out of memory. Tried to allocate 38 GiB. |" in table
    assert "| second | works | 2 ms | <= 3 | met |" in table


def test_a_part_is_stopped_at_the_end_of_the_time_and_the_next_ones_are_left_out(session):
    def goes_on():
        yield gpu.Result("long", "its beginning", 1.0)
        while True:
            time.sleep(0.01)

    session.seconds = time.monotonic() - session.started + 0.2
    session.run("long", goes_on)
    session.run("next", lambda: iter([gpu.Result("next", "never", 1.0)]))
    assert [one.part for one in session.results] == ["long"]
    assert session.left_out == ["long (the rest of it)", "next"]


def test_a_part_that_would_take_too_long_is_left_out(session):
    session.run("long", lambda: iter([gpu.Result("long", "never", 1.0)]), expected=100.0)
    assert (session.results, session.left_out) == ([], ["long"])


def test_without_a_gpu_the_script_says_so(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu.main(["--out", str(tmp_path)]) == 2
    assert "no CUDA device" in capsys.readouterr().err
    assert not list(Path(tmp_path).iterdir())
