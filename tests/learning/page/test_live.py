"""Learning while it trains: the question first, then the queue and the run to its end; refusals give a reason."""

import pytest

import attnviz
from attnviz.learning.learning import runs_payload
from attnviz.learning.live.runs import LiveRuns
from attnviz.learning.page import controls, live, page, runs
from attnviz.toys.experiment import Experiment
from tests.learning.page.learning_page import PATIENCE, header, notes, states


@pytest.fixture
def queue(monkeypatch):
    """Make a queue of this test's own."""
    made = LiveRuns(most_waiting=1)
    monkeypatch.setattr(runs, "queue", lambda: made)
    yield made
    made.close()


def test_before_it_trains_it_asks_and_then_it_trains_to_the_end(open_page, queue) -> None:
    link = {"task": "reverse", "first": "steps-6", "second": "none", "train": "1"}
    assert states(open_page("learning", **link)) == ["asked"]
    assert queue.pid is None, "nothing begins before the guess"
    app = open_page("learning", **link, guess="no")
    assert states(app) in (["live"], ["recorded"])
    assert queue.watch(Experiment("reverse", steps=6)).wait(PATIENCE).state == "done"
    app.run()
    assert states(app) == ["recorded"]
    assert not app.exception
    (run,) = header(app)["runs"]
    assert run["moments"]["steps"] == list(attnviz.learn("reverse", steps=6).steps)
    assert "You said: it won’t. Right." in header(app)["asked"]["verdict"].values()
    # What was trained is a model by name, for everybody on this server.
    there = open_page("heads", model="toy:reverse-steps-6", src="a b c")
    assert not there.error


def test_a_full_queue_is_said_and_the_recording_plays(open_page, monkeypatch) -> None:
    monkeypatch.setattr(runs, "queue", lambda: LiveRuns(most_waiting=0))
    app = open_page("learning", train="1", guess="no")
    assert notes(app) == ["0 runs wait already. Watch a recording and try again in a minute."]
    assert states(app) == ["recorded", "recorded"]


def test_while_a_run_waits_its_recording_is_shown_and_how_many_go_before(open_page, monkeypatch) -> None:
    made = LiveRuns(most_waiting=3)
    monkeypatch.setattr(made.queue, "begin", lambda: None)  # nothing is trained: all wait
    monkeypatch.setattr(runs, "queue", lambda: made)
    made.watch(Experiment("sort", steps=6))
    app = open_page("learning", task="reverse", first="none", second="none", train="1", guess="no")
    assert not app.exception
    assert states(app) == ["recorded"]
    (told,) = [sentence for sentence in (info.value for info in app.info) if "before you" in sentence]
    assert "1 before you" in told
    assert "recording is shown" in told
    (run,) = [run for run in made.queue.waiting.values() if run.experiment.task == "reverse"]
    run.set_state("running")
    made.queue.waiting.clear()
    app.run()
    assert states(app) == ["live"]
    run.set_state("failed", "It was only a test.")


def test_a_run_that_begins_while_the_page_is_drawn_is_drawn_again_as_it_is_trained(open_page, monkeypatch) -> None:
    made = LiveRuns(most_waiting=3)
    monkeypatch.setattr(made.queue, "begin", lambda: None)
    monkeypatch.setattr(runs, "queue", lambda: made)
    run = made.watch(Experiment("reverse"))
    drawn = []

    def payload(shown, *args, **kwargs):
        drawn.append([one.state for one in shown])
        made.queue.waiting.clear()
        run.set_state("running")
        return runs_payload(shown, *args, **kwargs)

    monkeypatch.setattr(page.pictures, "runs_payload", payload)
    app = open_page("learning", task="reverse", first="none", second="none", train="1", guess="no")
    assert drawn == [["recorded"], ["live"]]
    assert states(app) == ["live"]
    run.set_state("failed", "It was only a test.")


def test_a_choice_in_the_picture_becomes_the_address_and_one_of_other_runs_does_not(monkeypatch) -> None:
    session, written = {controls._SHOWN: {"moment": 0, "site": "", "guess": "", "of": "these"}}, []
    monkeypatch.setattr(controls.st, "session_state", session)
    monkeypatch.setattr(controls.persistent, "write", written.append)
    for of in ("these", "others"):
        session[controls.COMPONENT] = {"view": {"moment": 7, "site": "", "guess": "no", "of": of, "seq": 2}}
        controls.adopt()
    assert written == [{"moment": "7", "guess": "no"}]


def test_a_browser_that_missed_a_piece_is_sent_it_again(monkeypatch) -> None:
    session: dict = {live._SENT: {"one": 9, "other": 4}}
    monkeypatch.setattr(live.st, "session_state", session)
    for count, since in ((5, 5), (7, 5), (-3, 0)):
        session[live._FEED] = {"have": {"key": "one", "count": count}}
        live._send_again()
        assert session[live._SENT] == {"one": since, "other": 4}
    session[live._FEED] = {"have": {"key": 5, "count": "x"}}
    live._send_again()
    assert session[live._SENT] == {"one": 0, "other": 4}
