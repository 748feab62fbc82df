"""Runs that are trained while people watch: in a process of their own, one at a time, shared by visitors who ask for
the same.
"""

import io
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import attnviz
from attnviz.learning.live import worker
from attnviz.learning.live.process import read_frame, write_frame
from attnviz.learning.live.runs import LiveRuns
from attnviz.toys.experiment import Experiment

SHORT = Experiment("reverse", steps=4)
LONG = Experiment("twice", steps=2_000)  # longer than anybody waits here
PATIENCE = 60  # seconds, on a busy machine


@pytest.fixture(scope="module")
def runs():
    """One queue for all tests but those that end it: most of what a worker costs is to begin it."""
    made = LiveRuns(most_waiting=3, idle=60, left=60)
    yield made
    made.close()


def wait_for(holds, seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def test_a_live_run_is_the_run_that_would_be_recorded(runs):
    run = runs.watch(SHORT)
    assert run.wait(PATIENCE).state == "done"
    here = attnviz.learn("reverse", steps=4)
    np.testing.assert_array_equal(run.recording.weights, here.weights)
    np.testing.assert_array_equal(run.recording.maps["cross"], here.maps["cross"])
    assert run.so_far() is run.recording
    assert attnviz.load(run.recording).write("a b c")
    assert [moment.step for moment in run.look(since=3).moments] == [3, 4]
    assert runs.watch(SHORT) is run  # remembered, and not trained again


def test_what_fails_in_the_worker_is_said_and_the_worker_goes_on(runs, monkeypatch):
    # An experiment that another version might send.
    monkeypatch.setattr(Experiment, "to_dict", lambda self: {"task": "german"})
    assert (
        runs.watch(Experiment("reverse", steps=4, seed=6)).wait(PATIENCE).error.startswith("There is no task 'german'")
    )
    monkeypatch.undo()
    before = runs.pid
    assert runs.watch(Experiment("reverse", steps=2)).wait(PATIENCE).state == "done"
    assert runs.pid == before


def test_after_a_while_without_a_run_the_worker_is_ended(runs, monkeypatch):
    monkeypatch.setattr(runs.queue, "_idle", 0.1)
    assert runs.watch(Experiment("reverse", steps=1)).wait(PATIENCE).state == "done"
    wait_for(lambda: runs.pid is None)


def test_equal_requests_share_a_run_and_a_killed_worker_names_the_error(runs):
    first = runs.watch(LONG)
    assert runs.watch(Experiment("twice", steps=2_000)) is first
    wait_for(lambda: first.look().moments)
    assert first.look().state == "running"
    so_far = first.so_far()
    assert so_far.steps[0] == 0
    assert so_far.answers_at(0)
    assert so_far.maps["decoder_self"].shape[1:] == (2, 2, 24, 24)
    assert runs.pid != os.getpid()
    assert int(Path(f"/proc/{runs.pid}/stat").read_text().rsplit(")", 1)[1].split()[16]) >= 10  # how nice it is

    others = [runs.watch(Experiment("reverse", steps=2, seed=seed)) for seed in (11, 12, 13)]
    assert [run.look().ahead for run in others] == [1, 2, 3]
    assert runs.watch(Experiment("reverse", steps=2, seed=12)) is others[1]
    said = "3 runs wait already. Watch a recording and try again in a minute."
    with pytest.raises(ValueError, match=f"^{said}$"):
        runs.watch(Experiment("reverse", steps=2, seed=14))

    os.kill(runs.pid, signal.SIGKILL)
    error = first.wait(PATIENCE).error
    assert error.startswith("The process that trains has ended after ")
    assert error.endswith(" updates. Start the run again. You can still watch recordings.")
    assert [run.wait(PATIENCE).state for run in others] == ["done"] * 3  # by another worker


def test_a_worker_that_ended_between_two_runs_is_replaced(runs):
    before = runs.pid
    os.kill(before, signal.SIGKILL)
    wait_for(lambda: runs.pid is None)
    run = runs.watch(LONG)
    wait_for(lambda: run.look().moments)
    assert runs.pid not in (None, before)
    runs.close()
    assert run.look().state == "failed"


def test_a_worker_that_hangs_is_ended(monkeypatch):
    """A process that neither says anything nor ends takes its place."""
    begin, begun = subprocess.Popen, []

    def asleep(_, **how):
        begun.append(begin(["sleep", "600"], **how))
        return begun[-1]

    monkeypatch.setattr(subprocess, "Popen", asleep)
    runs = LiveRuns(silence=0.2)
    assert runs.watch(SHORT).wait(PATIENCE).error.startswith("The process that trains has ended after 0 updates.")
    assert len(begun) == 2, "it is tried once more"
    assert all(process.poll() is not None for process in begun)
    runs.close()


def test_moments_are_told_now_and_then_and_none_is_left_out(monkeypatch):
    monkeypatch.setattr(worker, "PAUSE", 3_600)
    frames = io.BytesIO()
    worker.train(Experiment("reverse", steps=3).to_dict(), frames)
    frames.seek(0)
    first, rest, end = iter(lambda: read_frame(frames), None)
    assert [moment.step for _, told in (first, rest) for moment in told] == [0, 1, 2, 3]
    assert len(first[1]) == 1  # at once
    assert end[0] == "done"


def test_a_frame_that_is_cut_is_the_end():
    frames = io.BytesIO()
    write_frame(frames, ("moments", []))
    assert read_frame(io.BytesIO(frames.getvalue()[:-1])) is None
    assert read_frame(io.BytesIO(b"")) is None


def test_a_run_that_nobody_waits_for_is_passed_over():
    runs = LiveRuns(left=0.0)
    assert (
        runs.watch(SHORT).wait(PATIENCE).error
        == "This run was removed from the queue, because nobody was waiting for it. Please start it again."
    )
    assert runs.pid is None
    runs.close()


def test_one_address_has_half_of_the_places_and_leaves_the_others_to_others(monkeypatch):
    runs = LiveRuns(most_waiting=4)
    monkeypatch.setattr(runs.queue, "begin", lambda: None)  # nothing is trained: all wait
    for seed in (1, 2):
        runs.watch(Experiment("reverse", steps=2, seed=seed), "192.0.2.1")
    said = "2 runs from your address wait already. Watch a recording and try again in a minute."
    with pytest.raises(ValueError, match=f"^{said}$"):
        runs.watch(Experiment("reverse", steps=2, seed=3), "192.0.2.1")
    assert runs.watch(Experiment("reverse", steps=2, seed=2), "192.0.2.1").state == "waiting", "it waits already"
    runs.watch(Experiment("reverse", steps=2, seed=4), "198.51.100.7")
    runs.watch(Experiment("reverse", steps=2, seed=5))
    with pytest.raises(ValueError, match=r"^4 runs wait already\. "):
        runs.watch(Experiment("reverse", steps=2, seed=6), "203.0.113.1")
    runs.close()


def test_a_run_beyond_the_limit_never_enters_the_queue():
    runs = LiveRuns()
    with pytest.raises(ValueError, match=r"^This run would take about "):
        runs.watch(Experiment("french", steps=20_000))
    assert runs.pid is None
