"""How many bytes each cache may use. All caches together use a share of the memory of the machine or its container."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

# What each cache may take of all that caches may take; none is asked for that does not stand here.
PARTS = {
    "traces": 0.23,
    "decodings": 0.12,
    "masked runs": 0.08,
    "written under masks": 0.04,
    "own tensors": 0.16,  # and what is made of them
    "pictures": 0.15,  # and what they are made from
    "batches": 0.05,
    "pairs": 0.05,
    "replies": 0.1,
    "conversations": 0.02,  # as templates have written them
}
MOST = 4.2e9  # bytes of all caches, however much memory there is
_SHARE = 0.4  # of the memory that there is
_V2 = "sys/fs/cgroup", ("memory.max", "memory.high")  # over the second, what asks for more is made to wait
_V1 = "sys/fs/cgroup/memory", ("memory.limit_in_bytes",)


def bytes_for(part: str) -> float:
    """Return how many bytes a cache may use.

    Raises KeyError for a name missing from `PARTS`, ValueError as `share` does.
    """
    return PARTS[part] * min(MOST, share() * memory())


def share() -> float:
    """Return the share of the memory that caches may use: ATTNVIZ_MEMORY_SHARE if it is set, or the default.

    Raises ValueError if the variable is not a number from 0.05 to 0.9.
    """
    said = os.environ.get("ATTNVIZ_MEMORY_SHARE", "").strip()
    try:
        found = float(said or _SHARE)
    except ValueError:
        found = 0.0
    if not 0.05 <= found <= 0.9:
        raise ValueError(
            f"ATTNVIZ_MEMORY_SHARE={said!r} is not a share of the memory. Please set it to a number from 0.05 to 0.9."
        )
    return found


def memory(root: Path = Path("/")) -> float:
    """Return how many bytes this process can use: the machine's memory, or a lower limit of its container or
    service.
    """
    return min([_machine_memory(), *(limit for limit in map(_number, _limits(root)) if limit)])


def _limits(root: Path) -> Iterator[Path]:
    """Yield the files that may hold a memory limit, for this process's control group and for each group around it.

    A container sees its own group as the outermost one, whatever its path is outside, so some paths may not exist.
    """
    for where, files in (_V2, _V1):
        group = PurePosixPath(_group(root, is_v2=where == _V2[0]))
        for around in (group, *group.parents):
            yield from (root / where / around.relative_to("/") / file for file in files)


def _group(root: Path, *, is_v2: bool) -> str:
    """Return the path of this process's control group from /proc/self/cgroup (see cgroups(7)); "/" if it is not there.

    A line of that file is number:controllers:path; in version 2 the controllers are empty.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return "/"
    for line in lines:
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if path.startswith("/") and (controllers == "" if is_v2 else "memory" in controllers.split(",")):
            return path
    return "/"


def _machine_memory() -> float:
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not Linux, not macOS
        return MOST / _SHARE


def _number(file: Path) -> float:
    """Read a limit in bytes from a file; 0 if the file has none."""
    try:
        said = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return 0.0
    return float(said) if said.isdecimal() else 0.0
