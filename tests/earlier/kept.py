"""The files that earlier versions wrote (tests/fixtures/earlier), and what each version read in its own files."""

import json
from pathlib import Path
from typing import Any

EARLIER = Path(__file__).parents[1] / "fixtures" / "earlier"
NEWEST = EARLIER / "2026-11-24"
FOLDERS = sorted(folder for folder in EARLIER.iterdir() if folder.is_dir())


def expected(file: Path) -> Any:
    """Return the values that the version that wrote a file read in it."""
    return json.loads((file.parent / "expected.json").read_text(encoding="utf-8"))[file.name]


def files(name: str) -> list[Path]:
    """Return the files with this name, one of each version that wrote one."""
    return [folder / name for folder in FOLDERS if (folder / name).exists()]


def version(file: Path) -> str:
    """Return the version that wrote a file, for a test's id."""
    return file.parent.name
