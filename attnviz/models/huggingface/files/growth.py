"""How much longer a tokenizer may make a text. A few hundred bytes of tokenizer.json can ask for terabytes.

Each Replace may put more characters for each that it finds, and steps after one another multiply. tokenizers ends the
whole process where memory ends, so that this is known before a text is given to it.
"""

import math
from pathlib import Path
from typing import Any

from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.files import folder as files_folder

MOST = 100  # times as long; tokenizers that people use make a text two or three times as long


def check(folder: Path) -> None:
    """Raises ModelError where a folder's tokenizer.json could make a text more than `MOST` times as long."""
    path = folder / "tokenizer.json"
    if not path.is_file():
        return
    content = files_folder.read_json(path)
    for part in ("normalizer", "decoder"):
        if growth(content.get(part)) > MOST:
            raise ModelError(f"The {part} in {folder.name!r} would make a text over {MOST} times as long: not loaded.")


def growth(step: Any) -> float:
    """Characters out for one character in, at most, of a step or of a sequence of them."""
    if not isinstance(step, dict):
        return 1.0
    inner = [part for name in ("normalizers", "decoders") for part in _as_list(step.get(name))]
    own = _of_replace(step) if step.get("type") in ("Replace", "Prepend") else 1.0
    return own * math.prod(growth(part) for part in inner)


def _of_replace(step: dict[str, Any]) -> float:
    """A fixed text gives way to another; an expression may match between any two characters."""
    if step["type"] == "Prepend":
        return 1.0 + len(str(step.get("prepend", "")))
    pattern, length = step.get("pattern"), len(str(step.get("content", "")))
    text = pattern.get("String") if isinstance(pattern, dict) else pattern
    return max(1.0, length / len(text)) if isinstance(text, str) and text else 1.0 + length


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
