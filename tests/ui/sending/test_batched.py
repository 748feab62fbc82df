"""What a run draws is handed over in its order, and seldom; spinners get no thread each."""

import asyncio
import threading
import time

import pytest
from streamlit.elements import spinner
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner.script_runner import ScriptRunnerEvent
from streamlit.testing.v1 import AppTest

from attnviz.ui import alarms, streamlit_internals
from tests.apart import run_apart

DRAWN, DONE = ScriptRunnerEvent.ENQUEUE_FORWARD_MSG, ScriptRunnerEvent.SCRIPT_STOPPED_WITH_SUCCESS


class Session:
    """What the guard asks of Streamlit's."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop, self.heard, self.woken = loop, [], 0

    def _call_soon_on_event_loop(self, callback) -> None:
        self.woken += 1
        self.loop.call_soon_threadsafe(callback)

    def _handle_scriptrunner_event_on_event_loop(self, sender, event, forward_msg=None) -> None:
        self.heard.append(forward_msg if event is DRAWN else "done")


@pytest.fixture(autouse=True)
def installed() -> None:
    streamlit_internals.install()


def test_a_run_s_elements_come_in_their_order_and_wake_the_loop_seldom() -> None:
    async def go() -> Session:
        session = Session(asyncio.get_running_loop())

        def draw() -> None:
            for number in range(100):
                AppSession._on_scriptrunner_event(session, None, DRAWN, forward_msg=number)
            AppSession._on_scriptrunner_event(session, None, DONE)

        await asyncio.to_thread(draw)
        await asyncio.sleep(0.05)
        return session

    session = run_apart(go())
    assert session.heard == [*range(100), "done"]
    assert session.woken < 20


def test_an_element_that_nothing_follows_is_handed_over_in_a_moment() -> None:
    async def go() -> list[object]:
        session = Session(asyncio.get_running_loop())
        await asyncio.to_thread(AppSession._on_scriptrunner_event, session, None, DRAWN, forward_msg="one")
        await asyncio.sleep(0.1)
        return session.heard

    assert run_apart(go()) == ["one"]


def test_spinners_have_one_thread_together() -> None:
    def page() -> None:
        import threading

        import streamlit as st

        with st.spinner("One"), st.spinner("Two"), st.spinner("Three"):
            st.text(str([thread.name for thread in threading.enumerate()].count("attnviz-alarms")))
            st.text(str(sum("Timer" in thread.name for thread in threading.enumerate())))

    app = AppTest.from_function(page).run()
    assert [text.value for text in app.text] == ["1", "0"]


def test_an_alarm_rings_once_unless_it_is_cancelled(monkeypatch) -> None:
    monkeypatch.setattr(alarms, "_LOOK", 0.01)
    rung, is_rung = [], threading.Event()
    assert vars(spinner)["threading"].Timer is alarms.Alarm
    kept, gone = (alarms.Alarm(0.02, lambda name=name: (rung.append(name), is_rung.set())) for name in ("kept", "gone"))
    kept.start()
    gone.start()
    gone.cancel()
    assert is_rung.wait(5)
    time.sleep(0.15)
    kept.cancel()
    assert rung == ["kept"]


def test_an_alarm_of_a_run_that_is_over_leaves_the_others() -> None:
    class Over(BaseException):
        """As Streamlit's own, which is no Exception."""

    def rings() -> None:
        raise Over

    rung = threading.Event()
    alarms.Alarm(0.0, rings).start()
    alarms.Alarm(0.2, rung.set).start()
    assert rung.wait(5)
