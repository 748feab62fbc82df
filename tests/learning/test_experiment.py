"""The experiments that may be trained, and the refusals of others."""

import re

import pytest

import attnviz
from attnviz.toys import shipped
from attnviz.toys.experiment import WITHOUT, Experiment
from attnviz.toys.learn import VARIABLE, estimate, require_affordable
from tests.each_case import each_case

ALL = (*shipped.WITH_WEIGHTS, *shipped.WITHOUT_WEIGHTS)


def test_an_experiment_is_read_back_as_it_was_written():
    for experiment in ALL:
        assert Experiment.from_dict(experiment.to_dict()) == experiment


def test_equal_runs_have_one_key_however_they_were_asked_for():
    asked = Experiment("reverse", without=["scale", "causal-mask", "scale"], layers=1)
    assert asked.key == Experiment("reverse", without=("causal-mask", "scale"), steps=1_500).key
    assert Experiment("reverse", without="causal-mask").without == ("causal-mask",)


def test_no_two_shipped_runs_share_a_name():
    assert len({one.name for one in ALL}) == len({one.key for one in ALL}) == len(ALL)


@each_case(
    ("choices", "said"),
    [
        ({"without": "causal-mask", "leak": "one-head"}, "Without a causal mask everything is visible already, so "
            "nothing can leak."),
        ({"heads": 1, "leak": "one-head"}, "In a model with a single head, a leak in one head is the same as no "
            "causal mask. Please leave out causal-mask instead of using a leak."),
        ({"task": "twice", "without": ("cross-attention",)}, "The task twice is learned by a decoder-only "
         "model, which has no cross-attention."),
        ({"task": "twice", "without": ("padding-mask",)}, "The task twice is learned by a decoder-only model, "
            "which has no padding: all its lines have "
            "the same length."),
        ({"without": ("mask",)}, "There is no 'mask' to leave out: there are " + ", ".join(WITHOUT) + "."),
        ({"without": 5}, "without is a list of names, such as 'causal-mask', not 5."),
        ({"leak": "two"}, "leak is one of one-head, one-token, not 'two'."),
        ({"heads": 3}, "d_model must be a multiple of the number of heads, but 32 is not a multiple of 3."),
        ({"d_model": 33, "heads": 1}, "Sinusoidal positions need an even d_model, not 33."),
        ({"layers": 7}, "layers is a whole number from 1 to 6, not 7."),
        ({"layers": True}, "layers is a whole number from 1 to 6, not True."),
        ({"pairs": 0}, "pairs is a whole number from 1 to 5,000, not 0."),
        ({"seed": -1}, "seed is a whole number from 0 to 2,147,483,647, not -1."),
        ({"seed": 10**5000}, "seed is a whole number from 0 to 2,147,483,647, not a number of many digits."),
        ({"steps": 1.5}, "steps is a whole number from 1 to 20,000, not 1.5."),
        ({"learning_rate": float("nan")}, "learning_rate is a number from 0.000001 to 0.3, not nan."),
        ({"learning_rate": "fast"}, "learning_rate is a number from 0.000001 to 0.3, not fast."),
        ({"task": "german"}, "There is no task 'german'. The tasks are french, reverse, sort, twice, add, digits."),
        ({"task": None}, "There is no task 'None'. The tasks are french, reverse, sort, twice, add, digits."),
    ],
)  # fmt: skip
def test_what_cannot_be_trained_is_said_in_one_sentence(choices, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        Experiment(**{"task": "french"} | choices)


def test_a_choice_that_there_is_not_is_named():
    with pytest.raises(ValueError, match=r"^learn\(\) takes task, seed, .*; it does not take depth\.$"):
        attnviz.learn("french", depth=3, seed=2)


def test_every_shipped_run_may_be_trained_by_everybody():
    for experiment in ALL:
        require_affordable(experiment, 15)


def test_a_run_beyond_the_limit_is_refused_before_it_begins(monkeypatch):
    large = {"task": "french", "layers": 6, "d_model": 256, "d_ff": 1024, "steps": 20_000}
    monkeypatch.delenv(VARIABLE, raising=False)
    said = r"^This run would take about \d+ seconds of CPU time, but only 15 are allowed\. "
    said += "Please use fewer steps or a smaller model, or "
    with pytest.raises(ValueError, match=rf"{said}raise {VARIABLE}\.$"):
        attnviz.learn(**large)
    monkeypatch.setenv(VARIABLE, "3600")
    require_affordable(Experiment(**large))


@pytest.mark.parametrize("said", ["much", "-1", "nan", "1e9"])
def test_a_limit_that_is_no_number_of_seconds_is_named(said, monkeypatch):
    monkeypatch.setenv(VARIABLE, said)
    with pytest.raises(
        ValueError, match=rf"^{VARIABLE}='{said}' is not a number of seconds. Please set it to a number up to 3600\.$"
    ):
        require_affordable(Experiment("french"))


def test_more_of_anything_costs_more():
    base = Experiment("french")
    for more in ({"layers": 2}, {"heads": 4}, {"d_model": 64}, {"d_ff": 128}, {"steps": 3_000}):
        assert estimate(Experiment("french", **more)) > estimate(base)
