"""A file that an earlier version saved opens with the values that the earlier version read in it."""

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attnviz
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import BEFORE, TeacherKey
from attnviz.lessons import reading
from attnviz.lessons.draft import draft_of_kept
from attnviz.toys.recording import Recording
from attnviz.toys.translator.recording import TranslatorRecording
from tests.earlier.kept import NEWEST, expected, files, version

CLOSE = {"atol": 1e-5}  # weights are computed again, on another processor


def of_trace(trace: Any) -> dict[str, Any]:
    return {
        "src": trace.src_text, "tgt": trace.tgt_text, "kinds": list(trace.kinds),
        "tokens": [token.text for token in trace.key_tokens("cross")],
    }  # fmt: skip


def assert_shows(trace: Any, then: dict[str, Any], *, layer: int = 1, head: int = 2) -> None:
    assert of_trace(trace).items() <= then.items()
    np.testing.assert_allclose(trace.attn("cross", layer=layer, head=head), then["cross"], **CLOSE)


@pytest.mark.parametrize("file", files("trace.npz"), ids=version)
def test_a_saved_trace_opens(file: Path) -> None:
    trace = attnviz.load_trace(file)
    assert_shows(trace, expected(file))
    assert [token.segment for token in trace.key_tokens("cross")] == [0] * 4


def test_a_saved_trace_keeps_what_was_done_to_its_run() -> None:
    file = NEWEST / "changed-trace.npz"
    trace = attnviz.load_trace(file)
    assert_shows(trace, expected(file))
    done = [[one.where, one.how, one.layer, list(one.heads or ()), one.source] for one in trace.interventions]
    assert done == expected(file)["changed"]


@pytest.mark.parametrize("file", files("weights.npz"), ids=version)
def test_saved_weights_open(file: Path) -> None:
    weights = attnviz.load_trace(file)
    (kind,) = weights.kinds
    assert [token.text for token in weights.key_tokens(kind)] == ["a", "b"]
    assert weights.attn(kind).tolist() == [[[[1.0, 0.0], [0.25, 0.75]]] * 3] * 2


def test_a_checkpoint_opens_as_the_same_model() -> None:
    file = NEWEST / "checkpoint"
    model, then = attnviz.load(str(file)), expected(file)
    assert model.model_id == then["model_id"]
    assert_shows(model.trace("I love you", to="fr", tgt_text="Je t'aime"), then)


def test_a_toy_s_recording_opens_and_so_does_its_model() -> None:
    file = NEWEST / "toy-recording.npz"
    run, then = attnviz.load_recording(file), expected(file)
    assert isinstance(run, Recording)
    assert [run.steps[0], run.steps[-1]] == then["steps"]
    assert (run.experiment.task, [*run.experiment.without]) == (then["task"], then["without"])
    assert run.scores == pytest.approx(then["scores"])
    assert run.losses.astype(float).sum() == pytest.approx(then["loss"], abs=0.01)
    trace = attnviz.load(str(file)).trace(then["src"], tgt_text=then["tgt"])
    np.testing.assert_allclose(trace.attn("cross", layer=0, head=1), then["cross"], **CLOSE)


def test_a_translator_s_recording_opens() -> None:
    file = NEWEST / "translator-recording.npz"
    run, then = attnviz.load_recording(file), expected(file)
    assert isinstance(run, TranslatorRecording)
    assert ([*run.steps], [line.sentence.src_text for line in run.lines]) == (then["steps"], then["lines"])
    assert [list(wrote) for wrote in run.wrote] == then["wrote"]
    assert run.held_out_loss.tolist() == pytest.approx(then["loss"])


def test_a_lesson_opens_and_so_does_its_draft() -> None:
    lesson = reading.read_file(NEWEST / "lesson.md")
    assert (lesson.title, lesson.language, lesson.minutes) == ("Earlier", "fr", 5)
    assert [step.question.kind for step in lesson.steps if step.question] == ["choice", "cell", "number"]
    draft = reading.read(draft_of_kept((NEWEST / "draft.json").read_text(encoding="utf-8")))
    assert (draft.title, draft.language, draft.minutes) == (lesson.title, lesson.language, lesson.minutes)
    for one, other in zip(draft.steps, lesson.steps, strict=True):
        assert (one.title, one.text, one.link and one.link.texts) == (
            other.title, other.text, other.link and other.link.texts,
        )  # fmt: skip
        assert replace(one.question, line=0) == replace(other.question, line=0) if one.question else not other.question


@pytest.mark.parametrize("saved", files("classes.sql"), ids=version)
def test_a_database_of_classes_opens_with_its_answers(saved: Path, tmp_path: Path) -> None:
    file, then = tmp_path / "classes.sqlite", expected(saved)
    with sqlite3.connect(file) as database:
        database.executescript(saved.read_text(encoding="utf-8"))
    database.close()
    room = Classroom(str(file), lambda link: None, clock=lambda: 1_800_000_060.0)
    try:
        teacher = room.teachers.view(TeacherKey(then["code"], then["secret"]))
        assert teacher.summaries[BEFORE].options == tuple(then["options"])
        assert (teacher.summaries[BEFORE].mean_score, teacher.ends) == (then["mean score"], then["ends"])
        assert room.students.view(then["students"]["Ana"]).has_answered
        room.students.answer(then["students"]["Ben"], 0, 0, in_round=BEFORE, client_id="d")
        room.teachers.set_timer(TeacherKey(then["code"], then["secret"]), minutes=1)
    finally:
        room.close()
