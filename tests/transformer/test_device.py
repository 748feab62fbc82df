"""The choice of device and type: the best there is, said otherwise by argument or environment, never impossible."""

import pytest
import torch

from attnviz.transformer import device as devices
from attnviz.transformer.device import available_devices, choose_device, choose_dtype

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
