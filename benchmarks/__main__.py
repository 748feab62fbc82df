"""`python -m benchmarks [name …]`: measure, print a table, write out/bench.json. The exit status is 1 for a miss."""

import argparse
import importlib
import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch: idle threads that spin would be measured too

NAMES = (
    "recording",
    "decoding",
    "masks",
    "causes",
    "learning",
    "payload",
    "translation",
    "browser",
    "cold",
    "startup",
    "peers",
    "whole_model",
    "long_text",
    "checkpoint",
    "images",
    "answers",
    "flood",
)
ONLY_IF_NAMED = ("cluster",)  # needs Ray and root: the group `cluster` of pyproject.toml, docs/how-to/hosting.md
OUT = Path("out") / "bench.json"


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks that were named, or all of them."""
    from benchmarks import report

    known = (*NAMES, *ONLY_IF_NAMED)
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"one or more of {', '.join(known)}")
    names = parser.parse_args(arguments).names or NAMES
    if unknown := sorted(set(names) - set(known)):
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    about, rows = report.machine(), []
    for name in names:
        print(f"measuring: {name}", file=sys.stderr)
        rows.extend(importlib.import_module(f"benchmarks.{name}").rows())
    print(f"{about['processor']}, {about['vector_units']}, {about['cores']} cores\n\n{report.table(rows)}")
    report.write(rows, about, OUT)
    return 0 if all(row.passed for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
