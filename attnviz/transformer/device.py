"""Where a model runs, and in which floating-point type: the best there is, unless somebody says otherwise."""

import os

import torch

DEVICE_VARIABLE, DTYPE_VARIABLE = "ATTNVIZ_DEVICE", "ATTNVIZ_DTYPE"
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def choose_device(name: str | None = None) -> torch.device:
    """The device called `name`, or by ATTNVIZ_DEVICE, or the best there is: CUDA, then MPS, then CPU.

    Names are `cpu`, `cuda`, `cuda:1`, … and `mps`. Raises ValueError for a name that is none of these, and for a
    device that this machine does not have.
    """
    name, said_by = (name, "device") if name else (os.environ.get(DEVICE_VARIABLE, "").strip(), DEVICE_VARIABLE)
    if not name:
        return torch.device("cuda" if torch.cuda.is_available() else "mps" if _has_mps() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in {"cpu", "cuda", "mps"}:
        raise ValueError(f"{said_by}={name!r} is no device that attnviz runs on: give cpu, cuda, cuda:1 or mps.")
    if not _exists(device):
        raise ValueError(f"{said_by}={name!r}, but this machine offers {', '.join(available_devices())}.")
    return device


def choose_dtype(name: str | None = None, *, device: torch.device) -> torch.dtype:
    """The type called `name`, or by ATTNVIZ_DTYPE, or float32, in which every claim of the pages is exact.

    Names are `float32`, `bfloat16` and `float16`. Raises ValueError for another name, and for a type in which
    `device` cannot multiply matrices.
    """
    name, said_by = (name, "dtype") if name else (os.environ.get(DTYPE_VARIABLE, "").strip(), DTYPE_VARIABLE)
    if not name:
        return torch.float32
    if name not in DTYPES:
        raise ValueError(f"{said_by}={name!r} is no type that attnviz runs in: give {', '.join(DTYPES)}.")
    try:
        one = torch.ones(2, 2, dtype=DTYPES[name], device=device)
        (one @ one).sum().item()
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"{said_by}={name!r}, but {device} cannot compute in it: give float32.") from error
    return DTYPES[name]


def available_devices() -> tuple[str, ...]:
    """Names that `choose_device` takes on this machine, best first."""
    cuda = [f"cuda:{index}" for index in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    return (*cuda, *(["mps"] if _has_mps() else []), "cpu")


def wait_for(device: torch.device) -> None:
    """Return when the device has done all that was asked of it, so that a measured time is the time it took."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def _exists(device: torch.device) -> bool:
    if device.type == "cuda":
        return torch.cuda.is_available() and (device.index or 0) < torch.cuda.device_count()
    return device.index in {None, 0} and (device.type == "cpu" or _has_mps())


def _has_mps() -> bool:
    return torch.backends.mps.is_available()
