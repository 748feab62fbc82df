"""What a link has said of the top bar stays in force at the first change of page, which Streamlit forgets."""

from streamlit.testing.v1 import AppTest


def _bar() -> None:
    import streamlit as st

    from attnviz.ui import kept

    kept.hand_over(st.session_state["asked-for"])
    kept.text("src", "Prompt", value="usual")
    kept.number("new", "Tokens to write", low=0, high=9, value=8)


def _next_page(app: AppTest) -> AppTest:
    """Another page's first run, as Streamlit begins it: without the inputs' values, and with an empty address."""
    after = AppTest.from_function(_bar)
    for key in ("page", "kept-texts"):
        after.session_state[key] = app.session_state[key]
    after.session_state["asked-for"] = "second"
    return after.run()


def _opened(**params: str) -> AppTest:
    app = AppTest.from_function(_bar)
    app.session_state["asked-for"] = "first"
    for key, text in params.items():
        app.query_params[key] = text
    return app.run()


def test_a_text_and_a_number_of_a_link_are_set_again() -> None:
    app = _next_page(_opened(src="dog", new="0"))
    assert not app.exception
    assert app.text_input(key="src").value == "dog"
    assert app.number_input(key="new").value == 0
    assert app.query_params["new"] == "0"


def test_what_is_usual_is_left_to_the_next_page() -> None:
    app = _next_page(_opened())
    assert (app.text_input(key="src").value, app.number_input(key="new").value) == ("usual", 8)
    assert "new" not in app.query_params
