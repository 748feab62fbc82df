"""Weights in a file: what is documented is read exactly, everything else is refused in one sentence."""

import io
import json
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save

import attnviz
from attnviz.models.translator.tiny import tiny_translator
from attnviz.tracing.external import file as external_file
from attnviz.tracing.external.file import read
from tests.each_case import each_case

WORDS = ["<s>", "a", "b"]
ATTN = torch.randn(2, 5, 3, 3, generator=torch.Generator().manual_seed(1)).softmax(-1)


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def test_an_npz_file_is_read() -> None:
    trace = read(npz(attn=ATTN.numpy(), tokens=np.array(WORDS), kind=np.array("decoder_self")), "own.npz")
    assert trace.kinds == ("decoder_self",)
    assert torch.equal(trace.attn("decoder_self"), ATTN)
    assert [token.text for token in trace.query_tokens("decoder_self")] == WORDS


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_safetensors_file_is_read(dtype: torch.dtype) -> None:
    said = {"tokens": json.dumps(WORDS), "key_tokens": json.dumps(["x", "y", "z"])}
    tensors = {"attn": ATTN.to(dtype), "mask": torch.ones(3, 3, dtype=torch.uint8)}
    trace = read(save(tensors, said), "OWN.SafeTensors")
    assert torch.equal(trace.attn("cross"), ATTN.to(dtype).float())
    assert [token.text for token in trace.key_tokens("cross")] == ["x", "y", "z"]


def test_several_kinds_and_back_again(tmp_path: Path) -> None:
    given = {"encoder_self": ATTN, "cross": ATTN[:, :, :2]}
    mask = {"cross": torch.tensor([[True, True, False]] * 2)}
    first = attnviz.from_tensors(given, {"src": WORDS, "tgt": WORDS}, mask=mask)
    attnviz.save(first, tmp_path / "own.npz")
    again = read((tmp_path / "own.npz").read_bytes(), "own.npz")
    assert again.kinds == first.kinds
    for kind in first.kinds:
        assert torch.equal(again.attn(kind), first.attn(kind))
        assert torch.equal(again.mask(kind), first.mask(kind))
        assert again.output_tokens(kind) == first.output_tokens(kind)


def test_a_saved_trace_brings_its_pieces_and_ids_and_what_does_not_fit_is_left(tmp_path: Path) -> None:
    trace = tiny_translator().trace("a big red dog", to="fr", tgt_text="un chien")
    attnviz.save(trace, tmp_path / "t.npz")
    again = read((tmp_path / "t.npz").read_bytes(), "t.npz")
    for side in ("src", "tgt"):
        told = [(token.piece, token.id) for token in trace.tokens(side)]
        assert [(token.piece, token.id) for token in again.tokens(side)] == told
    given = {"attn.encoder_self": ATTN.numpy(), "tokens.src": np.array(WORDS), "pieces.src": np.array(WORDS)}
    for ids in ([1, 2], [[1, 2], [3, 4], [5, 6]], [1.5, 2.5, 3.5]):
        wrong = read(npz(**given, **{"ids.src": np.array(ids)}), "own.npz")
        assert {(token.piece, token.id) for token in wrong.tokens("src")} == {("", -1)}


class Bomb:
    def __reduce__(self):
        return (Path.touch, (Path("pickle-ran"),))


def lying_header() -> bytes:
    """Make an archive whose array says that it has 10^15 numbers."""
    array = io.BytesIO()
    np.lib.format.write_array_header_1_0(array, {"shape": (10**15,), "fortran_order": False, "descr": "<f4"})
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("attn.npy", array.getvalue())
    return file.getvalue()


TOKENS = np.array(WORDS)
BROKEN = {
    "ending": (b"", "own.pkl", "neither a .npz nor a .safetensors"),
    "no ending": (b"", "npz", "neither"),
    "no archive": (b"hello", "own.npz", "not an .npz archive"),
    "no tensors": (b"\xff" * 64, "own.safetensors", "not a .safetensors file"),
    "empty": (b"", "own.safetensors", "not a .safetensors file"),
    "pickle": (npz(attn=np.array([Bomb()], dtype=object), tokens=TOKENS), "own.npz", "Python objects"),
    "lying header": (lying_header(), "own.npz", "less than it says"),
    "no attn": (npz(weights=ATTN.numpy()), "own.npz", "no array called attn"),
    "no tokens": (npz(attn=ATTN.numpy()), "own.npz", "no tokens"),
    "numbers as tokens": (npz(attn=ATTN.numpy(), tokens=np.arange(3)), "own.npz", "not a list of strings"),
    "long token": (npz(attn=ATTN.numpy(), tokens=np.array(["a" * 999] * 3)), "own.npz", "characters"),
    "wrong length": (npz(attn=ATTN.numpy(), tokens=TOKENS[:2]), "own.npz", "3 × 3"),
    "kind": (npz(attn=ATTN.numpy(), tokens=TOKENS, kind=np.array("up")), "own.npz", "no kind of attention called 'up'"),
    "tokens no list": (save({"attn": ATTN}, {"tokens": "{"}), "own.safetensors", "JSON"),
    "tokens no strings": (save({"attn": ATTN}, {"tokens": "[1]"}), "own.safetensors", "list of strings"),
    "too many heads": (npz(attn=np.ones((9000, 1, 1), np.float32), tokens=TOKENS[:1]), "own.npz", "9000 heads"),
    "text weights": (npz(attn=TOKENS, tokens=TOKENS), "own.npz", "array of numbers"),
}


