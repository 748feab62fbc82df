"""The commands on small checkpoints of transformers."""

import io
from functools import cache

import pytest

import attnviz
from attnviz.__main__ import main
from attnviz.text.display import display_token
from tests.models.huggingface import checkpoints
from tests.models.huggingface.families import FAMILIES


@pytest.fixture(scope="module")
def checkpoint_of(tmp_path_factory):
    return cache(lambda name: checkpoints.save(tmp_path_factory.mktemp("hf") / name, checkpoints.ALL[name]))


@pytest.mark.parametrize(("name", "extra"), [("gpt2", ("--new-tokens", "3")), ("marian", ("--target", "The cat sat."))])
def test_steps_follows_a_checkpoint_as_it_does_the_translator(checkpoint_of, capsys, name, extra):
    folder = checkpoint_of(name)
    assert main(["steps", "A cat sat", "--model", str(folder), *extra]) == 0
    names, *rows = (line.split("\t") for line in capsys.readouterr().out.splitlines() if not line.startswith("#"))
    asked = {"new_tokens": 3} if name == "gpt2" else {"tgt_text": "The cat sat."}
    expected = list(attnviz.load(folder, device="cpu").stepwise("A cat sat", **asked))
    assert [row[names.index("comes out")] for row in rows] == [display_token(step.token) for step in expected]
    assert all(bool(row[names.index("looks at")]) == (name == "marian") for row in rows)


def test_steps_of_a_checkpoint_end_with_the_verdict(checkpoint_of, capsys):
    asked = ["--new-tokens", "2", "--recompute", "--sample"]
    assert main(["steps", "A cat sat", "--model", str(checkpoint_of("gpt2")), *asked]) == 0
    assert "# equal to one pass: |Δ|" in capsys.readouterr().out


def test_translate_writes_what_a_checkpoint_writes(checkpoint_of, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("A cat sat.\n\n"))
    folder = checkpoint_of("marian")
    assert main(["translate", "--model", str(folder)]) == 0
    said = capsys.readouterr()
    assert said.out == attnviz.load(folder, device="cpu").trace("A cat sat.").tgt_text + "\n\n"
    assert said.err.endswith("attnviz: line 1: the target was cut without reaching <eos>.\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("translate",), "gpt2 cannot translate"),
        (("translate", "--to", "fr"), "gpt2 does not accept --to"),
        (("steps", "dog", "--to", "fr"), "gpt2 does not accept --to"),
        (("steps", "dog", "--beam", "2"), "gpt2 does not accept --beam"),
        (("steps", "dog", "--target", "chien"), "gpt2 does not accept a target"),
    ],
)
def test_what_a_checkpoint_does_not_take_is_said(checkpoint_of, capsys, monkeypatch, arguments, says):
    monkeypatch.setattr("sys.stdin", io.StringIO("dog\n"))
    assert main([*arguments, "--model", str(checkpoint_of("gpt2"))]) == 2
    assert f"attnviz: {says}" in capsys.readouterr().err


def test_a_checkpoint_of_several_languages_is_told_one(tmp_path, capsys, monkeypatch):
    folder = FAMILIES["M2M100"](tmp_path / "m2m100")
    model = attnviz.load(folder, device="cpu")
    german = model.trace("A cat sat.", to="de")
    assert german.sentences[0].tgt[1].text == "__de__"
    monkeypatch.setattr("sys.stdin", io.StringIO("A cat sat.\n"))
    assert main(["translate", "--to", "de", "--model", str(folder)]) == 0
    assert capsys.readouterr().out == german.tgt_text.replace("\n", " ") + "\n"
    assert main(["steps", "A cat sat.", "--to", "de", "--model", str(folder)]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]
    written = [display_token(token) for token in german.sentences[0].tgt[2:]]  # the language is fed, whatever comes out
    assert [row[rows[0].index("comes out")] for row in rows[2:]] == written
    assert main(["trace", "A cat sat.", "--to", "de", "--out", str(tmp_path / "t.npz"), "--model", str(folder)]) == 0
    assert attnviz.load_trace(tmp_path / "t.npz").to == "de"
    assert main(["steps", "A cat sat.", "--to", "tlh", "--model", str(folder)]) == 2
    assert "The model does not know the language “tlh”" in capsys.readouterr().err
