"""Recordings as npz files, readable with NumPy alone and without pickle.

| key | what | shape |
| --- | --- | --- |
| `format_version` | 1 | `()` |
| `meta` | JSON in UTF-8: experiment, scores, watched lines, and the number of words of the task | bytes |
| `steps` | updates before each snapshot | `(moments,)` |
| `losses` | loss of every update, in nats per token | `(updates,)` float16 |
| `held_out_loss`, `teacher_prefix`, `own_prefix` | see `Moment` | `(moments,)` float32 |
| `heads.<score>` | score of each head | `(moments, layers, heads)` float16 |
| `changes.<kind>` | maps in 8 bits, as each cell's changes between snapshots modulo 256, which compress a sixth better | `(layers, heads, q_len, k_len, moments)` uint8 |
| `wrote` | ids that the toy wrote, padded with 0 | `(moments, lines, longest)` uint8 |
| `confusion` | of a toy that reads images: held-out images by their digit and the digit that it says | `(moments, 10, 10)` uint16 |
| `weights` | final parameters in one vector; absent if they were left out | `(weights,)` float16 |
"""  # noqa: E501 - a table

import io
import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from attnviz.guards import plain_file
from attnviz.guards.arguments import reads_arguments
from attnviz.guards.npz import DAMAGED, NOT_AN_ARRAY, Archive, first_line
from attnviz.toys.experiment import Experiment
from attnviz.toys.head_scores import SCORES
from attnviz.toys.packing import (
    FORMAT_VERSION,
    MOST_MOMENTS,
    arrays_with_prefix,
    changes,
    pack_meta,
    require,
    undo_changes,
    unpack_meta,
    write,
)
from attnviz.toys.recording import Recording, shown_sentence
from attnviz.toys.tasks.digits import CLASSES, SIDE
from attnviz.toys.tasks.task import Example
from attnviz.toys.translator.recording import TranslatorRecording, arrays_of, recording_of
from attnviz.toys.words import MOST_WORDS
from attnviz.tracing.trace import KINDS

NO_RECORDING = "{} is not a recording of attnviz ({})."
_UNPACKED = 32 * 1024 * 1024  # the largest allowed run needs less
_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
_CURVES = ("held_out_loss", "teacher_prefix", "own_prefix")
_NOT_A_RECORDING = (KeyError, TypeError, AttributeError, IndexError, AssertionError)


def save(recording: Recording | TranslatorRecording, path: str | Path, *, weights: bool = True) -> None:
    """Write a recording as npz. Without weights, the file shows the run, but its model cannot be opened.

    For a translator's training, whose weights are in a checkpoint, see the keys in `attnviz.toys.translator.recording`.
    """
    is_toy = isinstance(recording, Recording)
    write(_arrays(recording, weights=weights) if is_toy else arrays_of(recording), path)


def _arrays(recording: Recording, *, weights: bool) -> dict[str, Any]:
    arrays: dict[str, Any] = {
        "format_version": np.array(FORMAT_VERSION),
        "meta": _meta(recording),
        "steps": np.array(recording.steps, dtype=np.uint16),
        "losses": recording.losses,
        "wrote": recording.wrote,
    }
    arrays |= {name: getattr(recording, name) for name in _CURVES}
    arrays |= {f"heads.{name}": score for name, score in recording.heads.items()}
    arrays |= {f"changes.{kind}": changes(maps) for kind, maps in recording.maps.items()}
    if recording.confusion is not None:
        arrays["confusion"] = recording.confusion
    if weights and recording.weights is not None:
        arrays["weights"] = recording.weights
    return arrays


@reads_arguments
def load_recording(path: str | Path) -> Recording | TranslatorRecording:
    """Load a recording: a toy's run, or a translator's training from `python -m attnviz.training --watch`.

    Raises ValueError, with a message of one sentence, for any other file and for a file of another version.
    """
    path = Path(path)
    try:
        file = plain_file.open_file(path)
    except FileNotFoundError:
        raise ValueError(f"There is no recording {path.name!r}.") from None
    except OSError as error:
        raise ValueError(NO_RECORDING.format(path.name, first_line(error))) from error
    with file:
        return read_recording(file, path.name)


def read_recording(file: io.BufferedIOBase, name: str) -> Recording | TranslatorRecording:
    """Read a recording from an open file, like `load_recording`; `name` is the file's name in error messages."""
    try:
        archive = Archive(file, most=_UNPACKED)
        if any(key.startswith(("query.", "attn.")) for key in archive.keys):
            raise ValueError("it holds a trace, which attnviz.load_trace reads")
        return _read_arrays(archive.arrays(archive.keys))
    except (*DAMAGED, *NOT_AN_ARRAY, *_NOT_A_RECORDING) as error:
        raise ValueError(NO_RECORDING.format(name, first_line(error))) from error


def toy_recording(path: str | Path) -> Recording:
    """Load the recording of a toy's run. Raises ValueError for any other file, also for a translator's training."""
    found = load_recording(path)
    if not isinstance(found, Recording):
        raise ValueError(
            f"{Path(path).name} is a translator's training, not a toy's. Its model is in the folder `checkpoint` of "
            "that training."
        )
    return found


def _read_arrays(arrays: dict[str, np.ndarray]) -> Recording | TranslatorRecording:
    _check_version(arrays)
    steps = arrays["steps"]
    require(
        steps.ndim == 1 and steps.size <= MOST_MOMENTS and steps.dtype.kind == "u", "its steps are not whole numbers"
    )
    meta = unpack_meta(arrays["meta"])
    if "translator" in meta:
        return recording_of(arrays, meta["translator"])
    return _toy_recording(arrays, meta)


