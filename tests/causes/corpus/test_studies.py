"""Studies of a server: one at a time, shared by visitors who ask for the same, stopped between two steps."""

import threading

import pytest

from attnviz.analysis.cancellable import TO_THE_END
from attnviz.analysis.corpus import reading
from attnviz.analysis.corpus.lines import CorpusLine, languages, lines_of, shipped_lines
from attnviz.causes.corpus.numbers import studies
from attnviz.causes.corpus.numbers.studies import STAGES, Studies, run_stages
from attnviz.models.translator.tiny import tiny_translator
from tests.causes.corpus.conftest import LINES

PATIENCE = 60.0  # seconds, on a busy machine


@pytest.fixture
def gate(monkeypatch):
    """Provide a gate that holds every study until it is opened."""
    opened = threading.Event()
    real = studies.run_stages

    def waiting(*given, **more):
        assert opened.wait(PATIENCE)
        yield from real(*given, **more)

    monkeypatch.setattr(studies, "run_stages", waiting)
    return opened


def test_each_stage_adds_to_the_one_before(model) -> None:
    found = list(run_stages(model, lines_of(LINES[:3]), to="fr", listen=lambda stage: TO_THE_END))
    assert [(one.gradient is None, one.ablation is None) for one in found] == [
        (True, True),
        (False, True),
        (False, False),
    ]
    table = found[-1].heads
    assert len(table) == len(found[-1].places)
    importance = found[-1].gradient.table()
    assert table["gradient importance"].tolist() == importance["importance"].tolist()
    assert table["ablation signed"].tolist() == found[-1].ablation.table()["signed"].tolist()
    shares = found[-1].profiles.role_shares()
    one = shares[(shares["kind"] == "cross") & (shares["layer"] == 1) & (shares["head"] == 2)]
    mine = table[(table["kind"] == "cross") & (table["layer"] == 1) & (table["head"] == 2)]
    assert mine["diagonal"].item() == one.set_index("role")["share"]["diagonal"]
    by_sentence = found[-1].sentence_table()
    assert len(by_sentence) == 3 * len(table)
    sums = by_sentence.groupby(["kind", "layer", "head"])["ablation"].sum()
    tokens = float(found[-1].corpus.target_tokens.sum())
    assert float(sums["cross", 1, 2]) / tokens == pytest.approx(mine["ablation signed"].item(), abs=1e-6)


def test_the_same_request_returns_the_running_study(model, gate) -> None:
    queue, lines = Studies(share=1.0), lines_of(LINES[:2])
    first, second = queue.ask(model, lines, to="fr"), queue.ask(model, lines, to="fr")
    assert first is second
    first.look("a")
    assert second.look("b").others == 1
    other = queue.ask(model, lines_of(LINES[2:4]), to="fr")
    assert other is not first
    assert other.look().ahead == 1
    gate.set()
    assert [run.wait(PATIENCE).state for run in (first, other)] == ["done", "done"]
    assert first.model is None  # a checkpoint is not held in memory for a table of numbers
    assert queue.ask(model, lines, to="fr") is first


def test_stopping_keeps_what_was_done(model, monkeypatch) -> None:
    monkeypatch.setattr(reading, "BATCH_TOKENS", 1)
    queue = Studies(share=1.0)
    reached = threading.Event()
    real = studies.RestingProgress.note

    def tell(self, done, total):
        real(self, done, total)
        if self.run.stage == "ablation" and done == 2:
            reached.set()
            self.run.stop()

    monkeypatch.setattr(studies.RestingProgress, "note", tell)
    run = queue.ask(model, lines_of(LINES), to="fr")
    view = run.wait(PATIENCE)
    assert reached.is_set()
    assert view.state == "stopped"
    assert view.study.gradient.sentences == len(LINES)
    assert view.study.ablation.sentences == 2
    assert queue.ask(model, lines_of(LINES), to="fr") is run  # and stays so until somebody asks again
    monkeypatch.setattr(studies.RestingProgress, "note", real)
    again = queue.ask(model, lines_of(LINES), to="fr", again=True)
    assert again.wait(PATIENCE).study.ablation.sentences == len(LINES)


