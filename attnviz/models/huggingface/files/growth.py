"""Limit how much longer a tokenizer can make a text: a few hundred bytes of tokenizer.json can ask for terabytes.

A Replace step may insert many characters for each match, and consecutive steps multiply; a table in a sentencepiece
file may map a single letter to a long text. tokenizers aborts the whole process when memory runs out, so this is
checked before any text is tokenized.
"""

import base64
import math
from pathlib import Path
from typing import Any

from attnviz.guards import plain_file
from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.files import folder as files_folder

_PIECES = {".model", ".spm"}
_MOST_PIECES = 40_000_000  # bytes of a sentencepiece file
MOST = 100  # largest factor; tokenizers in use make a text two or three times as long


def check(folder: Path) -> None:
    """Raise ModelError if a folder's tokenizer could make a text more than `MOST` times as long.

    Also raise it for a sentencepiece file without pieces, with which transformers reads every text as unknown.
    """
    for file in files_folder.TOKENIZERS:
        if Path(file).suffix in _PIECES and (folder / file).is_file():
            _check_pieces(folder / file)
    path = folder / "tokenizer.json"
    if not path.is_file():
        return
    check_steps(files_folder.read_json(path), folder.name)


def check_steps(content: dict[str, Any], name: str) -> None:
    """Raise ModelError if the normalizer or decoder in a tokenizer.json can make a text more than `MOST` times
    as long.
    """
    for part in ("normalizer", "decoder"):
        if growth(content.get(part)) > MOST:
            raise ModelError(
                f"The {part} in {name!r} could make a text more than {MOST} times as long, which would "
                "use up all memory. attnviz therefore does not load it."
            )


def _check_pieces(path: Path) -> None:
    from google.protobuf.message import DecodeError
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]  # made at run time
    try:
        model.ParseFromString(plain_file.content(path, most=_MOST_PIECES))
    except (DecodeError, OSError, ValueError):
        return  # not a sentencepiece file, such as Llama 3's file with this name; loading refuses broken ones
    if not model.pieces:
        raise ModelError(
            f"{path.name} in {path.parent.name!r} is a sentencepiece file without pieces, so it is not loaded."
        )
    if _table_growth(model.normalizer_spec.precompiled_charsmap) > MOST:
        raise ModelError(
            f"{path.name} in {path.parent.name!r} could make a text more than {MOST} times as long, "
            "which would use up all memory. attnviz therefore does not load it."
        )


def _table_growth(table: bytes) -> float:
    """Return the length in bytes of the longest text to which a sentencepiece table maps a letter.

    The texts follow a trie, whose size comes first.
    """
    texts = table[4 + int.from_bytes(table[:4], "little") :]
    return float(max(map(len, texts.split(b"\0"))))


def growth(step: Any) -> float:
    """Return the most output characters per input character for a step or a sequence of steps."""
    if not isinstance(step, dict):
        return 1.0
    inner = [part for name in ("normalizers", "decoders") for part in _list_or_empty(step.get(name))]
    own = _step_growth(step) if step.get("type") in ("Replace", "Prepend") else 1.0
    if step.get("type") == "Precompiled":
        own = max(1.0, _table_growth(_bytes(step.get("precompiled_charsmap"))))
    return own * math.prod(growth(part) for part in inner)


def _step_growth(step: dict[str, Any]) -> float:
    """Return by which factor one Replace or Prepend step can lengthen a text, at most.

    For a regular expression this assumes a match between any two characters.
    """
    if step["type"] == "Prepend":
        return 1.0 + len(str(step.get("prepend", "")))
    pattern, length = step.get("pattern"), len(str(step.get("content", "")))
    text = pattern.get("String") if isinstance(pattern, dict) else pattern
    return max(1.0, length / len(text)) if isinstance(text, str) and text else 1.0 + length


def _bytes(said: Any) -> bytes:
    try:
        return base64.b64decode(said)
    except (TypeError, ValueError):  # tokenizers cannot read it either
        return b""


def _list_or_empty(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
