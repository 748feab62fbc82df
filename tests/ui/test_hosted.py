"""On a server that many share, who waits for a turn sees why, and who is refused keeps what was typed."""

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.server.turns import BusyError
from attnviz.ui import hosted, offered


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    yield
    hosted.use(None)


def page() -> None:
    import streamlit as st

    from attnviz.ui import hosted

    place = st.container()
    st.text_input("Sentence", key="sentence")
    try:
        hosted.wait(place)
    except ValueError as refusal:
        place.error(str(refusal))
        st.stop()
    st.text("answered")


def share(take) -> None:
    hosted.use(hosted.Hosting(take, lambda role: role == "teacher"))


def test_who_waits_is_told_and_the_words_go_when_the_turn_comes() -> None:
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


def test_who_is_refused_keeps_what_was_typed() -> None:
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
    assert not hosted.may_open_any()


def test_a_model_that_is_not_offered_opens_for_a_teacher_alone(monkeypatch) -> None:
    monkeypatch.setenv(offered.VARIABLE, "")
    roles = iter(["student", "", "teacher"])
    share(lambda *_: None)
    monkeypatch.setattr(hosted, "role", lambda: next(roles))
    assert [offered.is_offered("some/model") for _ in range(3)] == [False, False, True]
