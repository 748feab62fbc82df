"""GGUF files: which one is meant, and headers that lie. The file of a real model is opened by `make test-chat`."""

import json
import shutil
import struct
import sys
import time

import pytest

from attnviz.extras import MissingExtraError
from attnviz.models.huggingface import load
from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.files.gguf import read_header
from tests.models.huggingface.refused import CPU, refusal

U32, STRING, ARRAY, U64 = 4, 8, 9, 10


def text(content: str) -> bytes:
    return struct.pack("<Q", len(content)) + content.encode()


def entry(name: str, kind: int, content: bytes) -> bytes:
    return text(name) + struct.pack("<I", kind) + content


def tensor(name: str, *shape: int) -> bytes:
    return (
        text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape) + struct.pack("<IQ", 0, 0)
    )


def header(*entries: bytes, tensors: tuple[bytes, ...] = (), version: int = 3, counts: tuple[int, int] | None = None):
    """Write the beginning of a GGUF file, with its architecture."""
    entries = (entry("general.architecture", STRING, text("llama")), *entries)
    said = counts or (len(tensors), len(entries))
    return b"GGUF" + struct.pack("<IQQ", version, *said) + b"".join((*entries, *tensors))


@pytest.fixture
def file(tmp_path):
    """Write a file `tiny.gguf` with some content."""

    def write(content: bytes, name: str = "tiny.gguf"):
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return write


@pytest.fixture
def _has_library(monkeypatch):
    """Let a file be read up to where the library would unpack it, whether the library is here or not."""
    monkeypatch.setattr("attnviz.models.huggingface.loading.require_libraries", lambda: None)
    monkeypatch.setattr("attnviz.models.huggingface.loading.read_gguf", lambda *_: pytest.fail("too late"))


def header_refusal(path) -> str:
    """Return the sentence that a file's header is refused with."""
    with pytest.raises(ModelError) as refused:
        read_header(path)
    return str(refused.value)


def test_a_header_says_what_the_file_holds(file):
    words = entry("tokenizer.ggml.tokens", ARRAY, struct.pack("<IQ", STRING, 2) + text("a") + text("b"))
    scores = entry("tokenizer.ggml.scores", ARRAY, struct.pack("<IQ", U32, 3) + bytes(12))
    found = read_header(file(header(words, scores, tensors=(tensor("a.weight", 3, 5), tensor("b.weight", 7)))))
    assert (found.architecture, found.tensors, found.numbers) == ("llama", 2, 22)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"GGUF", "an entry of 4 bytes goes beyond the header"),
        (b"PK\x03\x04" + bytes(40), "it begins otherwise"),
        (header(version=1), "it begins otherwise"),
        (header()[:50], "goes beyond the header"),
        (header(counts=(2**60, 1)), "it names 1,152,921,504,606,846,976 entries"),
        (header(entry("x", ARRAY, struct.pack("<IQ", U64, 2**60))), "goes beyond the header"),
        (header(entry("x", ARRAY, struct.pack("<IQ", STRING, 2**60))), "goes beyond the header"),
        (
            header(*[entry("x", ARRAY, struct.pack("<IQ", STRING, 500_001) + bytes(500_001 * 8))] * 2),
            "at most 1,000,000",
        ),
        (header(entry("x", 77, b"")), "an entry has the unknown type 77"),
        (header(entry("x", ARRAY, struct.pack("<IQ", ARRAY, 1) * 9)), "an entry has the unknown type 9"),
    ],
)
def test_a_damaged_file_is_one_sentence(content, says, file):
    said = header_refusal(file(content))
    assert said.startswith("'tiny.gguf' is not a GGUF file of version 2 or 3, or is cut short (")
    assert says in said


def test_lists_of_millions_of_texts_are_refused_before_they_are_read(file):
    path = file(header(entry("x", ARRAY, struct.pack("<IQ", ARRAY, 1) + struct.pack("<IQ", STRING, 12_000_000))))
    with path.open("r+b") as longer:
        longer.truncate(99_000_000)  # zeros that take no room on the disk, and are twelve million empty texts
    started = time.process_time()
    assert "its lists hold 12,000,001 texts, and at most 1,000,000 are read" in header_refusal(path)
    assert time.process_time() - started < 2  # the processor's time: the texts would take twelve seconds of it


@pytest.mark.usefixtures("_has_library")
def test_the_size_is_known_before_anything_is_unpacked(file):
    path = file(header(tensors=(tensor("a.weight", 1_000_000, 3_000),)))
    assert refusal(path).startswith("The model's weights take 12 GB in float32; up to 8 GB are loaded here")


@pytest.mark.parametrize("given", ["file", "folder", "folder with a config"])
def test_a_missing_library_is_one_sentence_with_its_command(given, file, monkeypatch):
    path = file(b"GGUF and no header: the library is asked for before anything is read")
    if given == "folder with a config":
        (path.parent / "config.json").write_text(json.dumps({"model_type": "llama"}), encoding="utf-8")
    for library in ("gguf", "accelerate"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError) as missing:
        load(path if given == "file" else path.parent, **CPU)
    assert str(missing.value) == "A GGUF file needs gguf: pip install --group gguf."


@pytest.mark.usefixtures("_has_library")
def test_of_several_files_one_is_asked_for(file):
    for name in ("m-Q4_K_M.gguf", "m-Q8_0.gguf", "mmproj-m.gguf"):
        path = file(header(), name)
    folder = path.parent.name
    assert refusal(path.parent) == (
        f"{folder!r} contains 2 GGUF files. Please pass the path of one of them, such as {folder}/m-Q8_0.gguf."
    )


@pytest.mark.usefixtures("_has_library")
def test_a_part_of_a_model_is_told_to_be_joined(file):
    for number in (1, 2):
        path = file(header(), f"m-0000{number}-of-00002.gguf")
    said = "is one of the 2 files of a model. Please join them first (llama-gguf-split --merge)."
    assert refusal(path) == f"'{path.name}' {said}"
    assert refusal(path.parent).endswith(said)


def test_a_projector_alone_is_no_model(file):
    path = file(header(), "mmproj-m.gguf")
    assert refusal(path.parent).endswith("contains only an image projector, not a text model.")


def test_safetensors_beside_a_gguf_file_go_first(checkpoint, tmp_path):
    folder = shutil.copytree(checkpoint("llama"), tmp_path / "both")
    (folder / "both-Q8_0.gguf").write_bytes(header())
    assert load(folder, **CPU).name == "both"