def _toy_recording(arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> Recording:
    experiment = Experiment.from_dict(meta["experiment"])
    if meta["words"] != len(experiment.toy_task.words):
        raise ValueError(
            f"its {experiment.task} has {meta['words']} words, and here it has {len(experiment.toy_task.words)}"
        )
    found = Recording(
        experiment,
        tuple(arrays["steps"].tolist()),
        arrays["losses"],
        *(arrays[name] for name in _CURVES),
        heads=arrays_with_prefix(arrays, "heads."),
        maps={kind: undo_changes(changes) for kind, changes in arrays_with_prefix(arrays, "changes.").items()},  # type: ignore[arg-type]
        wrote=arrays["wrote"],
        watched=tuple(Example(*(tuple(map(str, words)) for words in line)) for line in meta["watched"]),
        scores={str(name): float(score) for name, score in meta["scores"].items()},
        weights=arrays.get("weights"),
        confusion=arrays.get("confusion"),
    )
    _check_recording(found)
    return found


def _check_version(arrays: dict[str, np.ndarray]) -> None:
    if "format_version" not in arrays or "steps" not in arrays:
        raise ValueError("its arrays are not those of a recording")
    if (version := arrays["format_version"].item()) != FORMAT_VERSION:
        raise ValueError(f"its format_version is {version}, this attnviz reads {FORMAT_VERSION}: record the run again")


def _check_recording(found: Recording) -> None:
    """Raise ValueError if the arrays cannot come from a run of this experiment."""
    moments, size, words = len(found.steps), found.experiment.size, found.words
    require(moments >= 2 and list(found.steps) == sorted(set(found.steps)), "its moments are not in order")
    require(found.losses.shape == (found.steps[-1],), "its losses are not one for each update")
    require(all(getattr(found, name).shape == (moments,) for name in _CURVES), "its curves have the wrong length")
    require(all(map(math.isfinite, found.scores.values())), "its scores are not numbers")
    require(all(map(_NAME.fullmatch, found.scores)), "its scores have invalid names")
    require(
        set(found.heads) <= {*SCORES, *(f"sharpness.{kind}" for kind in KINDS)}, "it scores heads in an unknown way"
    )
    require(0 < len(found.watched) <= MOST_WORDS, "it watches no line")
    known, sides = (
        set(found.experiment.toy_task.words),
        [side for line in found.watched for side in (line.src, line.tgt)],
    )
    require(
        all(side and len(side) <= MOST_WORDS and known >= set(side) for side in sides), "it watches an unknown line"
    )
    heads = (moments, size.n_layers, size.n_heads)
    require(all(score.shape == heads for score in found.heads.values()), "its head scores have the wrong size")
    require(
        found.wrote.shape[:2] == (moments, len(found.watched)) and found.wrote.ndim == 3,
        "it has the wrong number of lines",
    )
    require(found.wrote.dtype == np.uint8 and found.wrote.max(initial=0) < len(words.pieces), "it wrote unknown words")
    _check_images(found)
    _check_maps(found, heads)
    if found.weights is not None:
        count = _n_weights(found.experiment, len(words.pieces))
        require(found.weights.shape == (count,), f"its weights are not the {count:,} of this experiment")
        require(bool(np.isfinite(found.weights).all()), "its weights are not numbers")
    numbers = (found.losses, *(getattr(found, name) for name in _CURVES), *found.heads.values())
    require(
        all(array.dtype.kind == "f" and np.isfinite(array).all() for array in numbers), "its curves are not numbers"
    )


def _check_images(found: Recording) -> None:
    """Raise ValueError if images, or counts of what was read, cannot be those of the experiment's task."""
    is_image, counts = found.experiment.toy_task.is_image, found.confusion
    require((counts is not None) is is_image, "its counts of digits are missing or belong to no image")
    if counts is None:
        return
    require(counts.shape == (len(found.steps), CLASSES, CLASSES) and counts.dtype == np.uint16,
            "its counts of digits have the wrong size")  # fmt: skip
    require(len(set(counts.sum(axis=(1, 2)).tolist())) == 1 and bool(counts.any()), "its counts of digits differ")
    images = all(len(line.src) == SIDE * SIDE for line in found.watched)
    require(images and all(int("".join(line.tgt)) < CLASSES for line in found.watched), "it watches no image")


def _check_maps(found: Recording, heads: tuple[int, ...]) -> None:
    kinds = found.experiment.toy_task.kinds
    require(set(found.maps) == set(kinds), "it lacks the maps of a kind of attention")
    require(all(maps.dtype == np.uint8 and maps.shape[:3] == heads and maps.ndim == 5 for maps in found.maps.values()),
             "its maps are of another size")  # fmt: skip
    padding = 0 if len(kinds) == 1 else found.maps["encoder_self"].shape[-1] - len(found.watched[0].src) - 1
    require(0 <= padding <= MOST_WORDS, "its maps are of another size")
    sentence = shown_sentence(found.words, found.watched[0], padding)
    for kind in kinds:
        shape = len(sentence.queries(kind)), len(sentence.keys(kind))
        require(found.maps[kind].shape[3:] == shape, "its maps are of another size")


def _n_weights(experiment: Experiment, vocab_size: int) -> int:
    """Return the number of weights of the network, without allocating them."""
    import torch

    from attnviz.toys.network import unfilled_network

    with torch.device("meta"):
        network = unfilled_network(experiment, vocab_size)
    return sum(parameter.numel() for parameter in network.parameters())


def _meta(recording: Recording) -> np.ndarray:
    meta = {
        "experiment": recording.experiment.to_dict(),
        "words": len(recording.experiment.toy_task.words),
        "watched": [[line.src, line.tgt] for line in recording.watched],
        "scores": dict(recording.scores),
    }
    return pack_meta(meta)
