"""Recordings come back from their files as they were, and nothing else is taken for one."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import attnviz
from attnviz.learning import shipped
from attnviz.learning.experiment import Experiment
from attnviz.learning.recording import Recording
from attnviz.learning.run import MOMENTS
from attnviz.learning.storage import save, toy_recording
from attnviz.learning.tasks.catalogue import TASKS

ALL = {one.name: one for one in (*shipped.WITH_WEIGHTS, *shipped.WITHOUT_WEIGHTS)}


@pytest.fixture(scope="module")
def recordings() -> dict[str, Recording]:
    return {name: toy_recording(shipped.path(one)) for name, one in ALL.items()}


@pytest.fixture(scope="module")
def run() -> Recording:
    return attnviz.learn("reverse", steps=3)


def content(path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


def test_a_recording_comes_back_as_it_was(run, tmp_path):
    attnviz.save(run, tmp_path / "run.npz")
    back = attnviz.load_recording(tmp_path / "run.npz")
    for name in ("losses", "held_out_loss", "teacher_prefix", "own_prefix", "wrote", "weights"):
        np.testing.assert_array_equal(getattr(back, name), getattr(run, name))
    for name in ("heads", "maps"):
        assert getattr(back, name).keys() == getattr(run, name).keys()
        for key, array in getattr(run, name).items():
            np.testing.assert_array_equal(getattr(back, name)[key], array)
    assert (back.experiment, back.steps, back.watched, back.scores) == (
        run.experiment,
        run.steps,
        run.watched,
        run.scores,
    )


def test_without_weights_it_shows_the_run_and_says_how_to_open_its_model(run, tmp_path):
    save(run, tmp_path / "run.npz", weights=False)
    back = attnviz.load_recording(tmp_path / "run.npz")
    assert back.written(0) == run.written(0)
    with pytest.raises(ValueError, match=r"^This recording was kept without weights: train the same run again to open"):
        attnviz.load(back)


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


def changed(run: Recording, path, **arrays) -> None:
    """A file in which some arrays are others, or missing where they are None."""
    save(run, path)
    kept = content(path) | arrays
    np.savez(path, allow_pickle=False, **{key: array for key, array in kept.items() if array is not None})


def meta(run: Recording, **said) -> np.ndarray:
    whole = {
        "experiment": run.experiment.to_dict(), "words": 16, "scores": {},
        "watched": [[line.src, line.tgt] for line in run.watched],
    }  # fmt: skip
    return np.frombuffer(json.dumps(whole | said).encode(), dtype=np.uint8)


def as_bytes(said: bytes) -> np.ndarray:
    return np.frombuffer(said, np.uint8)


SIZE = "its maps are of another size"
ARRAYS = {
    "another version": ({"format_version": np.array(2)}, "its format_version is 2, this attnviz reads 1: record the"),
    "no version": ({"format_version": None}, "it holds other arrays than a run leaves"),
    "many versions": ({"format_version": np.arange(9)}, "can only convert an array of size 1"),
    "a version of words": ({"format_version": np.array("x" * 5000)}, "its format_version is xxx"),
    "no JSON": ({"meta": as_bytes(b"{")}, "Expecting property name"),
    "brackets": ({"meta": as_bytes(b"[" * 900_000)}, "maximum recursion depth"),
    "digits": ({"meta": as_bytes(b"9" * 900_000)}, "Exceeds the limit"),
    "heads with markup": ({"heads.<b>": np.zeros((4, 1, 2), np.float16)}, "it scores heads in an unknown way"),
    "a million moments": ({"steps": np.arange(10**6, dtype=np.uint32)}, "its moments are no numbers"),
    "moments backwards": ({"steps": np.array([3, 2, 1, 0], np.uint16)}, "its moments are in no order"),
    "too few losses": ({"losses": np.zeros(2, np.float16)}, "its losses are not one for each update"),
    "losses that are none": ({"losses": np.full(3, np.nan, np.float16)}, "its curves are no numbers"),
    "curves of words": ({"own_prefix": np.array(["a"] * 4)}, "its curves are no numbers"),
    "no curve": ({"own_prefix": None}, "'own_prefix'"),
    "maps of four axes": ({"changes.cross": np.zeros((1, 2, 8, 4), np.uint8)}, SIZE),
    "no maps": ({"changes.cross": None}, "it lacks the maps of a kind of attention"),
    "too few weights": ({"weights": np.zeros(7, np.float16)}, "its weights are not the 22,112 of this experiment"),
    "infinite weights": ({"weights": np.full(22_112, np.inf, np.float16)}, "its weights are no numbers"),
    "ids beyond the words": ({"wrote": np.full((4, 5, 3), 200, np.uint8)}, "it wrote unknown words"),
}
META = {
    "another task": ({"experiment": {"task": "german"}}, "There is no task 'german'"),
    "an unknown setting": ({"experiment": {"task": "reverse", "x" * 99: 1}}, "it has an unknown setting 'xxx"),
    "another vocabulary": ({"words": 17}, "its reverse has 17 words, and here it has 16"),
    "another size": (
        {"experiment": {"task": "reverse", "steps": 3, "layers": 2}},
        "its head scores are of another size",
    ),
    "unknown words": ({"watched": [["z", "z"]]}, "it watches an unknown line"),
    "a line of a book": ({"watched": [["a" * 999, "a"]]}, "it watches an unknown line"),
    "a shorter line": ({"watched": [[["a"], ["a"]]] * 5}, SIZE),
    "no lines": ({"watched": []}, "it watches no line"),
    "scores that are none": ({"scores": {"loss": float("nan")}}, "its scores are no numbers"),
    "scores with markup": ({"scores": {"<b>": 1.0}}, "its scores have no names"),
}


@pytest.mark.parametrize("name", [*ARRAYS, *META])
def test_what_is_no_recording_is_refused_in_one_sentence(name, run, tmp_path):
    arrays, said = ARRAYS[name] if name in ARRAYS else ({"meta": meta(run, **META[name][0])}, META[name][1])
    changed(run, tmp_path / "run.npz", **arrays)
    with pytest.raises(ValueError, match=rf"^run\.npz is not a recording of attnviz \(.*{re.escape(said)}.*\)\.$"):
        attnviz.load_recording(tmp_path / "run.npz")


def test_another_file_or_none_is_said(tmp_path):
    with pytest.raises(ValueError, match=r"^There is no recording 'run\.npz'\.$"):
        attnviz.load_recording(tmp_path / "run.npz")
    (tmp_path / "run.npz").write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(ValueError, match=r"^run\.npz is not a recording of attnviz \(it is no \.npz archive"):
        attnviz.load_recording(tmp_path / "run.npz")
    np.savez(tmp_path / "run.npz", attn=np.ones((3, 3)))
    with pytest.raises(ValueError, match=r"^run\.npz is not a recording of attnviz \(it holds other arrays than"):
        attnviz.load(tmp_path / "run.npz")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(ValueError, match=r"folder\.npz"):
        attnviz.load_recording(tmp_path / "folder.npz")


def test_what_is_shipped_is_small():
    sizes = {name: shipped.path(one).stat().st_size for name, one in ALL.items()}
    for one in (*shipped.WITH_WEIGHTS, *shipped.WITHOUT_WEIGHTS):
        assert sizes[one.name] <= (100_000 if one in shipped.WITH_WEIGHTS else 60_000)
    assert sum(sizes.values()) < 1_000_000
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
}  # fmt: skip


@pytest.mark.parametrize("name", list(ALL))
def test_a_shipped_recording_shows_what_is_said_of_it(name, recordings):
    recording = recordings[name]
    assert recording.experiment == ALL[name]
    assert len(recording.steps) == MOMENTS
    assert (recording.weights is not None) is (ALL[name] in shipped.WITH_WEIGHTS)
    for score, (least, most) in SAFE[name].items():
        assert least <= recording.scores[score] <= most, score
    assert recording.own_prefix[-1] == np.float32(recording.scores["own_prefix"])


@pytest.mark.parametrize(
    "name", [name for name, one in ALL.items() if one.is_causal and "shifted-labels" not in one.without]
)
def test_a_causal_toy_scores_the_same_on_either_prefix_at_every_moment(name, recordings):
    np.testing.assert_array_equal(recordings[name].teacher_prefix, recordings[name].own_prefix)


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
    floor, smooth = TASKS["twice"].loss_floor, np.full(50, 1 / 50)
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
