"""The choice of device and type: the best there is, said otherwise by argument or environment, never impossible."""

import math
from pathlib import Path

import pytest
import torch

from attnviz.guards.memory import available_memory
from attnviz.transformer import device as devices
from attnviz.transformer.device import (
    OutOfDeviceMemoryError,
    available_devices,
    choose_device,
    choose_dtype,
    exact_products,
    retry_out_of_memory,
    rounding_unit,
)
from tests.fake_device import fake_device, memory

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    monkeypatch.delenv("ATTNVIZ_DEVICE", raising=False)
    monkeypatch.delenv("ATTNVIZ_DTYPE", raising=False)


def _pretend(monkeypatch, *, cuda: int, mps: bool) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
    monkeypatch.setattr(devices, "_has_mps", lambda: mps)


@pytest.mark.parametrize(
    ("cuda", "mps", "best"), [(0, False, "cpu"), (0, True, "mps"), (2, False, "cuda"), (1, True, "cuda")]
)
def test_best_device_comes_first(monkeypatch, cuda, mps, best):
    _pretend(monkeypatch, cuda=cuda, mps=mps)
    assert choose_device().type == best
    assert available_devices()[0].startswith(best)


def test_environment_overrides_the_best_and_an_argument_overrides_the_environment(monkeypatch):
    _pretend(monkeypatch, cuda=2, mps=False)
    monkeypatch.setenv("ATTNVIZ_DEVICE", "cpu")
    assert choose_device() == CPU
    assert choose_device("cuda:1") == torch.device("cuda:1")


@pytest.mark.parametrize("name", ["cuda", "cuda:3", "mps", "gpu", "meta", "xla", "cpu:x", "cuda:-1", "😀"])
def test_impossible_device_is_one_clear_sentence(monkeypatch, name):
    _pretend(monkeypatch, cuda=0, mps=False)
    monkeypatch.setenv("ATTNVIZ_DEVICE", name)
    with pytest.raises(ValueError, match="ATTNVIZ_DEVICE=") as error:
        choose_device()
    assert "\n" not in str(error.value)
    assert "cpu" in str(error.value)


def test_device_number_beyond_those_there_are_is_refused(monkeypatch):
    _pretend(monkeypatch, cuda=2, mps=False)
    with pytest.raises(ValueError, match=r"cuda:0, cuda:1, cpu"):
        choose_device("cuda:2")


def test_dtype_is_float32_unless_said_otherwise(monkeypatch):
    assert choose_dtype(device=CPU) == torch.float32
    monkeypatch.setenv("ATTNVIZ_DTYPE", "bfloat16")
    assert choose_dtype(device=CPU) == torch.bfloat16
    assert choose_dtype("float16", device=CPU) == torch.float16


@pytest.mark.parametrize("name", ["int8", "float64", "half", "Float32"])
def test_unknown_dtype_is_refused(monkeypatch, name):
    monkeypatch.setenv("ATTNVIZ_DTYPE", name)
    with pytest.raises(ValueError, match=r"ATTNVIZ_DTYPE=.*float32, bfloat16, float16"):
        choose_dtype(device=CPU)


def test_dtype_that_the_device_cannot_compute_in_is_refused(monkeypatch):
    def refuses(*_sizes, **_options):
        raise RuntimeError("not implemented for this type")

    monkeypatch.setattr(torch, "ones", refuses)
    with pytest.raises(ValueError, match="cannot compute in it"):
        choose_dtype("float16", device=CPU)


@pytest.mark.parametrize(
    ("name", "called"), [("cuda", [("cuda", torch.device("cuda"))]), ("mps", ["mps"]), ("cpu", [])]
)
def test_waiting_asks_the_device_that_computes(name, called, monkeypatch):
    asked = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: asked.append(("cuda", device)))
    monkeypatch.setattr(torch.mps, "synchronize", lambda: asked.append("mps"))
    devices.wait_for(torch.device(name))
    assert asked == called


@pytest.fixture
def tf32():
    torch.set_float32_matmul_precision("high")
    yield
    torch.set_float32_matmul_precision("highest")


def test_products_in_tf32_are_said_to_be_rounded_until_exact_ones_are_asked_for(tf32):
    assert rounding_unit(torch.float32, "cuda") == 2.0**-11
    assert rounding_unit(torch.float32, "cpu") == torch.finfo(torch.float32).eps
    assert rounding_unit(torch.bfloat16, "cuda") == torch.finfo(torch.bfloat16).eps
    exact_products()
    assert rounding_unit(torch.float32, "cuda") == torch.finfo(torch.float32).eps


