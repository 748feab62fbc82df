"""The shipped recordings show what lessons and pages claim about them."""

from dataclasses import replace

import numpy as np
import pytest

from attnviz.toys import shipped
from attnviz.toys.experiment import Experiment
from attnviz.toys.recording import Recording
from attnviz.toys.run import MOMENTS
from attnviz.toys.storage import toy_recording
from attnviz.toys.tasks.catalogue import TASKS
from tests.each_case import each_case

ALL = {one.name: one for one in (*shipped.WITH_WEIGHTS, *shipped.WITHOUT_WEIGHTS)}


@pytest.fixture(scope="module")
def recordings() -> dict[str, Recording]:
    return {name: toy_recording(shipped.path(one)) for name, one in ALL.items()}


def test_an_even_guess_is_among_all_ids_that_could_be_written(recordings):
    assert recordings["french"].guess == pytest.approx(np.log(83 + 3))
    assert recordings["french"].losses[0] > recordings["french"].guess > recordings["french"].losses[-1]


def test_tokens_stand_along_the_maps_that_are_kept(recordings):
    for recording in recordings.values():
        for kind, maps in recording.maps.items():
            shape = len(recording.sentence.queries(kind)), len(recording.sentence.keys(kind))
            assert maps.shape[3:] == shape


def test_the_moment_at_which_a_head_passes_a_level_is_the_first(recordings):
    recording = recordings["french-without-causal-mask"]
    scores = recording.heads["superdiagonal"][:, 0, :]
    head = int(scores[-1].argmax())
    step = recording.passes("superdiagonal", layer=0, head=head)
    at = recording.steps.index(step)
    assert scores[at, head] > 0.5
    assert (scores[:at, head] <= 0.5).all()
    assert recordings["french"].passes("superdiagonal", layer=0, head=0) is None


def test_what_is_shipped_is_small():
    sizes = {name: shipped.path(one).stat().st_size for name, one in ALL.items()}
    for one in (*shipped.WITH_WEIGHTS, *shipped.WITHOUT_WEIGHTS):
        assert sizes[one.name] <= (140_000 if one in shipped.WITH_WEIGHTS else 60_000)
    assert sum(sizes.values()) < 1_300_000
    assert {path.stem for path in shipped.FOLDER.glob("*")} == set(ALL)


# What is safe to say of a run, whatever the machine (five seeds and three instruction sets were tried of each): the
# recordings that lessons quote must say the same.
SAFE = {
    "french": {"own_prefix": (0.98, 1), "teacher_prefix": (0.98, 1), "grammatical": (0.95, 1)},
    "french-without-causal-mask": {"loss": (0, 0.001), "teacher_prefix": (0.99, 1), "own_prefix": (0, 0.02)},
    "french-leak-one-head": {"teacher_prefix": (0.99, 1), "own_prefix": (0, 0.25)},
    "french-without-shifted-labels": {"loss": (0, 0.001), "teacher_prefix": (1, 1), "own_prefix": (0, 0)},
    "french-without-positions": {"own_prefix": (0.25, 0.5)},
    "french-without-cross-attention": {"own_prefix": (0, 0), "grammatical": (0.95, 1), "loss": (1.5, 1.8)},
    "french-pairs-30": {"loss": (0, 0.01), "own_prefix": (0, 0.01), "own_prefix_seen": (1, 1)},
    "french-pairs-100": {"loss": (0, 0.01), "own_prefix": (0, 0.2), "own_prefix_seen": (0.99, 1)},
    "french-pairs-300": {"own_prefix": (0.9, 1)},
    "reverse": {"own_prefix": (0.98, 1)},
    "reverse-without-causal-mask": {"teacher_prefix": (0.99, 1), "own_prefix": (0, 0.02)},
    "reverse-leak-one-token": {"teacher_prefix": (0.99, 1), "own_prefix": (0, 0.02)},
    "reverse-without-positions": {"own_prefix": (0, 0.1)},
    "reverse-without-padding-mask": {
        "own_prefix": (0.98, 1), "own_prefix_1_more_pad": (0, 0.85), "own_prefix_20_more_pad": (0, 0.1),
        "own_prefix_alone": (0, 0.5),
    },
    "reverse-seed-2-heads-1-d-model-64": {"own_prefix": (0.98, 1)},
    "reverse-without-scale-seed-2-heads-1-d-model-64": {"own_prefix": (0, 0.1)},
    "sort": {"own_prefix": (0.98, 1)},
    "sort-without-positions": {"own_prefix": (0.98, 1)},
    "sort-without-causal-mask": {"teacher_prefix": (0.99, 1), "own_prefix": (0, 0.02)},
    "twice": {"teacher_prefix": (0.98, 1), "loss": (1.6, 1.85)},
    "twice-layers-1": {"teacher_prefix": (0, 0.05), "held_out_loss": (3, 3.2)},
    "twice-heads-1": {"teacher_prefix": (0, 0.05)},
    "twice-without-causal-mask": {"loss": (0, 0.3), "own_prefix": (0, 0.02)},
    "add": {"teacher_prefix": (0.98, 1)},
    "digits": {"accuracy": (0.93, 1), "accuracy_shuffled": (0, 0.2), "accuracy_seen": (0.99, 1)},
    "digits-without-positions": {"accuracy": (0.65, 0.85), "accuracy_shuffled": (0.65, 0.85)},
}  # fmt: skip


