"""A long run of Heads says at which layer it is, and stops."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.ui import progress
from attnviz.ui.cache import traces

PAIR = {"src": "I love you", "to": "fr", "tgt": "un chien rouge"}


def test_a_long_run_shows_its_layer_and_stops_until_it_is_asked_for_again(open_page, monkeypatch) -> None:
    """Streamlit ends the run at the next thing that it draws, after a click on Stop."""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    traces._traces.forget(lambda _: True)
    drawn: list[str] = []

    def draw_until_stopped(_: float, text: str) -> None:
        drawn.append(text)
        if len(drawn) == 3:
            progress._remember(("trace", asked[-1]))
            st.rerun()

    asked: list[object] = []
    run_pass = progress.run_pass

    def watched(key: str, subject: object, layers: int, make):
        asked.append(subject)
        return run_pass(key, subject, layers, make)

    monkeypatch.setattr(progress, "run_pass", watched)
    monkeypatch.setattr(DeltaGenerator, "progress", lambda _, *told, **how: draw_until_stopped(*told, **how))
    app = open_page("heads", **PAIR)
    assert not app.exception
    assert len(drawn) == 3, "the run ended"
    assert all(text.startswith("Running the model: pass 1, ") for text in drawn)
    assert any("was stopped" in note.value for note in app.info)
    assert not [part for part in app.get("bidi_component") if part.proto.bytes], "no picture"
    next(button for button in app.button if button.label == "Run again").click().run()
    assert [part for part in app.get("bidi_component") if part.proto.bytes], "the picture"
    assert not app.info
