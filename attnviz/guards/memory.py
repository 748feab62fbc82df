"""How much memory this process can use, and how much of it is free: the machine's, or that of its container or service.

A limit of a control group (cgroups(7)) holds for all processes of the group and of the groups inside it, so the limits
of all groups around this process count.
"""

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_ROOT = Path("/")


@dataclass(frozen=True)
class _Version:
    """The files of one version of control groups: where they are, their limits, and what says how much is used.

    `reclaimable` is the entry of memory.stat for cached files, which count as used although the kernel drops them when
    memory runs short.
    """

    place: str
    limits: tuple[str, ...]
    used: str
    reclaimable: str


# Above memory.high, the kernel makes a process wait that asks for more.
_V2 = _Version("sys/fs/cgroup", ("memory.max", "memory.high"), "memory.current", "inactive_file")
_V1 = _Version(
    "sys/fs/cgroup/memory", ("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file"
)  # fmt: skip


def memory(root: Path = _ROOT) -> float:
    """Return how many bytes this process can use: the machine's memory, or a lower limit of its container or service;
    infinity if that is unknown.
    """
    return min([_machine_memory(), *(limit for limit, _ in _limits(root))])


def available_memory(root: Path = _ROOT) -> float:
    """Return how many more bytes this process can use, as `memory` does, less what is used; infinity if that is
    unknown.
    """
    free = _find(root / "proc/meminfo", r"MemAvailable:\s*(\d+) kB") * 1024
    return max(0.0, min([free or math.inf, *(limit - used for limit, used in _limits(root))]))


def _limits(root: Path) -> Iterator[tuple[float, float]]:
    """Yield each memory limit and the bytes used under it, for this process's control group and each group around it.

    A container sees its own group as the outermost one, whatever its path is outside, so some paths may not exist.
    """
    for version in (_V2, _V1):
        group = PurePosixPath(_group(root, is_v2=version is _V2))
        for around in (group, *group.parents):
            folder = root / version.place / around.relative_to("/")
            limits = [limit for file in version.limits if (limit := _find(folder / file, r"(\d+)\s*$"))]
            if limits:
                cached = _find(folder / "memory.stat", rf"(?m)^{version.reclaimable} (\d+)$")
                yield min(limits), _find(folder / version.used, r"(\d+)\s*$") - cached


def _group(root: Path, *, is_v2: bool) -> str:
    """Return the path of this process's control group from /proc/self/cgroup (see cgroups(7)); "/" if it is not there.

    A line of that file is number:controllers:path; in version 2 the controllers are empty.
    """
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if path.startswith("/") and (controllers == "" if is_v2 else "memory" in controllers.split(",")):
            return path
    return "/"


def _machine_memory() -> float:
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not Linux, not macOS
        return math.inf


def _find(file: Path, pattern: str) -> float:
    """Read a number from a file: the group of a pattern; 0 if the file or the number is not there."""
    found = re.search(pattern, _read(file))
    return float(found[1]) if found else 0.0


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
