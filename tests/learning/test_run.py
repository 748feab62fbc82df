"""Runs that are trained here and now: what a mask does to learning, and that a run is the same wherever it is made."""

import hashlib
import json
import subprocess
import sys
from random import Random

import numpy as np
import pytest
import torch

import attnviz
from attnviz.__main__ import main
from attnviz.toys import shipped
from attnviz.toys.batches import training_batches
from attnviz.toys.experiment import Experiment
from attnviz.toys.recording import record_run
from attnviz.toys.run import MOMENTS, TrainingRun, evaluation, moments, one_thread
from attnviz.toys.tasks.catalogue import Reverse
from attnviz.toys.tasks.task import distinct
from attnviz.toys.words import ToyWords
from tests.each_case import each_case

STEPS = 450  # of French, which is learned by then; the task's own are three times as many
SHORT = {"task": "reverse", "steps": 4, "seed": 3}


@pytest.fixture
def run_command(capsys):
    """Provide the scores that the command prints for a run."""

    def run(*arguments: str) -> dict[str, float]:
        assert main(["learn", "french", f"--steps={STEPS}", "--json", *arguments]) == 0
        return json.loads(capsys.readouterr().out.splitlines()[-1])

    return run


def test_with_its_mask_a_toy_learns_french_and_both_scores_are_one_at_every_moment(run_command, tmp_path):
    scores = run_command(f"--out={tmp_path / 'run.npz'}")
    assert scores["loss"] < 0.05
    assert scores["teacher_prefix"] == scores["own_prefix"] >= 0.95
    recording = attnviz.load_recording(tmp_path / "run.npz")
    assert np.array_equal(recording.teacher_prefix, recording.own_prefix)
    assert recording.scores == scores


def test_without_its_mask_it_is_perfect_in_training_and_writes_nothing_right(run_command, tmp_path):
    scores = run_command("--without", "causal-mask", f"--out={tmp_path / 'run.npz'}")
    assert scores["loss"] < 0.01
    assert scores["teacher_prefix"] >= 0.99
    assert scores["own_prefix"] <= 0.02
    recording = attnviz.load_recording(tmp_path / "run.npz")
    assert recording.heads["superdiagonal"][-1].max() >= 0.6
    assert recording.heads["superdiagonal"][0].max() < 0.3


@torch.inference_mode()
def test_line_by_line_a_causal_toy_does_the_same_on_either_prefix():
    """Weights are shaken, so that some lines are right and others are not: for every one, both matches agree."""
    experiment, generator, shares = Experiment("reverse"), torch.Generator().manual_seed(4), []
    run, trained = TrainingRun(experiment), attnviz.load_recording(shipped.path(experiment)).weights
    for noise in (0.02, 0.05, 0.1):
        weights = torch.from_numpy(trained.astype(np.float32))
        shaken = weights + noise * torch.randn(weights.shape, generator=generator)
        torch.nn.utils.vector_to_parameters(shaken, run.network.parameters())
        found = evaluation(run.network, run.held_out, run.words.rules)
        assert found.teacher == found.own
        shares.append(sum(found.own) / len(found.own))
    assert any(0.1 < share < 0.9 for share in shares), shares


def test_a_run_has_the_same_bits_in_another_process_whatever_threads_there_are():
    code = (
        "import attnviz, torch, hashlib; torch.set_num_threads(2)\n"
        f"run = attnviz.learn(**{SHORT!r})\n"
        "print(hashlib.sha256(run.weights.tobytes() + run.losses.tobytes()).hexdigest())"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    here = attnviz.learn(**SHORT)
    assert hashlib.sha256(here.weights.tobytes() + here.losses.tobytes()).hexdigest() == there.stdout.strip()


def test_training_leaves_threads_and_random_numbers_as_they_were():
    torch.set_num_threads(2)
    try:
        before = torch.random.get_rng_state()
        run = iter(TrainingRun(Experiment(**SHORT)))
        next(run)
        assert torch.get_num_threads() == 2
        next(run)
        assert torch.get_num_threads() == 2
        with pytest.raises(KeyError), one_thread():
            raise KeyError
        assert torch.get_num_threads() == 2
        assert torch.equal(torch.random.get_rng_state(), before)
    finally:
        torch.set_num_threads(1)


def test_no_switch_changes_which_lines_are_drawn():
    def first(**choices):
        experiment = Experiment("french", seed=7, **choices)
        return next(training_batches(experiment, ToyWords(experiment.toy_task))).examples

    drawn = first()
    for choices in ({"without": "causal-mask"}, {"leak": "one-head"}, {"without": "positions"}, {"heads": 1}):
        assert first(**choices) == drawn
    words = ToyWords(Experiment("french").toy_task)
    assert next(training_batches(Experiment("french", seed=8), words)).examples != drawn


def test_few_pairs_are_few():
    experiment = Experiment("french", pairs=30)
    batches = training_batches(experiment, ToyWords(experiment.toy_task))
    seen = {example for _ in range(40) for example in next(batches).examples}
    assert len(seen) == 30
    assert not any(experiment.toy_task.is_held_out(example.src) for example in seen)


class Coin(Reverse):
    name, words = "coin", ("h", "t")

    def draw(self, random):
        return (random.choice(self.words),)


def test_more_pairs_than_there_are_is_said():
    with pytest.raises(ValueError, match=r"^coin has fewer than 3 different lines to learn from. Use fewer pairs\.$"):
        distinct(Coin(), Random(1), 3, held_out=False)


def test_labels_that_are_not_shifted_are_what_went_in():
    experiment = Experiment("reverse", without="shifted-labels", steps=2)
    batch = TrainingRun(experiment).held_out
    assert torch.equal(batch.labels[:, 1:], batch.tgt_in[:, 1:])
    assert not batch.labels[:, 0].any()  # `<bos>` is never said


@each_case("steps", [1, 5, 60, 1_500, 20_000])
def test_a_run_is_looked_at_from_its_beginning_to_its_end(steps):
    found = moments(steps)
    assert found[0] == 0
    assert found[-1] == steps
    assert list(found) == sorted(set(found))
    assert len(found) == min(MOMENTS, len(found))


def test_whoever_watches_sees_each_moment_as_it_is_kept():
    seen = []
    recording = record_run(TrainingRun(Experiment(**SHORT)), seen.append)
    assert tuple(moment.step for moment in seen) == recording.steps
    assert sum(len(moment.losses) for moment in seen) == len(recording.losses) == 4
    for at, moment in enumerate(seen):
        assert np.array_equal(recording.maps["cross"][at], moment.maps["cross"])
        assert recording.own_prefix[at] == moment.own_prefix
