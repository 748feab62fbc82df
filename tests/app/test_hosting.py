"""On a shared server a visitor who waits for a turn sees why, and a refused one keeps the typed text."""

import time
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.app import hosting, offered_models
from attnviz.server.turns import BusyError, TooLongError, Turns

PATIENCE = 10  # seconds


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    yield
    hosting.use(None)


def page() -> None:
    import streamlit as st

    from attnviz.app import hosting

    place = st.container()
    st.text_input("Sentence", key="sentence")
    try:
        hosting.wait(place)
    except ValueError as refusal:
        place.error(str(refusal))
        st.stop()
    st.text("answered")


class Queue:
    """A queue whose `take` is the test's."""

    has_turn = is_over = False

    def __init__(self, take) -> None:
        self.take = take

    def give_back(self) -> float:
        return 0.0


def share(take) -> None:
    hosting.use(hosting.Hosting(Queue(take), str, lambda role: role == "teacher"))


def share_turns(seconds: float = 60.0) -> Turns:
    turns = Turns(1, most=9, seconds=seconds)
    hosting.use(hosting.Hosting(turns, str, lambda _: False))
    return turns


def test_the_waiting_note_goes_when_the_turn_comes() -> None:
    seen: list[int] = []

    def take(address, tell) -> None:
        for left in (2, 1):
            tell(f"{left} others are before you.")
            seen.append(left)

    share(take)
    app = AppTest.from_function(page).run()
    assert seen == [2, 1]
    assert [text.value for text in app.text] == ["answered"]
    assert len(app.info) == 0


def test_the_words_say_how_many_are_before() -> None:
    def take(address, tell) -> None:
        tell("2 others are before you.")
        raise BusyError("Too many wait.")

    share(take)
    app = AppTest.from_function(page).run()
    assert [info.value.replace("\\", "") for info in app.info] == ["2 others are before you."]


def test_a_refused_run_keeps_the_typed_text() -> None:
    def take(address, tell) -> None:
        raise BusyError("9 runs wait for their turn.")

    app = AppTest.from_function(page).run()
    app.text_input(key="sentence").set_value("I love you.")
    share(take)
    app.run()
    assert [error.value for error in app.error] == ["9 runs wait for their turn."]
    assert app.text_input(key="sentence").value == "I love you."
    assert not app.text


def test_without_a_server_that_many_share_nobody_waits() -> None:
    assert [text.value for text in AppTest.from_function(page).run().text] == ["answered"]
    assert not hosting.may_open_any()


def test_a_model_that_is_not_offered_opens_for_a_teacher_alone(monkeypatch) -> None:
    monkeypatch.setenv(offered_models.VARIABLE, "")
    roles = iter(["student", "", "teacher"])
    share(lambda *_: None)
    monkeypatch.setattr(hosting, "role", lambda: next(roles))
    assert [offered_models.is_offered("some/model") for _ in range(3)] == [False, False, True]


def pressing() -> None:
    import streamlit as st

    from attnviz.app import hosting

    def compute() -> None:
        before = hosting._hosting[0].queue.has_turn
        hosting.ensure_turn()
        st.session_state["turns"] = before, hosting._hosting[0].queue.has_turn

    st.button("Compute", on_click=compute, key="compute")


def test_what_a_callback_computes_has_a_turn() -> None:
    share_turns()
    app = AppTest.from_function(pressing).run()
    app.button(key="compute").click().run()
    assert app.session_state["turns"] == (False, True)


def test_a_file_made_on_demand_is_made_in_a_turn_which_ends_with_it() -> None:
    turns = share_turns()
    make = hosting.file_in_turn(lambda: bytes([turns.running_count]))
    assert make() == b"\1"
    assert turns.running_count == 0
    with pytest.raises(ZeroDivisionError):
        hosting.file_in_turn(lambda: bytes(1 // 0))()
    assert turns.running_count == 0


def test_a_file_that_takes_too_long_is_ended() -> None:
    share_turns(seconds=0.2)

    def make() -> bytes:
        while not hosting.is_over():
            time.sleep(0.01)
        time.sleep(PATIENCE)
        return b""

    with pytest.raises(TooLongError, match="longer than the"):
        hosting.file_in_turn(make)()
