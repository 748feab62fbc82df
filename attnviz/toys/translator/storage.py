"""Recordings of a translator's training as npz files, readable with NumPy alone and without pickle.

| key | what | shape |
| --- | --- | --- |
| `format_version` | 1 | `()` |
| `meta` | JSON in UTF-8: under `translator` the lines with all token fields, the translations, and the vocabulary's size | bytes |
| `steps` | updates before each snapshot | `(moments,)` uint32 |
| `held_out_loss` | teacher-forced loss, in nats per token | `(moments,)` float32 |
| `scores.<name>` | scores such as `chrf.fr`, 0 to 100 | `(moments,)` float32 |
| `changes.<line>.<kind>` | maps in 8 bits, as `attnviz.toys.packing` writes them; lines count from 0 | `(layers, heads, q_len, k_len, moments)` uint8 |
"""  # noqa: E501 - a table

import re
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from attnviz.text.tokens import Token
from attnviz.toys.packing import FORMAT_VERSION, arrays_with_prefix, changes, pack_meta, require, undo_changes
from attnviz.toys.translator.recording import TranslatorRecording, WatchedLine
from attnviz.tracing.record import Sentence
from attnviz.tracing.storage import sentence_of
from attnviz.tracing.trace import KINDS

MOST_LINES, _MOST_VOCABULARY, _MOST_SCORES, _MOST_LOSS = 8, 10_000_000, 64, 1e6
_SCORE = re.compile(r"(bleu|chrf)\.[\w-]{1,20}")


def arrays_of(recording: TranslatorRecording) -> dict[str, Any]:
    """Return the arrays that a recording's file holds."""
    said = {
        "vocab_size": recording.vocab_size,
        "lines": [asdict(line) for line in recording.lines],
        "wrote": recording.wrote,
    }
    arrays: dict[str, Any] = {
        "format_version": np.array(FORMAT_VERSION),
        "meta": pack_meta({"translator": said}),
        "steps": np.array(recording.steps, dtype=np.uint32),
        "held_out_loss": recording.held_out_loss,
    }
    arrays |= {f"scores.{name}": scores for name, scores in recording.scores.items()}
    for at, of_line in enumerate(recording.maps):
        arrays |= {f"changes.{at}.{kind}": changes(maps) for kind, maps in of_line.items()}
    return arrays


def recording_of(arrays: dict[str, np.ndarray], said: Any) -> TranslatorRecording:
    """Read a recording from a file's arrays and its meta. Raises ValueError, and KeyError and the like for missing
    parts.
    """
    require(0 < len(said["lines"]) <= MOST_LINES, f"it watches {len(said['lines'])} lines")
    lines = tuple(_line(line) for line in said["lines"])
    found = TranslatorRecording(
        lines,
        said["vocab_size"],
        tuple(arrays["steps"].tolist()),
        arrays["held_out_loss"],
        arrays_with_prefix(arrays, "scores."),
        tuple({kind: undo_changes(arrays[f"changes.{at}.{kind}"]) for kind in KINDS} for at in range(len(lines))),
        tuple(map(tuple, said["wrote"])),
    )
    _check(found)
    return found


def _line(said: dict[str, Any]) -> WatchedLine:
    to, learned, told = said["to"], said["learned"], said["sentence"]
    require(isinstance(to, str) and isinstance(learned, bool), "it watches a line of no language")
    require(_is_typed(told, Sentence) and not told["cut"] and not told["first_row"], "it watches no sentence")
    tokens = (*told["src"], *told["tgt"])
    require(all(_is_typed(token, Token) for token in tokens), "its sentences have other than tokens")
    return WatchedLine(to, sentence_of(told), learned)


def _is_typed(said: dict[str, Any], kind: type) -> bool:
    """Check whether values have the types str, int and bool that a dataclass declares for its fields."""
    return all(type(said[field.name]) is field.type for field in fields(kind) if field.type in (str, int, bool))


def _check(found: TranslatorRecording) -> None:
    """Raise ValueError if the arrays cannot come from a translator's training."""
    moments = len(found.steps)
    require(moments >= 1 and list(found.steps) == sorted(set(found.steps)), "its moments are not in order")
    require(
        type(found.vocab_size) is int and 1 < found.vocab_size <= _MOST_VOCABULARY, "it has no size of a vocabulary"
    )
    require(all(map(_SCORE.fullmatch, found.scores)), "it scores translations in an unknown way")
    curves = (found.held_out_loss, *found.scores.values())
    require(all(array.shape == (moments,) for array in curves), "its curves are of other lengths")
    require(all(array.dtype.kind == "f" and np.isfinite(array).all() for array in curves), "its curves are not numbers")
    require(found.held_out_loss.min() >= 0 and found.held_out_loss.max() <= _MOST_LOSS, "its losses are none")
    require(len(found.scores) <= _MOST_SCORES, "it has more scores than languages")
    require(all(s.min() >= 0 and s.max() <= 100.01 for s in found.scores.values()), "its scores are not from 0 to 100")
    wrote = [text for texts in found.wrote for text in texts]
    require(
        len(found.wrote) == moments
        and all(len(texts) == len(found.lines) for texts in found.wrote)
        and all(isinstance(text, str) for text in wrote),
        "its lines are of another number",
    )
    for line, of_line in zip(found.lines, found.maps, strict=True):
        for kind, maps in of_line.items():
            stacks = found.maps[0][kind].shape[:3]
            shape = (*stacks, len(line.sentence.queries(kind)), len(line.sentence.keys(kind)))
            require(
                maps.dtype == np.uint8 and maps.ndim == 5 and maps.shape == shape and len(maps) == moments,
                "its maps are of another size",
            )
            require(0 not in shape, "its maps are of another size")
