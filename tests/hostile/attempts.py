"""The attempt for each piece of the corpus: it is prepared first, so that only opening it is measured."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.hostile import archives, folders, tensor_files

Prepared = Callable[[], object]
Attempt = Callable[[str], Prepared]


def _npz() -> Attempt:
    from attnviz.tracing.external.file import read

    read(archives.npz(attn=archives.ATTN, tokens=archives.TOKENS), "own.npz")  # what is imported late is here now
    made = archives.REFUSED | archives.TAKEN

    def attempt(name: str) -> Prepared:
        content = made[name]()
        return lambda: read(content, "own.npz")

    return attempt


def _safetensors() -> Attempt:
    from attnviz.tracing.external.file import read

    good = tensor_files.safetensors(tensor_files.WORDS | {"attn": tensor_files.tensor([3, 3], [0, 36])})
    read(good, "own.safetensors")

    def attempt(name: str) -> Prepared:
        content = tensor_files.SAFETENSORS[name]()
        return lambda: read(content, "own.safetensors")

    return attempt


def _trace() -> Attempt:
    import attnviz

    place = Path(tempfile.mkdtemp()) / "trace.npz"

    def attempt(name: str) -> Prepared:
        place.write_bytes((archives.REFUSED | archives.TAKEN)[name]())
        return lambda: attnviz.load_trace(place)

    return attempt


def _recording() -> Attempt:
    import attnviz
    from attnviz.toys import shipped

    place = Path(tempfile.mkdtemp()) / "run.npz"
    attnviz.load_recording(next(shipped.FOLDER.glob("*.npz")))  # what is imported late is here now

    def attempt(name: str) -> Prepared:
        place.write_bytes((archives.REFUSED | archives.RECORDINGS)[name]())
        return lambda: attnviz.load_recording(place)

    return attempt


def _folder() -> Attempt:
    import attnviz
    from tests.models.huggingface import checkpoints

    place = Path(tempfile.mkdtemp())
    for name in ("bert", "marian"):
        attnviz.load(checkpoints.save(place / name, checkpoints.ALL[name]), device="cpu")

    def attempt(name: str) -> Prepared:
        folder = folders.spoil_checkpoint(place, place / str(len(list(place.iterdir()))), name)
        return lambda: attnviz.load(folder, device="cpu")

    return attempt


KINDS: dict[str, Callable[[], Attempt]] = {
    "npz": _npz, "safetensors": _safetensors, "trace": _trace, "recording": _recording, "folder": _folder,
}  # fmt: skip
