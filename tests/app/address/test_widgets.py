"""Widgets that show a choice and write it back."""

from streamlit.testing.v1 import AppTest


def _page() -> None:
    import streamlit as st

    from attnviz.app.address import persistent, widgets

    heard = {}

    def draw(**more):
        heard.update(more)
        return "one"

    persistent.begin("Heads")
    widgets.show("field", "one", {"value": "one"}, draw, lambda: st.text(f"chosen: {st.session_state['field']}"))
    heard["on_change"]()
    st.session_state["field"] = "two"
    heard["on_change"]()


def test_a_change_that_is_told_of_a_field_that_is_gone_is_no_choice() -> None:
    """It is told where a page was left before all of it was drawn."""
    app = AppTest.from_function(_page).run()
    assert not app.exception
    assert [text.value for text in app.text] == ["chosen: two"]


def _two_texts() -> None:
    import streamlit as st

    from attnviz.app.address import persistent, stale_values, widgets

    persistent.begin("Heads")
    stale_values.begin("Heads")
    st.button("An example", on_click=persistent.write, args=({"first": "set here"},))
    for name in ("first", "second"):
        widgets.text_field(name, name, persistent.text(name, "as it was"), limit=20)
    stale_values.end()


def _type(app: AppTest, **texts: str) -> list[str | None]:
    """Return what both fields show once a browser that shows `texts`, by key, has sent them all."""
    for name, text in texts.items():
        app.text_input(name.replace("_", "-")).set_value(text)
    app.run()
    assert not app.exception
    return [app.text_input(f"pick-{name}").value for name in ("first", "second")]


def test_what_a_field_held_before_it_was_set_is_a_choice_only_once_the_browser_knows_of_it() -> None:
    app = AppTest.from_function(_two_texts).run()
    before = app.text_input("heard").value
    app.button[0].click().run()
    assert app.text_input("pick-first").value == "set here"

    late = _type(app, heard=before, pick_first="as it was", pick_second="typed")
    assert late == ["set here", "typed"]
    late = _type(app, heard=before, pick_first="typed, too")
    assert late == ["typed, too", "typed"]

    app.button[0].click().run()
    knowing = _type(app, pick_first="typed, too")
    assert knowing == ["typed, too", "typed"]


def _one_list() -> None:
    import streamlit as st

    from attnviz.app.address import persistent, widgets
    from attnviz.causes.page.one_token import token_list

    persistent.begin("Causes")
    step = st.number_input("step", value=1)
    widgets.select("row", "Row", ["0", "1"], "0", lambda row: f"{row} · {step}")
    token_list("a", "Token a", ["#1", "#2"], persistent.text("a", "#1"), {"#1": f"dog · {step}", "#2": f"cat · {step}"})


def test_a_token_that_stays_chosen_is_shown_with_the_numbers_of_the_step_in_view() -> None:
    """The browser keeps the title that it has until the value is set again."""
    app = AppTest.from_function(_one_list).run()
    assert not app.exception
    app.run()
    assert not app.selectbox("pick-a").proto.set_value
    app.number_input[0].set_value(2).run()
    shown = app.selectbox("pick-a").proto
    assert (shown.set_value, shown.raw_value) == (True, "dog · 2")
    assert app.selectbox("pick-row").proto.raw_value == "0 · 2"
    app.run()
    assert not app.selectbox("pick-a").proto.set_value
