"""A long decoding says how far it is, stops with its steps kept, and gives its memory back when it is left."""

import gc
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.analysis.cancellable import Cancellable
from attnviz.app import progress
from attnviz.decoding import decoding
from attnviz.decoding.page import steps
from tests.decoding.page.decoding_page import PAIR, header, notes

pytestmark = pytest.mark.computes


@pytest.fixture(autouse=True)
def all_are_large(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(steps, "LARGE", 0)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    steps._runs.forget(lambda _: True)
    steps._open_runs.clear()
    yield
    steps._runs.forget(lambda _: True)


def stop_after(app_state, count: int):
    """Return `run_decoding` as it goes where a visitor presses Stop after so many steps: Streamlit ends that run."""
    whole = decoding.run_decoding

    def stopping(*args, work: Cancellable, **how):
        def tell(done: int, total: int) -> None:
            work.tell(done, total)
            app_state.append((done, total))
            if done == count and not work.should_stop():
                import streamlit as st

                st.session_state["passes-stopped"] = ("decoding-steps", st.session_state["_attnviz_open_decoding"].name)
                st.rerun()

        return whole(*args, work=Cancellable(tell, work.should_stop), **how)

    return stopping


def test_a_stopped_decoding_shows_the_steps_that_were_done(open_page, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = header(open_page("decoding", **PAIR, way="teacher"))["steps"]
    steps._runs.forget(lambda _: True)
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(decoding, "run_decoding", stop_after(told, 2))
    app: AppTest = open_page("decoding", **PAIR, way="teacher")
    assert not app.exception
    assert told[:3] == [(0, told[0][1]), (1, told[0][1]), (2, told[0][1])], "steps done, of steps planned"
    stopped = header(app)["steps"]
    assert len(whole) > 2
    assert [step["top"][0][0] for step in stopped] == [step["top"][0][0] for step in whole[:2]]
    assert "stopped after 2 steps" in notes(app)
    monkeypatch.undo()
    next(button for button in app.button if button.label == "Run all steps").click().run()
    assert header(app)["steps"][-1]["input"] == whole[-1]["input"]
    assert "stopped" not in notes(app)


def test_a_large_decoding_goes_when_its_page_is_left_or_another_one_runs(open_page) -> None:
    app: AppTest = open_page("decoding", **PAIR, way="teacher")
    (first,) = steps._runs.names
    other: AppTest = open_page("decoding", **PAIR, way="teacher")
    next(field for field in app.number_input if field.label == "Smoothing").set_value(0.1).run()
    assert first in steps._runs.names, "another visitor has it open"
    assert len(steps._runs.names) == 2
    other.switch_page("pages/masks.py").run()
    gc.collect()
    assert first not in steps._runs.names
    app.switch_page("pages/masks.py").run()
    assert steps._runs.names == ()