def test_nobody_stops_what_others_watch(model, gate) -> None:
    run = Studies(share=1.0).ask(model, lines_of(LINES[:2]), to="fr")
    run.look("a")
    run.look("b")
    assert not run.stop("a")
    gate.set()
    assert run.wait(PATIENCE).state == "done"


def test_a_waiting_study_stops_at_once(model, gate) -> None:
    queue = Studies(share=1.0)
    first, second = (queue.ask(model, lines_of(LINES[at : at + 1]), to="fr") for at in (0, 1))
    second.look("a")
    assert second.stop("a")
    assert second.look().state == "stopped"
    assert (
        queue.ask(model, lines_of(LINES[1:2]), to="fr") is second
    )  # a page that is drawn again does not begin it anew
    gate.set()
    assert first.wait(PATIENCE).state == "done"
    thread = queue.queue.thread
    if thread is not None:
        thread.join(PATIENCE)
    assert (second.look().state, second.look().error) == ("stopped", "")  # its turn does not come


def test_an_unwatched_study_makes_room_for_a_waiting_one(model, gate) -> None:
    queue = Studies(share=1.0, left=0.0)
    left, wanted = (queue.ask(model, lines_of(LINES[at : at + 2]), to="fr") for at in (0, 2))
    left.look("a")
    gate.set()
    assert left.wait(PATIENCE).state == "stopped" or left.look().state == "failed"
    assert wanted.wait(PATIENCE).state == "done"  # nobody waits behind it


def test_a_queue_has_an_end(model, gate) -> None:
    queue = Studies(share=1.0, most_waiting=1)
    for at in (0, 1):
        queue.ask(model, lines_of(LINES[at : at + 1]), to="fr")
        while at == 0 and queue.queue.running is None:
            pass
    with pytest.raises(ValueError, match=r"1 lists are waiting already\. Please try again"):
        queue.ask(model, lines_of(LINES[2:3]), to="fr")
    gate.set()


def test_a_line_that_the_model_cannot_read_is_named(model) -> None:
    queue = Studies(share=1.0)
    view = queue.ask(model, lines_of(["I love", "too " * 499]), to="fr").wait(PATIENCE)
    assert view.state == "failed"
    assert view.error.startswith("Line 2 (“too too")
    assert queue.ask(model, lines_of(["I love"]), to="fr").wait(PATIENCE).state == "done"


def test_a_model_that_breaks_does_not_end_the_queue(model, monkeypatch) -> None:
    def fail(*given, **more):
        raise RuntimeError("no such thing\nat all")

    queue = Studies(share=1.0)
    with monkeypatch.context() as patched:
        patched.setattr(studies, "run_stages", fail)
        view = queue.ask(model, lines_of(["I love fun"]), to="fr").wait(PATIENCE)
    assert view.error == "The model could not be run on this list: no such thing"
    assert queue.ask(model, lines_of(["I love"]), to="fr").wait(PATIENCE).state == "done"


def test_half_of_the_time_it_rests(model, monkeypatch) -> None:
    slept, clock = [], iter(range(1000))
    monkeypatch.setattr(studies.time, "monotonic", lambda: next(clock) / 10)
    monkeypatch.setattr(studies.time, "sleep", slept.append)
    queue = Studies(share=0.25)
    run = studies.StudyRun(model, (CorpusLine("a"),), "fr", queue.queue.changed, 20.0)
    studies.RestingProgress(run, queue).note(1, 1)
    assert slept == [pytest.approx(0.3)]  # three times as long as it worked
    assert run.look().done == 1


def test_the_shipped_lists_hold_200_pairs_each() -> None:
    assert languages() == ("de", "es", "fr", "zh")
    of = {to: shipped_lines(to) for to in languages()}
    assert all(len(lines) == 200 and all(line.target for line in lines) for lines in of.values())
    assert [line.text for line in of["fr"]] == [line.text for line in of["de"]] == [line.text for line in of["es"]]
    assert [line.text for line in shipped_lines("nl")] == [line.text for line in of["fr"]]
    assert not any(line.target for line in shipped_lines())


def test_stages_are_told_in_their_order(model) -> None:
    told = []

    def listen(stage):
        told.append(stage)
        return TO_THE_END

    list(run_stages(tiny_translator(), lines_of(LINES[:1]), to="fr", listen=listen))
    assert tuple(told) == STAGES
