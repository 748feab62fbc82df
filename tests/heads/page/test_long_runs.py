"""A long run of Heads, and the making of its pictures, say at which layer they are, and stop."""

import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app import progress
from attnviz.app.cache import pictures, traces
from attnviz.heads.page import page

PAIR = {"src": "I love you", "to": "fr", "tgt": "un chien rouge"}


@pytest.fixture(autouse=True)
def _nothing_is_made_before() -> None:
    traces._traces.forget(lambda _: True)
    pictures._made.forget(lambda _: True)


@pytest.mark.parametrize(
    ("key", "home", "name", "says", "again"),
    [
        ("trace", progress, "run_pass", "Running the model: pass 1, ", "Run again"),
        ("maps", page, "make_maps", "Making every head's map: ", "Go on"),
    ],
)
def test_long_work_shows_its_layer_and_stops_until_it_is_asked_for_again(
    key, home, name, says, again, open_page, monkeypatch
) -> None:
    """Streamlit ends the run at the next thing that it draws, after a click on Stop."""
    monkeypatch.setattr("attnviz.transformer.probe._PATIENCE", 0.0)
    monkeypatch.setattr("attnviz.heads.heads.LONG", 0)  # so that every head is looked at once, layer by layer
    drawn: list[str] = []

    def draw_until_stopped(_: float, text: str) -> None:
        drawn.append(text)
        if text.endswith(" left") and len(asked) == 1:
            progress._remember((key, asked[-1]))
            st.rerun()

    asked: list[object] = []
    run = getattr(home, name)

    def watched(key: str, subject: object, layers: int, make):
        asked.append(subject)
        monkeypatch.setattr(progress, "PATIENCE", 0.0)
        try:
            return run(key, subject, layers, make)
        finally:
            monkeypatch.setattr(progress, "PATIENCE", 60.0)

    monkeypatch.setattr(progress, "PATIENCE", 60.0)
    monkeypatch.setattr(home, name, watched)
    monkeypatch.setattr(DeltaGenerator, "progress", lambda _, *told, **how: draw_until_stopped(*told, **how))
    app = open_page("heads", **PAIR)
    assert not app.exception
    assert {text.startswith(says) for text in drawn} == {True}
    assert any(text.endswith("1 of 2 layers, about 1 s left") for text in drawn)
    assert any("was stopped" in note.value for note in app.info)
    assert not [part for part in app.get("bidi_component") if part.proto.bytes], "no picture"
    next(button for button in app.button if button.label == again).click().run()
    assert [part for part in app.get("bidi_component") if part.proto.bytes], "the picture"
    assert not app.info
