"""Recordings come back from their files as they were, and nothing else is taken for one."""

import json
import re

import numpy as np
import pytest

import attnviz
from attnviz.toys.recording import Recording
from attnviz.toys.storage import save
from tests.each_case import each_case


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
    assert back.answers_at(0) == run.answers_at(0)
    with pytest.raises(ValueError, match=r"^This recording has no weights. Train the same run again to open"):
        attnviz.load(back)


def write_changed(run: Recording, path, **arrays) -> None:
    """Make a file in which some arrays are others, or missing where they are None."""
    save(run, path)
    kept = content(path) | arrays
    np.savez(path, allow_pickle=False, **{key: array for key, array in kept.items() if array is not None})


def meta(run: Recording, **said) -> np.ndarray:
    whole = {
        "experiment": run.experiment.to_dict(), "words": 16, "scores": {},
        "watched": [[line.src, line.tgt] for line in run.watched],
    }  # fmt: skip
    return np.frombuffer(json.dumps(whole | said).encode(), dtype=np.uint8)


def byte_array(said: bytes) -> np.ndarray:
    return np.frombuffer(said, np.uint8)


SIZE = "its maps are of another size"
ARRAYS = {
    "another version": ({"format_version": np.array(2)}, "its format_version is 2, this attnviz reads 1: record the"),
    "no version": ({"format_version": None}, "its arrays are not those of a recording"),
    "many versions": ({"format_version": np.arange(9)}, "can only convert an array of size 1"),
    "a version of words": ({"format_version": np.array("x" * 5000)}, "its format_version is xxx"),
    "no JSON": ({"meta": byte_array(b"{")}, "Expecting property name"),
    "brackets": ({"meta": byte_array(b"[" * 900_000)}, "maximum recursion depth"),
    "digits": ({"meta": byte_array(b"9" * 900_000)}, "Exceeds the limit"),
    "heads with markup": ({"heads.<b>": np.zeros((4, 1, 2), np.float16)}, "it scores heads in an unknown way"),
    "a million moments": ({"steps": np.arange(10**6, dtype=np.uint32)}, "its steps are not whole numbers"),
    "moments backwards": ({"steps": np.array([3, 2, 1, 0], np.uint16)}, "its moments are not in order"),
    "too few losses": ({"losses": np.zeros(2, np.float16)}, "its losses are not one for each update"),
    "losses that are none": ({"losses": np.full(3, np.nan, np.float16)}, "its curves are not numbers"),
    "curves of words": ({"own_prefix": np.array(["a"] * 4)}, "its curves are not numbers"),
    "no curve": ({"own_prefix": None}, "'own_prefix'"),
    "maps of four axes": ({"changes.cross": np.zeros((1, 2, 8, 4), np.uint8)}, SIZE),
    "no maps": ({"changes.cross": None}, "it lacks the maps of a kind of attention"),
    "too few weights": ({"weights": np.zeros(7, np.float16)}, "its weights are not the 22,112 of this experiment"),
    "infinite weights": ({"weights": np.full(22_112, np.inf, np.float16)}, "its weights are not numbers"),
    "ids beyond the words": ({"wrote": np.full((4, 5, 3), 200, np.uint8)}, "it wrote unknown words"),
}
META = {
    "another task": ({"experiment": {"task": "german"}}, "There is no task 'german'"),
    "an unknown setting": ({"experiment": {"task": "reverse", "x" * 99: 1}}, "it has an unknown setting 'xxx"),
    "another vocabulary": ({"words": 17}, "its reverse has 17 words, and here it has 16"),
    "another size": (
        {"experiment": {"task": "reverse", "steps": 3, "layers": 2}},
        "its head scores have the wrong size",
    ),
    "unknown words": ({"watched": [["z", "z"]]}, "it watches an unknown line"),
    "a line of a book": ({"watched": [["a" * 999, "a"]]}, "it watches an unknown line"),
    "a shorter line": ({"watched": [[["a"], ["a"]]] * 5}, SIZE),
    "no lines": ({"watched": []}, "it watches no line"),
    "scores that are none": ({"scores": {"loss": float("nan")}}, "its scores are not numbers"),
    "scores with markup": ({"scores": {"<b>": 1.0}}, "its scores have invalid names"),
}


@each_case("name", [*ARRAYS, *META])
def test_what_is_no_recording_is_refused_in_one_sentence(name, run, tmp_path):
    arrays, said = ARRAYS[name] if name in ARRAYS else ({"meta": meta(run, **META[name][0])}, META[name][1])
    write_changed(run, tmp_path / "run.npz", **arrays)
    with pytest.raises(ValueError, match=rf"^run\.npz is not a recording of attnviz \(.*{re.escape(said)}.*\)\.$"):
        attnviz.load_recording(tmp_path / "run.npz")


def test_another_file_or_none_is_said(tmp_path):
    with pytest.raises(ValueError, match=r"^There is no recording 'run\.npz'\.$"):
        attnviz.load_recording(tmp_path / "run.npz")
    (tmp_path / "run.npz").write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(ValueError, match=r"^run\.npz is not a recording of attnviz \(it is not an \.npz archive"):
        attnviz.load_recording(tmp_path / "run.npz")
    np.savez(tmp_path / "run.npz", attn=np.ones((3, 3)))
    with pytest.raises(
        ValueError, match=r"^run\.npz is not a recording of attnviz \(its arrays are not those of a recording"
    ):
        attnviz.load(tmp_path / "run.npz")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(ValueError, match=r"folder\.npz"):
        attnviz.load_recording(tmp_path / "folder.npz")
