"""Crafted .npz files, each built when asked for; the name says what it attacks."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable

import numpy as np

MEGABYTE = 1024 * 1024
TOKENS = np.array(["a", "b", "c"])
ATTN = np.full((1, 1, 3, 3), 1 / 3, np.float32)


def npz(**arrays: np.ndarray) -> bytes:
    """Write arrays with NumPy's own writer."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def compressed_npz(**arrays: np.ndarray) -> bytes:
    """As `npz`, packed: numbers that repeat take a thousandth."""
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array)
    return file.getvalue()


def npy_with_header(header: str, content: bytes = bytes(36), version: tuple[int, int] = (1, 0)) -> bytes:
    """Make a .npy file with that header, whatever follows."""
    said = header.encode() + b"\n"
    length = len(said).to_bytes(2 if version == (1, 0) else 4, "little")
    return b"\x93NUMPY" + bytes(version) + length + said + content


def archive_of_shape(shape: str, descr: str = "'<f4'", order: str = "False") -> bytes:
    """Make an archive whose weights say that they have that shape and type."""
    return archive({"attn.npy": npy_with_header(f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}")})


def archive(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Write members with Python's own writer."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return file.getvalue()


def bomb(packed: int, *, says: int | None = None) -> bytes:
    """Half a gigabyte of zeros as weights, deflated: one packed piece, as often as it takes."""
    head = npy_with_header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({packed // 4},), }}", b"")
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    piece = packer.compress(bytes(MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
    data = first + piece * (packed // MEGABYTE) + packer.flush(zlib.Z_FINISH)
    return raw(["attn.npy"], data, len(head) + packed if says is None else says)


def raw(names: list[str], data: bytes, size: int, checksum: int = 0) -> bytes:
    """Make an archive whose members are all the same bytes, written by hand; `size` is what it says comes out."""
    about = (0, 8, 0, 0, checksum, len(data), size)
    body = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, *about, len(names[0]), 0) + names[0].encode() + data
    entries = b"".join(
        struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, *about, len(name), 0, 0, 0, 0, 0, 0) + name.encode()
        for name in names
    )
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, len(names), len(names), len(entries), len(body), 0)
    return body + entries + end


def directory_changed(content: bytes, at: int, value: bytes) -> bytes:
    """Change bytes of the first member's entry in the directory."""
    start = content.index(b"PK\x01\x02") + at
    return content[:start] + value + content[start + len(value) :]


def overlapping(members: int = 500) -> bytes:
    """Make many members that share the same bytes, as in David Fifield's "A better zip bomb" (2019)."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    plain = npy(np.zeros((1, 1, 1024, 1024), np.float32))
    data = packer.compress(plain) + packer.flush()
    # `zipfile` compares the name before the data with the directory's: each entry but the first is refused for that.
    return raw([f"mask.encoder_self.{at}.npy" for at in range(members)], data, len(plain), zlib.crc32(plain))


def a_directory_without_end() -> bytes:
    """Write a directory of a million entries: each has 50 bytes in the file and ten times that when read."""
    entry = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    entries = entry * 1_000_000
    zip64 = struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 10**6, 10**6, len(entries), 0)
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, len(entries), 1)
    return entries + zip64 + locator + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, 47, 0, 0)


def many_members_of_zeros() -> bytes:
    """Make members that are each below the limit, and together far above it."""
    zeros = npy(np.zeros((64, 1, 512, 512), np.uint8))
    return archive({f"mask.encoder_self.{at}.npy": zeros for at in range(12)})


def two_of_one_name() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("attn.npy", npy(ATTN))
        made.writestr("attn_npy", npy(np.zeros((3, 3))))
    return file.getvalue().replace(b"attn_npy", b"attn.npy")


def streamed_archive() -> bytes:
    """Write sizes behind the data that differ from those in the directory."""

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise io.UnsupportedOperation

        def tell(self) -> int:
            raise io.UnsupportedOperation

    file = Pipe()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("attn.npy", npy(ATTN))
    return directory_changed(file.getvalue(), 24, struct.pack("<I", 7))


class _Ran:
    def __reduce__(self):
        return (exec, ("raise SystemExit('a pickle ran')",))


def objects() -> bytes:
    file = io.BytesIO()
    np.savez(file, attn=np.array([_Ran()], dtype=object), tokens=TOKENS)
    return file.getvalue()


NAN = np.array([[np.nan, 1, 0], [np.inf, 0, 0], [-1, 1, 1]], np.float32)
ODD = np.array([[-5, 1, 0], [1e30, 0, 0], [9, 9, 9]], np.float32)
REFUSED: dict[str, Callable[[], bytes]] = {
    "bzip2": lambda: archive({"attn.npy": npy(np.zeros(4 * MEGABYTE, np.float32))}, zipfile.ZIP_BZIP2),
    "LZMA": lambda: archive({"attn.npy": npy(np.zeros(4 * MEGABYTE, np.float32))}, zipfile.ZIP_LZMA),
    "deflate of half a gigabyte": lambda: bomb(512 * MEGABYTE),
    "a bomb that says it is a hundred bytes": lambda: bomb(512 * MEGABYTE, says=100),
    "a bomb that says it is a hundred megabytes": lambda: bomb(512 * MEGABYTE, says=100 * MEGABYTE),
    "overlapping members": overlapping,
    "a directory of a million": a_directory_without_end,
    "many members of zeros": many_members_of_zeros,
    "two of one name": two_of_one_name,
    "a password flag": lambda: directory_changed(npz(attn=ATTN, tokens=TOKENS), 8, b"\x01\x00"),
    "streamed, with other sizes": streamed_archive,
    "zip64 sizes that lie": lambda: directory_changed(npz(attn=ATTN, tokens=TOKENS), 20, b"\xff" * 8),
    "an offset behind the end": lambda: directory_changed(npz(attn=ATTN, tokens=TOKENS), 42, b"\xf0\xff\xff\x7f"),
    "Python objects": objects,
    "a shape of 10^15": lambda: archive_of_shape("(1000000000000000,)"),
    "a shape of a hundred axes": lambda: archive_of_shape(str((1,) * 100)),
    "a shape that overflows": lambda: archive_of_shape("(4294967296, 4294967296, 4294967296)"),
    "cells of no width": lambda: archive_of_shape("(1000000000000,)", "'<U0'"),
    "Fortran order, and too short": lambda: archive_of_shape("(9, 9)", order="True"),
    "records": lambda: npz(attn=np.zeros((3, 3), [("a", "<f4"), ("b", "O", 0)][:1]), tokens=TOKENS),
    "records of records": lambda: archive_of_shape("(3, 3)", "[('a', [('b', [('c', '<f4')])])]"),
    "a type of a million cells": lambda: archive_of_shape("()", "('<f4', (1000000,))"),
    "a header of five megabytes": lambda: archive(
        {"attn.npy": npy_with_header("{" + " " * 5 * MEGABYTE + "}", version=(2, 0))}
    ),
    "a header of brackets": lambda: archive({"attn.npy": npy_with_header("(" * 60_000)}),
    "a header of minuses": lambda: archive({"attn.npy": npy_with_header("-" * 9_000 + "1")}),
    "a header of digits": lambda: archive_of_shape("(" + "9" * 9_000 + ",)"),
    "NaN and infinity": lambda: npz(attn=NAN, tokens=TOKENS),
    "a path as a name": lambda: archive({"../../attn.npy": npy(ATTN), "/etc/tokens.npy": npy(TOKENS)}),
    "thirty million empty texts": lambda: compressed_npz(attn=ATTN, tokens=np.zeros(30_000_000, "<U1")),
    "thirty million empty texts, as pieces": lambda: compressed_npz(
        **{"attn.cross": ATTN, "tokens.src": TOKENS, "tokens.tgt": TOKENS, "pieces.src": np.zeros(30_000_000, "<U1")}
    ),
    "a kind of a hundred megabytes": lambda: compressed_npz(
        attn=ATTN, tokens=TOKENS, kind=np.array("x" * 25 * MEGABYTE)
    ),
    "a character beyond Unicode": lambda: npz(attn=ATTN, tokens=np.array([97, 0x110000, 98], "<u4").view("<U1")),
    "tokens of a gigabyte": lambda: archive({"attn.npy": npy(ATTN), "tokens.npy": npy(np.zeros(3, "<U20000000"))}),
}
TAKEN: dict[str, Callable[[], bytes]] = {
    "weights below nothing and above one": lambda: npz(attn=ODD, tokens=TOKENS),
    "Fortran order": lambda: npz(attn=np.asfortranarray(ATTN), tokens=TOKENS),
    "lone surrogates and marks of direction": lambda: npz(attn=ATTN, tokens=np.array(["\ud800", "\u202e", "\0a"])),
}


def _recording(**arrays: np.ndarray) -> bytes:
    """Make a file that begins like a recording, as far as it is read before these arrays are."""
    meta = b'{"experiment": {"task": "reverse"}, "words": 16, "watched": [], "scores": {}}'
    plain = {
        "format_version": np.array(1),
        "meta": np.frombuffer(meta, np.uint8),
        "steps": np.arange(3, dtype=np.uint16),
    }
    file = io.BytesIO()
    np.savez_compressed(file, **(plain | arrays))
    return file.getvalue()


RECORDINGS: dict[str, Callable[[], bytes]] = {
    "moments without end": lambda: _recording(steps=np.zeros(7 * MEGABYTE, dtype=np.uint32)),
    "maps of thirty megabytes": lambda: _recording(**{"changes.cross": np.zeros((1, 30 * MEGABYTE), np.uint8)}),
    "a thousand maps": lambda: _recording(**{f"changes.{at}": np.zeros((9, 3), np.uint8) for at in range(1_000)}),
    "brackets as an experiment": lambda: _recording(meta=np.frombuffer(b"[" * 20 * MEGABYTE, np.uint8)),
    "a million watched lines": lambda: _recording(
        meta=np.frombuffer(b'{"watched": [' + b'[["a"], ["a"]],' * 10**6 + b"0]}", np.uint8)
    ),
    "a translator's lines without end": lambda: _recording(
        meta=np.frombuffer(b'{"translator": {"lines": [' + b"{}," * 300_000 + b"{}]}}", np.uint8)
    ),
}
