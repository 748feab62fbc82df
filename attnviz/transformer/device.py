"""Choose the device and the dtype with which a model runs, and handle devices that run out of memory.

The functions for runs turn consecutive integers into slices: indexing with a list copies the list to the device and
waits for it, and a slice needs no copy.
"""

import os
from collections.abc import Callable, Iterable
from typing import TypeVar

import torch

DEVICE_VARIABLE, DTYPE_VARIABLE = "ATTNVIZ_DEVICE", "ATTNVIZ_DTYPE"
DEVICES = ("cpu", "cuda", "mps")  # device types that models run on
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_TF32 = 2.0**-11  # largest relative error of rounding to TF32
FULL = (
    "The device that the model runs on has no memory left for this, even with all caches emptied: take a shorter text "
    "or a smaller model, or run it on the CPU (ATTNVIZ_DEVICE=cpu)."
)
Result = TypeVar("Result")


class OutOfDeviceMemoryError(ValueError):
    """The device has not enough memory for a request, even after all caches were emptied."""


def choose_device(name: str | None = None) -> torch.device:
    """Choose the device `name`, the device in ATTNVIZ_DEVICE, or the best available: CUDA, then MPS, then CPU.

    Names are `cpu`, `cuda`, `cuda:1`, … and `mps`. Raises ValueError for an unknown name and for a device that this
    machine does not have.
    """
    name, said_by = (name, "device") if name else (os.environ.get(DEVICE_VARIABLE, "").strip(), DEVICE_VARIABLE)
    if not name:
        return torch.device("cuda" if torch.cuda.is_available() else "mps" if _has_mps() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in DEVICES:
        raise ValueError(f"{said_by}={name!r} is not a device that attnviz runs on: give cpu, cuda, cuda:1 or mps.")
    if not _exists(device):
        raise ValueError(f"{said_by}={name!r}, but this machine offers {', '.join(available_devices())}.")
    return device


def choose_dtype(name: str | None = None, *, device: torch.device) -> torch.dtype:
    """Choose the dtype `name`, the dtype in ATTNVIZ_DTYPE, or float32, in which all statements on the pages are exact.

    Names are `float32`, `bfloat16` and `float16`. Raises ValueError for another name and for a dtype in which `device`
    cannot multiply matrices.
    """
    name, said_by = (name, "dtype") if name else (os.environ.get(DTYPE_VARIABLE, "").strip(), DTYPE_VARIABLE)
    if not name:
        return torch.float32
    if name not in DTYPES:
        raise ValueError(f"{said_by}={name!r} is not a type that attnviz runs in: give {', '.join(DTYPES)}.")
    try:
        one = torch.ones(2, 2, dtype=DTYPES[name], device=device)
        (one @ one).sum().item()
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"{said_by}={name!r}, but {device} cannot compute in it: give float32.") from error
    return DTYPES[name]


def available_devices() -> tuple[str, ...]:
    """Return the names that `choose_device` accepts on this machine, best first."""
    cuda = [f"cuda:{index}" for index in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    return (*cuda, *(["mps"] if _has_mps() else []), "cpu")


def wait_for(device: torch.device) -> None:
    """Wait until the device has finished all its work, so that a measured time is correct."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def exact_products() -> None:
    """Make this process multiply float32 matrices in full float32.

    NVIDIA's containers round to TF32 by default, whose 11 bits are too few for the comparisons that pages show.
    """
    torch.set_float32_matmul_precision("highest")


def rounding_unit(dtype: torch.dtype, device: str) -> float:
    """Return the relative error of rounding for a dtype on a device type.

    This is the machine epsilon of the dtype, or that of TF32 if this process multiplies float32 in TF32.
    """
    is_tf32 = device == "cuda" and dtype is torch.float32 and torch.backends.cuda.matmul.fp32_precision == "tf32"
    return _TF32 if is_tf32 else torch.finfo(dtype).eps


def is_out_of_memory(error: RuntimeError) -> bool:
    """Check whether an error means that a device has no memory left. MPS says so only in the error message."""
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in str(error)


def retry_out_of_memory(run: Callable[[], Result], free: Callable[[], object]) -> Result:
    """Return `run()`; if the device runs out of memory, call `free()` and try `run()` once more.

    Raises OutOfDeviceMemoryError, with a message of one sentence, if the second try also fails.
    """
    try:
        return run()
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
    free()  # outside the except block, in which the error would keep the run's tensors alive
    _free_spare_blocks()
    try:
        return run()
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        raise OutOfDeviceMemoryError(FULL) from error


def _free_spare_blocks() -> None:
    """Return device memory that torch holds but does not use."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif _has_mps():
        torch.mps.empty_cache()


def _exists(device: torch.device) -> bool:
    if device.type == "cuda":
        return torch.cuda.is_available() and (device.index or 0) < torch.cuda.device_count()
    return device.index in {None, 0} and (device.type == "cpu" or _has_mps())


def _has_mps() -> bool:
    return torch.backends.mps.is_available()


def runs(numbers: Iterable[int]) -> list[slice]:
    """Join consecutive integers to slices, in their order."""
    return [here for here, _ in paired_runs((number, number) for number in numbers)]


def paired_runs(pairs: Iterable[tuple[int, int]]) -> list[tuple[slice, slice]]:
    """Join pairs of integers that both increase by one to pairs of slices, in their order."""
    found: list[tuple[slice, slice]] = []
    for here, there in pairs:
        if found and (found[-1][0].stop, found[-1][1].stop) == (here, there):
            here, there = found[-1][0].start, found[-1][1].start
            length = found.pop()[0].stop - here + 1
        else:
            length = 1
        found.append((slice(here, here + length), slice(there, there + length)))
    return found
