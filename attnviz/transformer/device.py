"""Choose the device and the dtype with which a model runs, and handle devices that run out of memory.

The functions for runs turn consecutive integers into slices: indexing with a list copies the list to the device and
waits for it, and a slice needs no copy.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from traceback import clear_frames
from typing import TypeVar

import torch

from attnviz.guards.memory import available_memory

DEVICE_VARIABLE, DTYPE_VARIABLE = "ATTNVIZ_DEVICE", "ATTNVIZ_DTYPE"
DEVICES = ("cpu", "cuda", "mps")  # device types that models run on
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_TF32 = 2.0**-11  # largest relative error of rounding to TF32
FULL = (
    "The device that the model runs on has no memory left for this, even with all caches emptied. "
    "Please take a shorter text or a smaller model, or run it on the CPU (ATTNVIZ_DEVICE=cpu)."
)
Result = TypeVar("Result")


class OutOfDeviceMemoryError(ValueError):
    """A device has too little memory for a request. The message says how much is needed, and what would fit."""


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
        raise ValueError(
            f"{said_by}={name!r} is not a device that attnviz runs on. Please choose cpu, cuda, cuda:1 or mps."
        )
    if not _device_exists(device):
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
        raise ValueError(f"{said_by}={name!r}, but {device} cannot compute in it. Please choose float32.") from error
    return DTYPES[name]


def available_devices() -> tuple[str, ...]:
    """Return the names that `choose_device` accepts on this machine, best first."""
    cuda = [f"cuda:{index}" for index in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    return (*cuda, *(["mps"] if _has_mps() else []), "cpu")


def gpu_of_run(name: str) -> torch.device | None:
    """Return the CUDA device for computing the maps of a trace, if its model ran on CUDA; otherwise None.

    `name` is the device type in the trace. Return None also if this machine has no CUDA device, or rounds products to
    TF32.
    """
    is_there = name == "cuda" and torch.cuda.is_available()
    is_exact = rounding_unit(torch.float32, name) == torch.finfo(torch.float32).eps
    return torch.device("cuda", torch.cuda.current_device()) if is_there and is_exact else None


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


def is_out_of_memory(error: Exception) -> bool:
    """Check whether an error means that a device has no memory left. MPS says so only in the error message."""
    own = torch.OutOfMemoryError, OutOfDeviceMemoryError
    return isinstance(error, own) or (isinstance(error, RuntimeError) and "out of memory" in str(error))


@contextmanager
def explain_shortage(
    device: torch.device, what: str, *, tokens: int = 0, done: Callable[[], float] = lambda: 1.0
) -> Iterator[None]:
    """Turn torch's out-of-memory error inside the block into an OutOfDeviceMemoryError.

    Its message says how much memory `what` needs in addition to what was in use before, how much there is, and how many
    of the `tokens` would fit. `done` returns the share of the work, 0 to 1, that was done when memory ran out; it is
    used to estimate what the rest would need.
    """
    before = _taken(device)
    try:
        yield
        return
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        needed = int((_taken(device) - before) / max(done(), 0.01)) + _refused_bytes(error)
        clear_frames(error.__traceback__)  # a notebook keeps the last error, and with it all that the run had made
    free_spare_blocks()
    room = _free_bytes(device) + max(0, _taken(device) - before)
    raise OutOfDeviceMemoryError(_describe_shortage(device, what, (needed, room), tokens)) from None


def _taken(device: torch.device) -> int:
    """Return the number of bytes that tensors take on a device, or 0 if torch cannot tell."""
    if device.type == "cuda":
        return torch.cuda.memory_allocated(device)
    return torch.mps.current_allocated_memory() if device.type == "mps" else 0


def _free_bytes(device: torch.device) -> int:
    """Return the number of free bytes on a device, or 0 if torch cannot tell."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    if device.type == "mps":
        return torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()
    return 0


def _refused_bytes(error: RuntimeError) -> int:
    """Read from torch's error how many bytes it failed to allocate; 0 if the error does not say."""
    found = re.search(r"[Tt]ried to allocate ([\d.]+) ([KMG]i?)?B", str(error))
    if found is None:
        return 0
    return int(float(found[1]) * 1024 ** " KMG".index((found[2] or " ")[0]))


def _describe_shortage(device: torch.device, what: str, bytes_: tuple[int, int], tokens: int) -> str:
    """Write the message from the bytes that are needed and those that there are."""
    needed, room = bytes_
    if not 0 < room < needed:  # not known, or in pieces that are too small
        return FULL
    said = f"{what} needs about {gigabytes(needed)} of memory on {device}, which has {gigabytes(room)} for it"
    # What a run keeps grows with the text or faster, so a text shorter by this share fits.
    fit = round_down(tokens * room / needed)
    fits = f": about {fit:,} tokens would fit" if fit else ""
    return f"{said}{fits}. A smaller model, ATTNVIZ_DTYPE=bfloat16 or the CPU (ATTNVIZ_DEVICE=cpu) needs less of it."


def gigabytes(count: float) -> str:
    """Format a number of bytes in gigabytes, or in megabytes if it is small."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def round_down(number: float) -> int:
    """Round a number down to two significant digits."""
    step = 10 ** max(len(str(int(number))) - 2, 0)
    return int(number) // step * step


def retry_out_of_memory(run: Callable[[], Result], free: Callable[[], object]) -> Result:
    """Return `run()`; if the device runs out of memory, call `free()` and try `run()` once more.

    Raises OutOfDeviceMemoryError, with a message of one sentence, if the second try also fails.
    """
    try:
        return run()
    except (RuntimeError, OutOfDeviceMemoryError) as error:
        if not is_out_of_memory(error):
            raise
    free()  # outside the except block, in which the error would keep the run's tensors alive
    free_spare_blocks()
    try:
        return run()
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        raise OutOfDeviceMemoryError(FULL) from error


def free_spare_blocks() -> None:
    """Return device memory that torch holds but does not use."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif _has_mps():
        torch.mps.empty_cache()


def _device_exists(device: torch.device) -> bool:
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


def require_memory(needed: Callable[[int], float], tokens: int) -> None:
    """Check that a run on `tokens` tokens fits in memory. `needed` returns the bytes that a number of tokens takes.

    Raises OutOfDeviceMemoryError, whose message says how much is needed, what there is, and how many tokens would fit.
    """
    free = available_memory()
    if needed(tokens) <= free:
        return
    fits = tokens
    while fits > 1 and needed(fits) > 0.9 * free:
        fits = fits * 9 // 10
    raise OutOfDeviceMemoryError(
        f"A run over {tokens:,} tokens needs about {gigabytes(needed(tokens))} of memory on the CPU, which has "
        f"{gigabytes(free)} for it: about {fits:,} tokens would fit (max_tokens={fits})."
    )
