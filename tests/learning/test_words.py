"""Switches, questions and outcomes in words, and curves as a table."""

import numpy as np
import pytest

from attnviz.learning import outcomes
from attnviz.learning.curve_table import curve_table
from attnviz.toys import shipped, switches
from attnviz.toys.experiment import Experiment, experiment_named, experiment_of
from attnviz.toys.storage import toy_recording
from attnviz.toys.tasks.catalogue import TASKS
from tests.each_case import each_case


@each_case("task", TASKS)
def test_every_switch_that_is_offered_changes_the_run_and_says_how(task: str) -> None:
    offered = switches.switches_for(task)
    assert ("without-positions" if TASKS[task].is_image else "without-causal-mask") in offered
    for part in offered:
        assert switches.switch(part).sentence[0].isupper()
        if (task, part) != ("add", "leak-one-head"):
            assert experiment_of(task, [part]) != Experiment(task)


def test_what_a_decoder_alone_has_not_is_not_offered() -> None:
    assert not {"without-cross-attention", "without-padding-mask"} & set(switches.switches_for("twice"))
    left = {"without-positions", "without-scale"}
    assert {part for part in switches.switches_for("digits") if part.startswith(("without", "leak"))} == left


def test_a_run_is_titled_by_its_switches_and_an_unlisted_one_says_itself() -> None:
    assert switches.title_of(Experiment("french")) == "Nothing left out"
    blind = Experiment("french", without=("causal-mask", "positions"), seed=3)
    assert switches.title_of(blind) == "No causal mask, no positions, seed 3"
    assert switches.title_of(Experiment("french", steps=2_400)) == "Steps 2,400"


def test_a_name_is_read_back_as_the_experiment_that_has_it() -> None:
    for made in (
        Experiment("add", seed=7, steps=20, learning_rate=3e-5),
        Experiment("reverse", without=("scale", "positions"), heads=1, d_model=64),
        Experiment("sort", leak="one-token", pairs=300),
    ):
        assert experiment_named(made.name) == made
        assert experiment_of(made.task, made.parts) == made


@each_case("name", ["", "french-", "french-seed-2-", "french-pairs-30-x", "French", "x" * 400, "add-steps-²"])
def test_any_other_text_is_no_name(name: str) -> None:
    with pytest.raises(ValueError, match=r"^.{1,200}\.$"):
        experiment_named(name)


@each_case(("own", "came"), [(1.0, "yes"), (0.9, "yes"), (0.89, "some"), (0.11, "some"), (0.1, "no"), (0, "no")])
def test_an_outcome_is_one_of_the_guesses(own: float, came: str) -> None:
    assert outcomes.came_of_it(own) == came
    said = {guess: outcomes.verdict(guess, {"own_prefix": own}) for guess in outcomes.GUESSES}
    assert [guess for guess, text in said.items() if text.endswith("Right.")] == [came]


def test_unmeasured_scores_are_left_out() -> None:
    assert "loss" not in outcomes.question(Experiment("sort"), None)
    assert outcomes.outcome({}, 128) == outcomes.verdict("yes", {}) == ""
    assert outcomes.more_measures({"own_prefix": 1.0, "own_prefix_seen": 1.0}) == []


def test_the_table_has_the_recordings_own_numbers() -> None:
    made = toy_recording(shipped.path(Experiment("add")))
    table = curve_table({"one": made, "other": made})
    assert list(table["run"]) == ["one"] * 60 + ["other"] * 60
    half = table[table["run"] == "other"]
    assert tuple(half["updates"]) == made.steps
    np.testing.assert_array_equal(half["own_prefix"].to_numpy(np.float32), made.own_prefix)
    assert np.isnan(half["loss_since_last"].iloc[0])
    last = made.losses[made.steps[-2] :].astype(float).mean()
    assert half["loss_since_last"].iloc[-1] == pytest.approx(last)