def archive(compression: int = zipfile.ZIP_STORED, **members: bytes) -> bytes:
    """Make an archive of .npy files whose contents are given byte by byte."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as made:
        for key, content in members.items():
            made.writestr(f"{key}.npy", content)
    return file.getvalue()


def npy(header: str = "", *, version: tuple[int, int] = (1, 0)) -> bytes:
    """Make a .npy file with that header, or a plain one; whatever it says, 36 bytes follow."""
    said = (header or "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }").encode() + b"\n"
    return b"\x93NUMPY" + bytes(version) + len(said).to_bytes(2, "little") + said + bytes(36)


def damaged_archive(compression: int) -> bytes:
    """Make an archive in which some bytes of the compressed weights are others."""
    content = bytearray(archive(compression, attn=npy()))
    content[46:52] = b"\xff" * 6
    return bytes(content)


def archive_with_entry(*places: int, to: int) -> bytes:
    """Make an archive in whose directory numbers of two bytes are others; `places` are counted from its start."""
    content = bytearray(archive(attn=npy()))
    for at in places:
        start = content.index(b"PK\x01\x02") + at
        content[start : start + 2] = to.to_bytes(2, "little")
    return bytes(content)


def archive_of_shape(shape: str, descr: str = "<f4") -> bytes:
    """Make an archive whose weights say that they have that shape and type."""
    return archive(attn=npy(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"))


DAMAGED = {
    "deflate": damaged_archive(zipfile.ZIP_DEFLATED),
    "bzip2": damaged_archive(zipfile.ZIP_BZIP2),
    "xz": damaged_archive(zipfile.ZIP_LZMA),
    "other bytes": archive(attn=npy()).replace(bytes(36), bytes(35) + b"x"),
    "cut short": archive(attn=npy())[:-30],
    "unknown compression": archive_with_entry(10, to=99),
    "made by a later zip": archive_with_entry(6, to=999),
    "password": archive_with_entry(8, to=1),
    "longer than the file": archive_with_entry(20, 24, to=60_000),
    "empty member": archive(attn=b""),
    "no header": archive(attn=npy("hello")),
    "half a header": archive(attn=npy("{'descr': '<f4', 'shape': (1,")),
    "open string": archive(attn=npy('"""')),
    "indented": archive(attn=npy("1\n  2\n 3")),
    "brackets": archive(attn=npy("(" * 400)),
    "minus upon minus": archive(attn=npy("-" * 9000 + "1")),
    "later format": archive(attn=npy(version=(9, 9))),
    "a size that is true": archive_of_shape("(True,)"),
    "a size below nothing": archive_of_shape("(-1,)"),
    "more than there is": archive_of_shape("(10,)"),
    "much of no width": archive_of_shape("(1000000000000,)", "<U0"),
    "much of nothing": archive_of_shape("(1000000000000,)", "V0"),
    "records": npz(attn=np.zeros((3, 3), "V8"), tokens=TOKENS),
    "dates": npz(attn=np.zeros((3, 3), "<M8[s]"), tokens=TOKENS),
    "dates as a mask": npz(attn=ATTN.numpy(), tokens=TOKENS, mask=np.zeros((3, 3), "<M8[s]")),
}


@each_case("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_archive_is_one_sentence_and_takes_neither_time_nor_memory(content) -> None:
    with pytest.raises(ValueError, match=r"own\.npz cannot be read: |is not an array of") as refused:
        read(content, "own.npz")
    assert "\n" not in str(refused.value)


def test_safetensors_with_a_wrong_byte_are_read_or_refused() -> None:
    whole = save({"attn": ATTN}, {"tokens": json.dumps(WORDS)})
    for at in range(0, 400, 7):
        content = bytearray(whole)
        content[at % len(content)] ^= 0xFF
        with suppress(ValueError):  # a weight may change unnoticed, or the tokens' text
            read(bytes(content), "own.safetensors")


@each_case(("content", "name", "said"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_read_is_one_sentence(content, name, said, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=said) as refused:
        read(content, name)
    assert "\n" not in str(refused.value)
    assert not Path("pickle-ran").exists()


def test_size_is_limited_packed_and_unpacked(monkeypatch) -> None:
    content = npz(attn=ATTN.numpy(), tokens=TOKENS)
    monkeypatch.setattr(external_file, "MAX_UNPACKED", 100)
    with pytest.raises(ValueError, match="unpacks to more than"):
        read(content, "own.npz")
    monkeypatch.setattr(external_file, "MAX_FILE", 100)
    with pytest.raises(ValueError, match="at most"):
        read(content, "own.npz")


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_weights_are_counted_whatever_they_are_held_in(dtype, monkeypatch) -> None:
    """Each becomes four bytes: an archive of zeros in uint8 once took fifteen times what was allowed."""
    monkeypatch.setattr(external_file, "MAX_WEIGHTS", 89)
    attn = np.zeros((2, 5, 3, 3), dtype)
    for content, name in (
        (npz(attn=attn, tokens=TOKENS), "own.npz"),
        (save({"attn": torch.from_numpy(attn)}, {"tokens": json.dumps(WORDS)}), "own.safetensors"),
    ):
        with pytest.raises(ValueError, match="cannot be read: it contains 90 weights, but attnviz reads at most 89"):
            read(content, name)


def test_what_a_trace_saved_is_read_with_its_masks_and_its_special_tokens(tmp_path: Path) -> None:
    saved = tiny_translator(seed=3).trace("A big red dog.", to="fr", tgt_text="un chien")
    attnviz.save(saved, tmp_path / "saved.npz")
    again = read((tmp_path / "saved.npz").read_bytes(), "saved.npz")
    for kind in saved.kinds:
        assert torch.equal(again.mask(kind), saved.mask(kind))
    assert not again.mask("decoder_self").all()
    for side in ("src", "tgt"):
        assert [t.is_special for t in again.tokens(side)] == [t.is_special for t in saved.tokens(side)]
