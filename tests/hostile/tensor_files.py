"""Safetensors files that nobody would write by accident."""

import json
import struct
from collections.abc import Callable

MEGABYTE = 1024 * 1024


def safetensors(header: object, data: bytes = bytes(36), length: int | None = None) -> bytes:
    """Make a file with that header, as text or as JSON; `length` is what it says of the header's."""
    said = header.encode() if isinstance(header, str) else json.dumps(header).encode()
    return struct.pack("<Q", len(said) if length is None else length) + said + data


def tensor(shape: list[int], ends: list[int], dtype: str = "F32") -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": ends}


def empty_tensors(count: int) -> bytes:
    """As many as that, written as text: objects of a million would take longer to make than to refuse."""
    said = json.dumps(tensor([0], [0, 0]))
    return safetensors("{" + ",".join(f'"{at:x}":{said}' for at in range(count)) + "}", b"")


WORDS = {"__metadata__": {"tokens": '["a", "b", "c"]'}}

SAFETENSORS: dict[str, Callable[[], bytes]] = {
    "offsets beyond the file": lambda: safetensors(WORDS | {"attn": tensor([1000, 1000], [0, 4_000_000])}),
    "offsets that run backwards": lambda: safetensors(WORDS | {"attn": tensor([3, 3], [36, 0])}),
    "overlapping tensors": lambda: safetensors(WORDS | {n: tensor([3, 3], [0, 36]) for n in ("attn", "mask")}),
    "a hole": lambda: safetensors(WORDS | {"attn": tensor([2, 2], [20, 36])}),
    "a header of 2^62 bytes": lambda: safetensors(WORDS, length=1 << 62),
    "an unknown type": lambda: safetensors(WORDS | {"attn": tensor([3, 3], [0, 36], "F31")}),
    "no axes": lambda: safetensors(WORDS | {"attn": tensor([], [0, 4])}, bytes(4)),
    "an axis of nothing": lambda: safetensors(WORDS | {"attn": tensor([0, 3], [0, 0])}, b""),
    "a product that overflows": lambda: safetensors(WORDS | {"attn": tensor([1 << 32, 1 << 32], [0, 36])}),
    "an axis below nothing": lambda: safetensors(WORDS | {"attn": tensor([-3, -3], [0, 36])}),
    "brackets without end": lambda: safetensors("[" * MEGABYTE),
    "a million empty tensors": lambda: empty_tensors(980_000),
    "sixty thousand empty tensors": lambda: empty_tensors(60_000),
    "a number as a header": lambda: safetensors("7", b""),
    "one name twice": lambda: safetensors(
        '{"attn":{"dtype":"F32","shape":[3,3],"data_offsets":[0,36]},' * 2 + '"a":1}'
    ),
    "a lone surrogate": lambda: safetensors('{"__metadata__":{"tokens":"\\ud800"}}', b""),
    "a number of many digits": lambda: safetensors('{"attn":{"dtype":"F32","shape":[' + "9" * 9000 + "]}}"),
    "tokens of brackets": lambda: safetensors(
        {"__metadata__": {"tokens": "[" * MEGABYTE}, "attn": tensor([3, 3], [0, 36])}
    ),
    "tokens of digits": lambda: safetensors(
        {"__metadata__": {"tokens": "9" * MEGABYTE}, "attn": tensor([3, 3], [0, 36])}
    ),
    "a million tokens": lambda: safetensors(
        {"__metadata__": {"tokens": json.dumps(["a"] * 10**6)}, "attn": tensor([3, 3], [0, 36])}
    ),
    "four-bit numbers": lambda: safetensors(WORDS | {"attn": tensor([3, 4], [0, 6], "F4")}, bytes(6)),
    "complex numbers": lambda: safetensors(WORDS | {"attn": tensor([3, 3], [0, 72], "C64")}, bytes(72)),
}
