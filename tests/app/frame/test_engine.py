"""Pages whose models run on an engine: no page knows, and when the engine is gone each says so and goes on."""

import time
from collections.abc import Iterator
from contextlib import closing
from itertools import cycle

import pytest
import streamlit as st

from attnviz.app.cache import engine as configured
from attnviz.app.cache import traces
from attnviz.engine import client
from attnviz.models import catalogue
from tests.engine.served import TOKEN, Served, serve_models

PAGES = ("heads", "masks", "decoding", "causes", "anatomy", "implementations")
NEEDS_THE_MODEL = {"anatomy", "implementations"}
GONE = "does not answer"


@pytest.fixture(scope="module")
def served_engine(folder, tiny_catalogue) -> Iterator[Served]:
    """Provide an engine with a decoder, an encoder-decoder, and the model that is shipped."""
    models = {name: catalogue.load(folder(name)) for name in ("gpt2", "bart")}
    shipped = catalogue.load(str(tiny_catalogue / catalogue.DEFAULT))
    with serve_models({**models, catalogue.DEFAULT: shipped}) as running:
        yield running


@pytest.fixture(autouse=True)
def _connect(served_engine: Served, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Connect the dashboard of this process to that engine, and offer no other model than its own."""
    for name, seconds in (("_PAUSE", 0.01), ("_GONE_AFTER", 0.1), ("_LOOK_AGAIN", 0.05), ("_SELDOMEST", 0.1)):
        monkeypatch.setattr(client, name, seconds)
    monkeypatch.setenv("ATTNVIZ_ENGINE", served_engine.address)
    monkeypatch.setenv("ATTNVIZ_ENGINE_TOKEN", TOKEN)
    monkeypatch.setenv("ATTNVIZ_MODELS", "")
    _forget()
    yield
    with closing(configured._engine_of((served_engine.address, TOKEN))):
        _forget()


def _forget() -> None:
    """Forget what the last test has loaded, so that no other test's model is taken for the engine's."""
    st.cache_resource.clear()
    configured._engine_of.cache_clear()
    traces._shipped.forget(lambda _: True)
    traces._others.forget(lambda _: True)
    traces._traces.forget(lambda _: True)


@pytest.mark.parametrize(("page", "name"), [*zip(PAGES, cycle(["gpt2", "bart"]), strict=False)])
def test_a_page_shows_the_engines_model_or_says_why_not(open_page, page: str, name: str) -> None:
    app = open_page(page, model=name, src="I love you.", new="2")
    assert not app.exception
    errors = [error.value.replace("\\", "") for error in app.error]
    if page in NEEDS_THE_MODEL:
        assert len(errors) == 1
        assert f"{name} runs on the engine" in errors[0]
    else:
        assert not errors
        assert not app.warning


@pytest.mark.parametrize(
    ("page", "tab", "more"),
    [
        *(("heads", tab, {}) for tab in ("links", "model", "row", "neuron", "alignment", "flow", "spans")),
        *(("causes", tab, {}) for tab in ("patch", "attribute", "compare", "sentences")),
        ("heads", "heads", {"do": "decoder_self.0.1=zero"}),
    ],
)
def test_every_tab_shows_it_or_says_why_not(open_page, page: str, tab: str, more: dict) -> None:
    app = open_page(page, model="bart", src="I love you.", tab=tab, **more)
    assert not app.exception
    for error in app.error:
        assert "runs on the engine" in error.value


def test_the_engines_models_stand_in_the_list(open_page) -> None:
    app = open_page("heads", src="I love you")
    assert app.selectbox(key="model-shown").options == ["tiny", "gpt2", "bart"]


def test_when_the_engine_is_gone_the_shipped_model_runs_here_and_when_it_is_back_so_is_its_model(
    open_page, served_engine: Served
) -> None:
    app = open_page("heads", model="gpt2", src="I love you.", new="2")
    assert not app.warning
    served_engine.stop()
    try:
        app.text_input(key="src-shown").set_value("You love me.").run()
        assert not app.exception
        assert not app.error
        (warning,) = app.warning
        assert GONE in warning.value
        assert "gpt2, needs the engine" in warning.value.replace("\\", "")
        assert app.selectbox(key="to-shown").value == "fr"  # a translator's control
        assert "gpt2" in app.query_params["model"]  # and the choice waits
    finally:
        served_engine.start()
    until = time.monotonic() + 60
    while app.warning and time.monotonic() < until:
        time.sleep(0.05)
        app.run()
    assert not app.exception
    assert not app.warning
    assert app.number_input(key="new-shown").value == 2
    assert app.text_input(key="src-shown").value == "You love me."


@pytest.mark.parametrize("page", ["heads", "decoding", "anatomy"])
def test_the_shipped_model_runs_without_the_engine(open_page, served_engine: Served, page: str) -> None:
    served_engine.stop()
    try:
        app = open_page(page, src="I love you", to="fr")
        assert not app.exception
        assert not app.error
        assert [GONE in warning.value for warning in app.warning] == [True]
    finally:
        served_engine.start()


def test_an_address_that_is_none_is_said(open_page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNVIZ_ENGINE", "engine:8600")
    app = open_page("heads", src="I love you", to="fr")
    assert not app.exception
    assert "ATTNVIZ_ENGINE is an address" in app.warning[0].value.replace("\\", "")