FULL = (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB."),
        RuntimeError("MPS backend out of memory (MPS allocated: 9.00 GB)."))  # fmt: skip


@pytest.mark.parametrize("error", FULL)
def test_where_memory_is_full_it_is_freed_and_the_run_is_tried_once_more(error):
    done = []

    def run(times: int) -> str:
        done.append("run")
        if done.count("run") <= times:
            raise error
        return "made"

    assert retry_out_of_memory(lambda: run(1), lambda: done.append("freed")) == "made"
    assert done == ["run", "freed", "run"]
    done.clear()
    with pytest.raises(OutOfDeviceMemoryError, match=r"^The device .* has no memory left .*\(ATTNVIZ_DEVICE=cpu\)\.$"):
        retry_out_of_memory(lambda: run(2), lambda: done.append("freed"))
    assert done == ["run", "freed", "run"]


def test_what_else_goes_wrong_is_not_tried_again():
    done = []

    def run() -> None:
        done.append("run")
        raise RuntimeError("shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="shapes"):
        retry_out_of_memory(run, lambda: done.append("freed"))
    assert done == ["run"]


@pytest.mark.parametrize("kind", ["cuda", "mps"])
def test_a_shortage_is_one_sentence_that_says_what_is_needed_and_what_would_fit(kind):
    with fake_device(kind) as device:
        memory.update(taken=2_000_000_000, room=5_000_000_000)

        def run() -> None:
            with devices.explain_shortage(device, "A run over 8,000 tokens", tokens=8000, done=lambda: 0.25):
                memory.update(taken=5_000_000_000, room=2_000_000_000)  # three gigabytes for a quarter of the work
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has …")

        with pytest.raises(OutOfDeviceMemoryError) as raised:
            run()
    assert str(raised.value).startswith(
        f"A run over 8,000 tokens needs about 13.1 GB of memory on {kind}:0, which has 5.0 GB for it: about 3,000 "
        "tokens would fit."
    )
    with pytest.raises(OutOfDeviceMemoryError, match="3,000 tokens"):  # the second try's own sentence stays
        retry_out_of_memory(lambda: (_ for _ in ()).throw(raised.value), lambda: None)


def test_another_error_is_not_taken_for_a_shortage():
    with pytest.raises(RuntimeError, match="shapes"), devices.explain_shortage(CPU, "A run"):
        raise RuntimeError("shapes cannot be multiplied")


def test_too_little_memory_for_a_long_text_is_said_before_the_run(monkeypatch):
    monkeypatch.setattr(devices, "available_memory", lambda: 2e9)
    devices.require_memory(lambda tokens: 1e5 * tokens, 20_000)
    with pytest.raises(OutOfDeviceMemoryError) as raised:
        devices.require_memory(lambda tokens: 1e5 * tokens, 40_000)
    said = "A run over 40,000 tokens needs about 4.0 GB of memory on the CPU, which has 2.0 GB for it: about 17,"
    assert str(raised.value).startswith(said)


@pytest.mark.parametrize("version", [1, 2])
def test_free_memory_is_what_the_limit_of_a_container_leaves(version, tmp_path):
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_") if version == 1 else (
        "memory.max", "memory.current", "")  # fmt: skip
    files = {"proc/meminfo": "MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n"}
    assert not math.isfinite(available_memory(tmp_path))
    write_files(tmp_path, files)
    assert available_memory(tmp_path) == 8_000_000 * 1024
    group = "sys/fs/cgroup/memory/" if version == 1 else "sys/fs/cgroup/"
    files = {group + names[0]: "3000000000\n", group + names[1]: "2000000000\n"}
    write_files(tmp_path, files)
    assert available_memory(tmp_path) == 1e9
    stat = f"inactive_anon 7\n{names[2]}inactive_file 500000000\n"  # cached files, which the kernel drops
    write_files(tmp_path, {group + "memory.stat": stat})
    assert available_memory(tmp_path) == 1.5e9
    write_files(tmp_path, {group + names[1]: "4000000000\n"})
    assert available_memory(tmp_path) == 0


def write_files(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content, encoding="ascii")
