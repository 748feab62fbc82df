"""Measurements beside their targets: as a table, and as JSON."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Row:
    """One measurement. A `target` of None cannot be missed: the row is for information."""

    name: str
    measured: float
    unit: str
    target: float | None = None
    aim: Literal["at most", "at least"] = "at most"

    @property
    def passed(self) -> bool:
        """Whether the target was met."""
        if self.target is None:
            return True
        return self.measured <= self.target if self.aim == "at most" else self.measured >= self.target


def machine() -> dict[str, str | float]:
    """Describe the processor, the system and torch, without names of hosts or people."""
    import torch

    return {
        "processor": _processor(),
        "vector_units": torch.backends.cpu.get_cpu_capability(),  # those that torch uses
        "cores": os.cpu_count() or 1,
        "busy_cores_at_start": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else -1,
        "torch_threads": torch.get_num_threads(),
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
    }


def table(rows: Sequence[Row]) -> str:
    """Format rows as a Markdown table."""
    lines = ["| what | measured | target | |", "| --- | ---: | ---: | --- |"]
    for row in rows:
        sign = {"at most": "<=", "at least": ">="}[row.aim]
        target = "" if row.target is None else f"{sign} {row.target:g}"
        missed = f"missed ({row.measured / row.target:.2f}x)" if row.target else "missed"
        verdict = "" if row.target is None else "met" if row.passed else missed
        lines.append(f"| {row.name} | {_number(row.measured)} {row.unit} | {target} | {verdict} |")
    return "\n".join(lines)


def write(rows: Sequence[Row], about: dict[str, str | float], path: Path) -> None:
    """Write rows as JSON: `machine` and a list of `rows`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"machine": about, "rows": [asdict(row) | {"passed": row.passed} for row in rows]}
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
