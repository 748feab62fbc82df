"""`python -m attnviz learn`: what it prints, and what it says of what cannot be trained. Its runs: tests/learning."""

import json

import pytest

import attnviz
from attnviz.__main__ import main

QUICK = ("learn", "reverse", "--steps=1")


def test_the_scores_stand_on_the_last_line_and_the_recording_in_the_file(capsys, tmp_path):
    assert main([*QUICK, "--without", "causal-mask", "--seed=4", f"--out={tmp_path / 'run.npz'}"]) == 0
    said = capsys.readouterr().out.splitlines()[-1]
    recording = attnviz.load_recording(tmp_path / "run.npz")
    assert (recording.experiment.without, recording.experiment.seed) == (("causal-mask",), 4)
    assert said.startswith(f"loss {recording.scores['loss']:.4f}, teacher_prefix 0.0000, own_prefix 0.0000")


def test_as_json_it_is_one_object(capsys):
    assert main([*QUICK, "--json", "--leak=one-token", "--layers=2", "--learning-rate=0.01"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert {"loss", "teacher_prefix", "own_prefix", "held_out_loss"} <= scores.keys()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("learn", "german"), "attnviz: There is no task 'german'. The tasks are french, reverse, sort, twice, add, "
         "digits."),
        ((*QUICK, "--without=mask"), "attnviz: There is no 'mask' to leave out: there are causal-mask, shifted-labels, "
         "positions, padding-mask, cross-attention, scale."),
        ((*QUICK, "--without=causal-mask", "--leak=one-head"), "attnviz: Without a causal mask everything is visible "
            "already, so nothing can leak."),
        ((*QUICK, "--out=nowhere/run.npz"), "attnviz: The folder 'nowhere', into which run.npz should be "
            "written, does not exist."),
        (("learn", "french", "--steps=20000"), "attnviz: This run would take about 63 seconds of CPU "
            "time, but only 15 are allowed. Please "
            "use fewer steps or a smaller model, or raise ATTNVIZ_LEARN_SECONDS."),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_sentence_and_exit_status_2(arguments, said, capsys):
    assert main(list(arguments)) == 2
    assert capsys.readouterr().err.strip() == said


def test_the_shipped_ones_are_named_where_another_is_asked_for(capsys):
    from attnviz.toys.__main__ import main as record

    assert record(["german"]) == 2
    assert "there is no recording 'german'; there are french, " in capsys.readouterr().err
