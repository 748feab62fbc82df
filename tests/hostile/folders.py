"""Crafted checkpoint folders, each built when asked for; the name says what it attacks."""

import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

from tests.hostile.tensor_files import safetensors, tensor

Spoil = Callable[[Path], None]


def instead(name: str, make: Callable[[Path], object]) -> Spoil:
    """Put something else in a file's place."""

    def spoil(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        make(folder / name)

    return spoil


def a_socket(path: Path) -> None:
    # A path of over a hundred characters is none for a socket: it is bound from where it lies.
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(before)


def link_to(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def write_text(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text, encoding="utf-8")


def sparse(size: int) -> Callable[[Path], None]:
    """Make a file of that many zeros, which takes no room on the disk."""

    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(size)

    return make


def growing(path: Path) -> None:
    """Make a tokenizer whose steps multiply a text a billionfold: some hundred bytes in the file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    step = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 10}
    content["normalizer"] = {"type": "Sequence", "normalizers": [step] * 9}
    path.write_text(json.dumps(content), encoding="utf-8")


def many_names(path: Path) -> None:
    """Write 600,000 names into a header: 36 MB that would be parsed for many seconds."""
    names = ",".join(f'"{number}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}' for number in range(600_000))
    header = f"{{{names}}}".encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)


def few_bytes_many_names(path: Path) -> None:
    """Write as many names into a header as its bytes may hold."""
    names = ",".join(f'"{number}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}' for number in range(125_000))
    header = f"{{{names}}}".encode()
    assert len(header) < 8_000_000
    path.write_bytes(len(header).to_bytes(8, "little") + header)


def change_tokenizer(**parts: object) -> Spoil:
    """Put steps into tokenizer.json at which the library `tokenizers` panics, which raises no `Exception`."""

    def spoil(folder: Path) -> None:
        path = folder / "tokenizer.json"
        path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | parts), encoding="utf-8")

    return spoil


_FRAME = [{"SpecialToken": {"id": "[NONE]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
PANICS: dict[str, Spoil] = {
    "a tokenizer whose frame names no token": change_tokenizer(
        post_processor={"type": "TemplateProcessing", "single": _FRAME, "pair": _FRAME, "special_tokens": {}}
    ),
    "a tokenizer whose table ends early": change_tokenizer(
        normalizer={"type": "Precompiled", "precompiled_charsmap": "BAAAAAEAAAA="}
    ),
    "a tokenizer whose table is none": change_tokenizer(
        normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}
    ),
    "a tokenizer that cuts pieces of nothing": change_tokenizer(pre_tokenizer={"type": "FixedLength", "length": 0}),
}


def change_config(**values: object) -> Spoil:
    def spoil(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | values), encoding="utf-8")

    return spoil


def write_index(index: object) -> Spoil:
    def spoil(folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")

    return spoil


def name_spoils(name: str, things: dict[str, Callable[[Path], object]]) -> dict[str, Spoil]:
    return {f"{name} is {what}": instead(name, make) for what, make in things.items()}


NO_FILES: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a socket": a_socket,
    "a folder": Path.mkdir,
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a device without end": link_to("/dev/zero"),
    "a terminal": link_to("/dev/tty"),
}
JSONS: dict[str, Callable[[Path], object]] = {
    "brackets without end": write_text("[" * 2_000_000),
    "a number of many digits": write_text('{"a": ' + "9" * 100_000 + "}"),
    "three gigabytes": sparse(3 << 30),
    "no object": write_text("[]"),
    "a lone surrogate": write_text('{"model_type": "\\ud800", "format_version": "\\ud800"}'),
    "one name twice": write_text('{"model_type": "bert", "model_type": 5, "format_version": 1, "format_version": []}'),
}
FOLDERS: dict[str, Spoil] = {
    **name_spoils("config.json", NO_FILES | JSONS),
    **name_spoils("tokenizer.json", NO_FILES | JSONS),
    **name_spoils("model.safetensors", NO_FILES | {"a gigabyte of nothing": sparse(1 << 30)}),
    **name_spoils("special_tokens_map.json", NO_FILES | {"three gigabytes": sparse(3 << 30)}),
    "an index of brackets": write_index([[[[]]]]),
    "an index that leads out": write_index({"metadata": {}, "weight_map": {"a": "../../../../etc/passwd"}}),
    "an index of numbers": write_index({"metadata": {}, "weight_map": {"a": 5, "b": "x"}}),
    "weights of offsets beyond the file": instead(
        "model.safetensors", lambda path: path.write_bytes(safetensors({"a": tensor([1000, 1000], [0, 4_000_000])}))
    ),
    "weights of a product that overflows": instead(
        "model.safetensors", lambda path: path.write_bytes(safetensors({"a": tensor([1 << 40, 1 << 40], [0, 36])}))
    ),
    "a config of a billion layers": change_config(num_hidden_layers=10**9),
    "a config of a billion wide": change_config(hidden_size=10**9, intermediate_size=10**9),
    "a config of a billion words": change_config(vocab_size=10**9, max_position_embeddings=10**9),
    "a config of texts": change_config(hidden_size="x", num_attention_heads=None, vocab_size=[]),
    "a config of NaN": change_config(layer_norm_eps=float("nan"), hidden_dropout_prob=float("inf")),
    "a tokenizer that multiplies": lambda folder: growing(folder / "tokenizer.json"),
    "weights of 600,000 names": instead("model.safetensors", many_names),
    "weights of short names": instead("model.safetensors", few_bytes_many_names),
    **PANICS,
}


MARIAN = {
    "a config of a hundred million positions": change_config(max_position_embeddings=10**8)
}  # its tables are made
FOLDERS |= MARIAN


def spoil_checkpoint(sources: Path, folder: Path, name: str) -> Path:
    """Make a copy of one of the checkpoints in `sources`, spoiled as `name` says."""
    shutil.copytree(sources / ("marian" if name in MARIAN else "bert"), folder)
    FOLDERS[name](folder)
    return folder
