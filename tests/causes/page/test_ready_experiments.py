"""Ready experiments on the Causes page, without a browser."""

import pytest

from attnviz.causes.numbers.experiments import ready_experiments
from attnviz.causes.page import state
from attnviz.causes.page.state import TABS
from attnviz.models.catalogue import DEFAULT
from tests.app.pages.on_screen import notes


@pytest.mark.parametrize("name", ["names-exchanged", "one-vector"])
def test_a_link_sets_everything_up_and_the_panel_tells_it(open_page, name) -> None:
    one = next(each for each in ready_experiments() if each.name == name)
    app = open_page("causes", experiment=name, **one.address)
    assert not app.exception
    (panel,) = [part for part in app.expander if one.title in part.label.replace("\\", "")]
    assert f"“{one.typed_sentence}”: “{one.before}” becomes “**{one.after}**”" in panel.label.replace("\\", "")
    assert not panel.proto.expanded, "the switches stay in sight"
    told = "\n".join(part.value for part in app.markdown).replace("\\", "")
    assert one.fill_numbers(one.numbers) in told
    assert (
        f"These results were computed with other weights of the model ({one.weights}). Press “Count again” "
        "to compute them with the present weights."
    ) in notes(app)


def test_choosing_one_leaves_nothing_of_the_one_before(monkeypatch) -> None:
    written = {}
    monkeypatch.setattr(state.persistent, "text", lambda name: "gpt2" if name == "model" else "")
    monkeypatch.setattr(state.persistent, "write_model", lambda name: written.update(model=name))
    monkeypatch.setattr(state.persistent, "write", written.update)
    monkeypatch.setattr(state.st, "session_state", {"ready-experiment": "One vector turns elle into il"})
    state._use()
    assert written["model"] == DEFAULT
    assert written["tab"] == "patch"
    assert written["experiment"] == "one-vector"
    assert written["do"] is written["tgt"] is None


def test_every_experiment_opens_a_tab_that_there_is() -> None:
    assert {one.address["tab"] for one in ready_experiments()} <= set(TABS)
    assert all(one.address["to"] == "fr" for one in ready_experiments())


def test_a_model_of_somebody_else_is_told_whose_experiment_it_is(open_page, folder) -> None:
    app = open_page("causes", model=folder("gpt2"), src="It was late.", experiment="no-cross", tab="sentences")
    assert not app.exception
    assert any("needs the shipped translator" in caption.value for caption in app.caption)
    app.button(key="ready-close").click().run()
    assert not any("Without cross" in part.label for part in app.expander)


def test_an_experiment_that_there_is_not_is_said(open_page) -> None:
    app = open_page("causes", src="I love", to="fr", experiment="perpetual-motion")
    assert not app.exception
    assert "perpetual-motion" in notes(app)