@each_case("name", list(ALL))
def test_a_shipped_recording_shows_what_is_said_of_it(name, recordings):
    recording = recordings[name]
    assert recording.experiment == ALL[name]
    assert len(recording.steps) == MOMENTS
    assert (recording.weights is not None) is (ALL[name] in shipped.WITH_WEIGHTS)
    for score, (least, most) in SAFE[name].items():
        assert least <= recording.scores[score] <= most, score
    assert recording.own_prefix[-1] == np.float32(recording.scores["own_prefix"])


def test_a_causal_toy_scores_the_same_on_either_prefix_at_every_moment(recordings):
    for name, one in ALL.items():
        if one.is_causal and "shifted-labels" not in one.without:
            np.testing.assert_array_equal(recordings[name].teacher_prefix, recordings[name].own_prefix, err_msg=name)


def superdiagonal(recording: Recording) -> float:
    return float(recording.heads["superdiagonal"][-1].max())


def test_the_head_that_cheats_looks_at_the_next_token(recordings):
    assert superdiagonal(recordings["french-without-causal-mask"]) >= 0.7
    assert superdiagonal(recordings["reverse-without-causal-mask"]) >= 0.8
    assert superdiagonal(recordings["french"]) == superdiagonal(recordings["reverse"]) == 0
    leaks = recordings["french-leak-one-head"].heads["superdiagonal"][-1, 0]
    assert leaks[0] > 0.5
    assert leaks[1] == 0


def test_the_induction_head_comes_in_one_jump_and_after_the_head_that_it_reads(recordings):
    recording = recordings["twice"]
    jump = next(step for step, share in zip(recording.steps, recording.own_prefix, strict=True) if share > 0.5)
    assert 800 <= jump <= 1_600
    assert float(recording.heads["induction"][-1, 1].max()) > 0.8
    passed = [recording.passes("induction", layer=1, head=head) for head in range(2)]
    before = [recording.passes("previous-token", layer=0, head=head, level=0.2) for head in range(2)]
    assert min(filter(None, before)) <= min(filter(None, passed))


def test_an_honest_toy_stays_above_the_floor_and_one_without_a_mask_falls_below(recordings):
    floor, smooth = TASKS["twice"].loss_floor(), np.full(50, 1 / 50)
    honest = np.convolve(recordings["twice"].losses.astype(float), smooth, "valid")
    cheat = np.convolve(recordings["twice-without-causal-mask"].losses.astype(float), smooth, "valid")
    assert honest.min() > floor
    assert cheat.min() < 0.3 < floor


def test_without_the_scale_rows_are_peaked_before_anything_is_learned(recordings):
    with_, without = (recordings[f"reverse-{name}seed-2-heads-1-d-model-64"] for name in ("", "without-scale-"))
    peaked = [float(one.heads["sharpness.encoder_self"][0].mean()) for one in (with_, without)]
    assert peaked[0] < 0.5 < 0.7 < peaked[1]


def test_an_experiment_finds_its_recording():
    assert shipped.is_shipped(Experiment("french", without="causal-mask"))
    assert not shipped.is_shipped(replace(Experiment("french"), seed=99))
