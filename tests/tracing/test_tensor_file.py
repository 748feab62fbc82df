"""Weights in a file: what is documented is read exactly, everything else is refused in one sentence."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save

import attnviz
from attnviz.tracing import tensor_file
from attnviz.tracing.tensor_file import read

WORDS = ["<s>", "a", "b"]
ATTN = torch.randn(2, 5, 3, 3, generator=torch.Generator().manual_seed(1)).softmax(-1)


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def test_npz() -> None:
    trace = read(npz(attn=ATTN.numpy(), tokens=np.array(WORDS), kind=np.array("decoder_self")), "own.npz")
    assert trace.kinds == ("decoder_self",)
    assert torch.equal(trace.attn("decoder_self"), ATTN)
    assert [token.text for token in trace.query_tokens("decoder_self")] == WORDS


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_safetensors(dtype: torch.dtype) -> None:
    said = {"tokens": json.dumps(WORDS), "key_tokens": json.dumps(["x", "y", "z"])}
    tensors = {"attn": ATTN.to(dtype), "mask": torch.ones(3, 3, dtype=torch.uint8)}
    trace = read(save(tensors, said), "OWN.SafeTensors")
    assert torch.equal(trace.attn("cross"), ATTN.to(dtype).float())
    assert [token.text for token in trace.key_tokens("cross")] == ["x", "y", "z"]


def test_several_kinds_and_back_again(tmp_path: Path) -> None:
    given = {"encoder_self": ATTN, "cross": ATTN[:, :, :2]}
    mask = {"cross": torch.tensor([[True, True, False]] * 2)}
    first = attnviz.from_tensors(given, {"src": WORDS, "tgt": WORDS}, mask=mask)
    first.save(tmp_path / "own.npz")
    again = read((tmp_path / "own.npz").read_bytes(), "own.npz")
    assert again.kinds == first.kinds
    for kind in first.kinds:
        assert torch.equal(again.attn(kind), first.attn(kind))
        assert torch.equal(again.mask(kind), first.mask(kind))
        assert again.output_tokens(kind) == first.output_tokens(kind)


class Bomb:
    def __reduce__(self):
        return (Path.touch, (Path("pickle-ran"),))


def lying_header() -> bytes:
    """An archive whose array says that it has 10^15 numbers."""
    array = io.BytesIO()
    np.lib.format.write_array_header_1_0(array, {"shape": (10**15,), "fortran_order": False, "descr": "<f4"})
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("attn.npy", array.getvalue())
    return file.getvalue()


TOKENS = np.array(WORDS)
BROKEN = {
    "ending": (b"", "own.pkl", "neither .npz nor .safetensors"),
    "no ending": (b"", "npz", "neither"),
    "no archive": (b"hello", "own.npz", "no .npz archive"),
    "no tensors": (b"\xff" * 64, "own.safetensors", "no .safetensors file"),
    "empty": (b"", "own.safetensors", "no .safetensors file"),
    "pickle": (npz(attn=np.array([Bomb()], dtype=object), tokens=TOKENS), "own.npz", "Python objects"),
    "lying header": (lying_header(), "own.npz", "less than it says"),
    "no attn": (npz(weights=ATTN.numpy()), "own.npz", "no attn"),
    "no tokens": (npz(attn=ATTN.numpy()), "own.npz", "no tokens"),
    "numbers as tokens": (npz(attn=ATTN.numpy(), tokens=np.arange(3)), "own.npz", "not a list of strings"),
    "long token": (npz(attn=ATTN.numpy(), tokens=np.array(["a" * 999] * 3)), "own.npz", "characters"),
    "wrong length": (npz(attn=ATTN.numpy(), tokens=TOKENS[:2]), "own.npz", "3 × 3"),
    "kind": (npz(attn=ATTN.numpy(), tokens=TOKENS, kind=np.array("up")), "own.npz", "no kind 'up'"),
    "tokens no list": (save({"attn": ATTN}, {"tokens": "{"}), "own.safetensors", "JSON"),
    "tokens no strings": (save({"attn": ATTN}, {"tokens": "[1]"}), "own.safetensors", "list of strings"),
    "too many heads": (npz(attn=np.ones((9000, 1, 1), np.float32), tokens=TOKENS[:1]), "own.npz", "9000 heads"),
    "text weights": (npz(attn=TOKENS, tokens=TOKENS), "own.npz", "array of numbers"),
}


@pytest.mark.parametrize(("content", "name", "said"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_read_is_one_sentence(content, name, said, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=said) as refused:
        read(content, name)
    assert "\n" not in str(refused.value)
    assert not Path("pickle-ran").exists()


def test_size_is_limited_packed_and_unpacked(monkeypatch) -> None:
    content = npz(attn=ATTN.numpy(), tokens=TOKENS)
    monkeypatch.setattr(tensor_file, "MAX_UNPACKED", 100)
    with pytest.raises(ValueError, match="unpacked"):
        read(content, "own.npz")
    monkeypatch.setattr(tensor_file, "MAX_FILE", 100)
    with pytest.raises(ValueError, match="at most"):
        read(content, "own.npz")
