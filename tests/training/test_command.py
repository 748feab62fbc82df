"""`python -m attnviz.training`: a corpus goes in, a checkpoint, scores and a card come out."""

import gzip
import json
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from attnviz.models.translator.reading_notes import ReadableInputs
from attnviz.models.translator.translator import Translator
from attnviz.training.__main__ import main
from attnviz.training.corpus import read_pairs
from attnviz.transformer.checkpoint import save, weights_id


@pytest.fixture(scope="module")
def options(data, recipe, tmp_path_factory):
    state = tmp_path_factory.mktemp("run") / "state"
    changes = json.dumps(asdict(recipe) | {"steps": 4})
    return ["--data", str(data), "--state", str(state), "--device", "cpu", "--threads", "1", "--every", "2"], changes


@pytest.fixture(scope="module")
def state(options):
    """Provide the folder of a run of four steps."""
    arguments, changes = options
    assert main([*arguments, "--recipe", changes]) == 0
    return Path(arguments[3])


def test_a_run_leaves_a_checkpoint_that_translates(state):
    translator = Translator.load(state / "checkpoint", device=torch.device("cpu"), dtype=torch.float32)
    assert translator.languages == ("fr", "zh")
    assert isinstance(translator.translate("The red dog.", to="zh"), str)


def test_a_run_logs_scores_as_it_goes(state):
    lines = [json.loads(line) for line in (state / "scores.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines[:2]] == [2, 4]
    for line in lines:
        assert set(line) == {"step", "tokens", "fr", "zh"}
        assert line["fr"]["sentences"] == 5
        assert 0 <= line["zh"]["bleu"] <= 100


def test_the_same_command_goes_on(options, state, recipe, capsys):
    arguments, _ = options
    assert main([*arguments, "--recipe", json.dumps(asdict(recipe) | {"steps": 6})]) == 0
    assert json.loads((state / "scores.jsonl").read_text().splitlines()[-1])["step"] == 6
    assert "tokens/s" in capsys.readouterr().err


def test_the_card_of_a_run(options, state, tmp_path):
    arguments, _ = options
    (tmp_path / "demo.txt").write_text("The red dog.\nThe big cat.\n")
    (tmp_path / "marks.json").write_text('{"fr": {"The big cat.": "no cat in it"}, "zh": {}}')
    files = ["--card", "card.md", "--demo", "demo.txt", "--marks", "marks.json"]
    files = [str(tmp_path / name) if "." in name else name for name in files]
    assert main([*arguments, *files, "--name", "tiny"]) == 0
    text = (tmp_path / "card.md").read_text(encoding="utf-8")
    for expected in (
        "# tiny\n",
        "www.manythings.org/anki and tatoeba.org",
        "CC BY 2.0 FR",
        "Changes made",
        "| `d_model` | 24 |",
        "French: 16 pairs, 1x an epoch, Chinese: 11 pairs, 3x an epoch",
        "French: 1 of 2 right; Chinese: 2 of 2 right.",
        "✗ no cat in it",
        "## Limits",
    ):
        assert expected in text


def test_held_out_sentences_have_a_section_of_their_own_and_are_refused_where_they_were_learned(
    options, state, data, tmp_path, capsys
):
    arguments, card, held_out = options[0], tmp_path / "card.md", tmp_path / "held-out.txt"
    held_out.write_text("A sentence of no pair.\n")
    (tmp_path / "demo.txt").write_text("The red dog.\n")
    (tmp_path / "marks.json").write_text('{"fr": {"A sentence of no pair.": "wrong"}}')
    sets = ["--demo", str(tmp_path / "demo.txt"), "--held-out", str(held_out), "--marks", str(tmp_path / "marks.json")]
    assert main([*arguments, "--card", str(card), *sets]) == 0
    demo, kept_apart = card.read_text(encoding="utf-8").split("## Sentences: held out\n\n")
    assert "French: 1 of 1 right" in demo
    assert "French: 0 of 1 right" in kept_apart
    learned = read_pairs(data / "en-zh.train.tsv.gz")[-1][0]
    held_out.write_text(f"A sentence of no pair.\n{learned}\n")
    assert main([*arguments, "--card", str(card), "--held-out", str(held_out)]) == 2
    assert f"held-out.txt holds {learned!r}, which is among" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--data", "nowhere"], "nowhere"),
        (["--data", "nowhere", "--recipe", "{"], "--recipe must be a JSON object"),
        (["--data", "nowhere", "--recipe", '{"colour": 1}'], "--recipe must be a JSON object"),
        (["--data", "nowhere", "--recipe", "[1]"], "--recipe must be a JSON object"),
        (
            ["--data", "nowhere", "--state", "nowhere", "--card", "card.md"],
            "no state.pt in 'nowhere'. Please train first",
        ),
    ],
)
def test_mistakes_are_one_sentence(arguments, reason, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([*arguments, "--threads", "1"]) == 2
    error = capsys.readouterr().err
    assert reason in error
    assert len(error.splitlines()) == 1


def test_further_pairs_are_learned_and_told_in_the_card(options, recipe, tables, tmp_path):
    arguments = [*options[0], "--state", str(tmp_path / "state"), "--more", str(tables)]
    changes = json.dumps(asdict(recipe) | {"steps": 2, "more": {"thing": 7}})
    assert main([*arguments, "--recipe", changes]) == 0
    assert main([*arguments, "--card", str(tmp_path / "card.md")]) == 0
    text = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert "Chinese: 11 pairs, 3x an epoch; pairs of the table `thing`, 7x an epoch (Chinese: 1)." in text


def test_a_further_table_is_found_in_the_first_folder_that_has_it(options, recipe, tables, tmp_path, capsys):
    (tmp_path / "none").mkdir()
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "thing.tsv").write_text("en\tzh\nA wrong one.\t错。\nAnother.\t错。\n", encoding="utf-8")
    changes = json.dumps(asdict(recipe) | {"steps": 2, "more": {"thing": 7}})
    arguments = [*options[0], "--state", str(tmp_path / "state"), "--card", str(tmp_path / "card.md"), "--more"]
    folders = [str(tmp_path / "none"), str(tables), str(tmp_path / "own")]
    assert main([*arguments[:-3], "--recipe", changes, "--more", *folders]) == 0
    for found, count in ((folders, 1), (folders[::-1], 2)):
        assert main([*arguments, *found]) == 0
        assert f"7x an epoch (Chinese: {count})" in (tmp_path / "card.md").read_text(encoding="utf-8")
    assert main([*arguments, str(tmp_path / "none"), str(tmp_path / "state")]) == 2
    assert "thing.tsv" in capsys.readouterr().err


