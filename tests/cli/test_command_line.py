"""The commands on a small model: some in a process of their own, as a shell runs them, the others in this one."""

import io
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import Mock, patch

import numpy as np
import pytest
import torch

import attnviz
from attnviz.__main__ import main
from attnviz.cli import steps_command, translate_command
from attnviz.hosts.registry import PICTURES
from attnviz.models.translator.tiny import tiny_translator
from attnviz.transformer import checkpoint, device
from tests.each_case import each_case


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, model = tmp_path_factory.mktemp("model"), tiny_translator(seed=1)
    checkpoint.save(model.model, folder, dtype=torch.float32)
    model.codec.save(folder / "tokenizer.json")
    return folder


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command in this process, and return what a shell would see."""
    out, error = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(error), patch("sys.stdin", io.StringIO(stdin)):
        status = main(list(arguments))
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), error.getvalue())


def test_translate_writes_a_line_for_a_line(folder):
    result = run("translate", "--to", "zh", "--model", str(folder), stdin="I love you\n\nA big red dog\n")
    model = tiny_translator(seed=1)
    expected = [model.translate(text, to="zh") for text in ("I love you", "A big red dog")]
    assert result.stdout.split("\n") == [expected[0], "", expected[1], ""]
    assert result.returncode == 0, result.stderr


def test_trace_writes_a_file_that_numpy_reads_alone(folder, tmp_path):
    out, page = tmp_path / "love.npz", tmp_path / "love.html"
    written = ("--out", str(out), "--html", str(page), "--picture", "links")
    result = run("trace", "I love you.", "--to", "fr", "--model", str(folder), *written)
    assert result.returncode == 0, result.stderr
    assert 'data-widget="links"' in page.read_text(encoding="utf-8")
    trace = attnviz.load_trace(out)
    with np.load(out, allow_pickle=False) as file:
        assert list(file["tokens.src"]) == [token.text for token in trace.tokens("src")]
        np.testing.assert_array_equal(file["attn.cross"][0], trace.attn("cross").numpy())
        np.testing.assert_array_equal(file["scores.cross"][0], trace.scores("cross").numpy())


STEPS = ("steps", "I love you.", "--to", "fr")


def columns(result: subprocess.CompletedProcess[str]) -> dict[str, list[str]]:
    """Return the table that `steps` printed, by column."""
    names, *rows = [line.split("\t") for line in result.stdout.splitlines() if not line.startswith("#")]
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize("way", [(), ("--recompute",)])
def test_steps_prints_the_steps_of_the_model_and_finds_them_equal_to_one_pass(folder, way):
    result = run(*STEPS, "--model", str(folder), *way)
    assert result.returncode == 0, result.stderr
    expected = list(tiny_translator(seed=1).stepwise("I love you.", to="fr"))
    printed = columns(result)
    assert printed["step"] == [str(step.index) for step in expected]
    assert printed["comes out"] == [step.token.text for step in expected]
    row = expected[2].attn("cross")[..., -1, :].mean(dim=(0, 1))
    assert printed["looks at"][2].endswith(f" {float(row.max()):.2f}")
    assert "# equal to one pass: |Δ|" in result.stdout


def test_steps_follows_a_teacher(folder):
    result = run(*STEPS, "--model", str(folder), "--target", "un chien")
    given = tiny_translator(seed=1).codec.encode_target("un chien", "fr")
    assert columns(result)["goes in"] == [token.text for token in given.tokens[:-1]]


def test_steps_takes_a_blank_target_for_none_as_trace_does(folder):
    plain, blank = (run(*STEPS, "--model", str(folder), *extra).stdout for extra in ((), ("--target", "  ")))
    assert plain == blank


def test_a_line_that_is_read_in_part_is_said_with_its_number(folder):
    long = "a big red dog and " * 200
    result = run("translate", "--to", "zh", "--model", str(folder), stdin=f"I love you\n{long}\n")
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) == 2
    assert f"attnviz: line 2: only the first 2,000 of {len(long):,} characters were read.\n" in result.stderr


def test_steps_says_what_it_did_not_read(folder):
    result = run("steps", "a big red dog and " * 200, "--to", "fr", "--target", "un chien", "--model", str(folder))
    assert "\n# Source: only the first 2,000 of" in result.stdout


def test_a_shell_of_another_encoding_gets_utf_8(folder):
    """A process of its own, as a shell runs it."""
    command = [sys.executable, "-m", "attnviz", *STEPS, "--to", "zh", "--model", str(folder)]
    done = subprocess.run(command, capture_output=True, timeout=120, env=os.environ | {"PYTHONIOENCODING": "cp1252"})
    assert done.returncode == 0, done.stderr
    assert "goes in" in done.stdout.decode("utf-8")


def test_steps_draws_the_same_for_the_same_seed(folder):
    drawn = [
        run(*STEPS, "--model", str(folder), "--sample", "--top-k", "40", "--seed", seed).stdout
        for seed in ("3", "3", "4")
    ]
    assert drawn[0] == drawn[1] != drawn[2]


@each_case(
    ("arguments", "says"),
    [
        (("translate", "--to", "xx"), "does not write 'xx'"),
        (("trace", "  ", "--to", "fr", "--out", "x.npz"), "The sentence is empty"),
        (("steps", "  ", "--to", "fr"), "The sentence is empty"),
        (("steps", "dog", "--to", "fr", "--target", "chien", "--beam", "2"), "cannot use a teacher's prefix"),
        (("steps", "dog", "--to", "fr", "--sample", "--temperature", "inf"), "at least 0.001, not inf"),
        (("trace", "dog", "--to", "fr", "--out", "missing/x.npz"), "missing"),
        (("trace", "dog", "--to", "fr"), "say which file to write"),
        (("trace", "dog", "--to", "fr", "--html", "missing/x.html"), "The folder 'missing'"),
        (("trace", "dog", "--to", "fr", "--html", "x.html", "--picture", "head"), "There is no picture 'head'"),
    ],
)
def test_input_that_cannot_be_used_gets_one_sentence(folder, arguments, says, tmp_path):
    result = run(*arguments, "--model", str(folder), stdin="dog\n")
    assert result.returncode == 2
    assert says in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", [("translate",), ("steps", "dog")])
def test_a_translator_must_be_told_its_language(folder, capsys, monkeypatch, command):
    monkeypatch.setattr("sys.stdin", io.StringIO("dog\n"))
    assert main([*command, "--model", str(folder)]) == 2
    assert "Choose the language to write with --to: " in capsys.readouterr().err


def test_a_line_is_translated_as_soon_as_it_is_there_and_ctrl_c_is_no_traceback(folder):
    """A line is answered while the pipe stays open, and the next one after that. What runs in the background of a shell
    ignores Ctrl-C: this does not.
    """
    command = [sys.executable, "-m", "attnviz", "translate", "--to", "zh", "--model", str(folder)]
    pipe = subprocess.PIPE
    hear = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, preexec_fn=hear) as running:
        assert None not in (running.stdin, running.stdout, running.stderr)
        for text in ("I love you", "A big red dog"):
            running.stdin.write(f"{text}\n".encode())
            running.stdin.flush()
            assert running.stdout.readline().decode().strip() == tiny_translator(seed=1).translate(text, to="zh")
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
        assert running.stderr.read().decode().splitlines()[-1] == "attnviz: stopped"


def test_lines_that_come_together_are_translated_together():
    text = "".join(f"{number}\n" for number in range(70))
    read, write = os.pipe()
    with os.fdopen(write, "w") as into:
        into.write(text + "last")
    with os.fdopen(read) as stream:
        chunks = list(translate_command.chunks_of(stream, most=32))
    assert [len(chunk) for chunk in chunks] == [32, 32, 7]
    assert [line for chunk in chunks for line in chunk] == [*map(str, range(70)), "last"]


@pytest.mark.parametrize(
    ("given", "lines"),
    [("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\r\n\r\nb", ["a", "", "b"]), ("\ufeffa\n\n", ["a", ""])],
)
def test_lines_are_read_whatever_they_end_with(given, lines, tmp_path):
    (tmp_path / "x").write_bytes(given.encode())
    with (tmp_path / "x").open(encoding="utf-8") as file:
        for stream in (file, io.StringIO(given)):
            found = [line for chunk in translate_command.chunks_of(stream, most=2) for line in chunk]
            assert found == lines


def test_bytes_that_are_no_utf_8_are_said_with_their_line_after_the_lines_before(folder, monkeypatch, capsys, tmp_path):
    (tmp_path / "sentences.txt").write_bytes("I love you\nUn café\n".encode("latin-1"))
    with (tmp_path / "sentences.txt").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert main(["translate", "--to", "zh", "--model", str(folder)]) == 2
    said = capsys.readouterr()
    assert said.out.strip() == tiny_translator(seed=1).translate("I love you", to="zh")
    assert said.err.splitlines()[-1].startswith("attnviz: line 2 is not UTF-8 (byte 0xE9): convert the text first")


@each_case("way", [("--temperature", "2"), ("--seed", "1"), ("--top-k", "3"), ("--top-p", "0.5")])
def test_how_to_draw_is_refused_where_nothing_is_drawn(folder, way):
    result = run(*STEPS, "--model", str(folder), *way)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"attnviz: {way[0]} says how to draw tokens. Please also pass --sample.\n"


def test_a_folder_that_is_not_there_is_said_before_the_run(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("attnviz.models.catalogue.load", lambda *_, **__: pytest.fail("the model ran"))
    result = run("trace", "dog", "--to", "fr", "--model", str(folder), "--out", str(tmp_path / "missing" / "x.npz"))
    assert result.stderr.startswith("attnviz: The folder ")


@pytest.mark.parametrize(
    "said", [torch.OutOfMemoryError("CUDA out of memory. Tried"), RuntimeError("MPS backend out of memory")]
)
def test_a_device_without_memory_is_said_in_one_sentence(folder, monkeypatch, said):
    monkeypatch.setattr(steps_command, "lines", Mock(side_effect=said))
    result = run("steps", "I love you.", "--to", "fr", "--model", str(folder))
    assert (result.returncode, result.stderr) == (2, f"attnviz: {device.FULL}\n")


@each_case("picture", [name for name, one in PICTURES.items() if name != "learning" and "text" in one.inputs])
def test_trace_draws_every_picture_that_it_offers(folder, picture: str, tmp_path, capsys) -> None:
    file, other = (
        tmp_path / f"{picture}.html",
        ["--other", "a big red cat"] if picture in ("patching", "compared") else [],
    )
    arguments = ["--model", str(folder), "--to", "fr", "--html", str(file), "--picture", picture, *other]
    assert main(["trace", "a big red dog", *arguments]) == 0, capsys.readouterr().err
    assert file.stat().st_size > 10_000
    if other:
        assert main(["trace", "a big red dog", *arguments[:-2]]) == 2
        assert "pass the second sentence with --other" in capsys.readouterr().err


def test_a_picture_begins_with_the_head_that_is_named_and_learning_is_of_a_recording(folder, tmp_path, capsys) -> None:
    file = tmp_path / "shown.html"
    arguments = ["trace", "a dog", "--model", str(folder), "--to", "fr", "--html", str(file)]
    assert main([*arguments, "--kind", "cross", "--layer", "1", "--head", "0"]) == 0
    assert main([*arguments, "--kind", "cross", "--layer", "99"]) == 2
    assert "99" in capsys.readouterr().err
    assert main([*arguments, "--picture", "learning"]) == 2
    assert "attnviz learn reverse --out run.npz" in capsys.readouterr().err


def test_the_bare_command_prints_its_help_and_version_its_version(capsys) -> None:
    assert main([]) == 0
    assert "open the dashboard on this machine" in capsys.readouterr().out
    with pytest.raises(SystemExit) as done:
        main(["--version"])
    assert done.value.code == 0
    assert capsys.readouterr().out == f"attnviz {attnviz.__version__}\n"


def test_run_opens_the_model_that_is_named(folder, monkeypatch, capsys) -> None:
    asked = []
    monkeypatch.setattr("attnviz.server.session.run", lambda port, **how: asked.append(how))
    monkeypatch.setattr("attnviz.server.checks.check_port", lambda *_: None)
    monkeypatch.chdir(folder.parent)
    for model in (folder.name, "gpt2"):
        assert main(["run", "--no-browser", "--model", model]) == 0
    assert asked == [{"browser": False, "model": name} for name in (str(folder.resolve()), "gpt2")]
