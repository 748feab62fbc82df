"""Widgets that show a choice and write it back."""

from streamlit.testing.v1 import AppTest


def _page() -> None:
    import streamlit as st

    from attnviz.ui.address import persistent, widgets

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