def test_the_card_is_of_the_weights_that_are_shipped(options, state, tmp_path):
    """An average of what was trained and of something else is shipped with the scores and sentences of the average."""
    shutil.copytree(state / "checkpoint", tmp_path / "other")
    translator = Translator.load(tmp_path / "other", device=torch.device("cpu"), dtype=torch.float32)
    translator.model.initialise(71)
    save(translator.model, tmp_path / "other")
    (tmp_path / "demo.txt").write_text("The red dog.\n")
    shipped = ["--ship", str(tmp_path / "shipped"), "--demo", str(tmp_path / "demo.txt")]
    assert main([*options[0], *shipped, "--weights", str(tmp_path / "other")]) == 0
    again, trained = (
        Translator.load(folder, device=torch.device("cpu"), dtype=torch.float32)
        for folder in (tmp_path / "shipped", state / "checkpoint")
    )
    written = again.translate("The red dog.", to="fr")
    assert written != trained.translate("The red dog.", to="fr")
    assert f"| 1 | The red dog. | {written} |" in (tmp_path / "shipped" / "README.md").read_text(encoding="utf-8")


def test_two_workers_leave_what_one_leaves(options, recipe, tmp_path):
    """That they go on to bitwise the same model, one after the other says: `test_trainer`."""
    changes = json.dumps(asdict(recipe) | {"steps": 3, "workers": 2, "batch_tokens": 60})
    assert main([*options[0], "--state", str(tmp_path), "--recipe", changes]) == 0
    lines = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [2, 3]
    translator = Translator.load(tmp_path / "checkpoint", device=torch.device("cpu"), dtype=torch.float32)
    assert isinstance(translator.translate("The red dog.", to="fr"), str)


def test_a_worker_s_complaint_is_one_sentence(options, recipe, capsys, tmp_path):
    changes = json.dumps(asdict(recipe) | {"workers": 2, "batch_tokens": 100_000})  # one batch an epoch
    assert main([*options[0], "--state", str(tmp_path), "--recipe", changes]) == 2
    error = capsys.readouterr().err
    assert "fewer batches than the 2 workers" in error
    assert "Traceback" not in error


def test_an_impossible_device_is_one_sentence(options, capsys, tmp_path):
    arguments, changes = options
    arguments = [*arguments[:2], "--state", str(tmp_path), "--threads", "1", "--device", "toaster"]
    assert main([*arguments, "--recipe", changes]) == 2
    assert "'toaster' is not a device" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--every", "--dev", "--threads"])
def test_a_number_of_none_is_refused(option, capsys):
    with pytest.raises(SystemExit):
        main(["--data", "nowhere", option, "0"])
    assert f"{option}: '0' is not a number of at least 1" in capsys.readouterr().err


def test_a_language_without_dev_pairs_is_said_before_the_first_step(data, recipe, capsys, tmp_path):
    for path in data.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with gzip.open(tmp_path / "en-zh.dev.tsv.gz", "wt"):
        pass
    arguments = ["--data", str(tmp_path), "--state", str(tmp_path / "state"), "--threads", "1", "--device", "cpu"]
    assert main([*arguments, "--recipe", json.dumps(asdict(recipe))]) == 2
    assert "en-zh.dev.tsv.gz holds no pairs" in capsys.readouterr().err


def test_a_cut_file_is_one_sentence(data, capsys, tmp_path):
    for path in data.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes()[:40])
    assert main(["--data", str(tmp_path), "--state", str(tmp_path / "state"), "--threads", "1"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_run_is_shipped_as_a_model_of_the_catalogue(options, state, tmp_path):
    arguments, _ = options
    shipped = tmp_path / "translator"
    assert (
        main([*arguments, "--ship", str(shipped), "--title", "tiny", "--start", "cross.1.2", "--note", "Twice."]) == 0
    )
    assert "repeats it. Twice." in (shipped / "README.md").read_text(encoding="utf-8")
    about = json.loads((shipped / "config.json").read_text())["about"]
    assert about["languages"] == ["fr", "zh"]
    assert about["start"] == {"kind": "cross", "layer": 1, "head": 2}
    readable = ReadableInputs.from_config(about["reads"])
    assert readable is not None
    assert readable.weights == weights_id(shipped)
    assert all(readable.least[to] <= readable.usual[to] < 0 for to in ("fr", "zh"))
    assert 1 < readable.tokens[0] <= readable.tokens[1]
    loaded = Translator.load(shipped, device=torch.device("cpu"), dtype=torch.float32)
    trained = Translator.load(state / "checkpoint", device=torch.device("cpu"), dtype=torch.float32)
    assert loaded.translate("The red dog.", to="fr") == trained.translate("The red dog.", to="fr")
    assert main([*arguments, "--ship", str(shipped), "--start", "the first"]) == 2
