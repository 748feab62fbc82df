"""`attnviz.load` on a transformers checkpoint, from the API and from the shell; transformers is imported only then."""

import subprocess
import sys

import numpy as np
import pytest
import torch

import attnviz
from attnviz.__main__ import main
from attnviz.models.huggingface import HuggingFaceModel
from attnviz.models.huggingface.loading import load
from attnviz.models.translator.tiny import tiny_translator
from attnviz.models.translator.translator import Translator
from attnviz.transformer import checkpoint as own


def test_load_tells_the_two_formats_apart(checkpoint, tmp_path):
    translator = tiny_translator(seed=1)
    own.save(translator.model, tmp_path, dtype=torch.float32)
    translator.codec.save(tmp_path / "tokenizer.json")
    assert isinstance(attnviz.load(tmp_path, device="cpu"), Translator)
    model = attnviz.load(str(checkpoint("bert")), device="cpu", dtype="float32")
    assert isinstance(model, HuggingFaceModel)
    assert (model.name, model.kinds, model.n_layers, model.n_heads) == ("bert", ("encoder_self",), 3, 5)


def test_progress_grows_from_nothing_to_all(checkpoint):
    told = []
    load(checkpoint("gpt2"), device=torch.device("cpu"), dtype=torch.float32, progress=lambda *what: told.append(what))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(set(told)) == len(told) >= 4


def test_a_model_in_half_precision_was_compared_in_full(checkpoint):
    model = load(checkpoint("llama"), device=torch.device("cpu"), dtype=torch.bfloat16)
    trace = model.trace("A cat sat.")
    assert trace.info.dtype == "bfloat16"
    assert trace.call("decoder_self", 0).query.dtype is torch.bfloat16
    assert trace.attn("decoder_self").dtype is torch.float32


def test_other_weights_have_another_id(model):
    assert model("llama").model_id != model("mistral").model_id
    assert len(model("llama").model_id) == 16


def test_own_models_need_no_transformers(tmp_path):
    """Neither the import nor a translator of attnviz loads transformers."""
    translator = tiny_translator(seed=1)
    own.save(translator.model, tmp_path, dtype=torch.float32)
    translator.codec.save(tmp_path / "tokenizer.json")
    code = f"import attnviz, sys; attnviz.load({str(tmp_path)!r}); print('transformers' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_shell_traces_a_checkpoint(checkpoint, model, tmp_path):
    out = tmp_path / "prompt.npz"
    asked = ["trace", "A cat sat", "--model", str(checkpoint("gpt2")), "--new-tokens", "3", "--out", str(out)]
    assert main(asked) == 0
    trace = model("gpt2").trace("A cat sat", new_tokens=3)
    with np.load(out, allow_pickle=False) as file:
        np.testing.assert_allclose(file["attn.decoder_self"][0], trace.attn("decoder_self").numpy(), atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(("--to", "fr"), "bert takes no --to"), (("--new-tokens", "3"), "bert takes no --new-tokens")],
)
def test_the_shell_says_what_a_model_does_not_take(checkpoint, tmp_path, capsys, arguments, says):
    asked = ["trace", "A cat", "--model", str(checkpoint("bert")), "--out", str(tmp_path / "x.npz"), *arguments]
    assert main(asked) == 2
    assert capsys.readouterr().err.startswith(f"attnviz: {says}")
