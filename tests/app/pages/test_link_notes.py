"""What is said about a link is said while it is true: not of a model or a language that was chosen since."""

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.models import catalogue
from attnviz.models.translator.tiny import tiny_translator
from attnviz.transformer import checkpoint

LINK = {"src": "I love you", "model": catalogue.DEFAULT, "v": "1"}
CHANGED, NO_SUCH = "weights have changed since this link was made", "asks for the language “xx”"


@pytest.fixture
def two_models(tmp_path, monkeypatch, open_page):
    """Make a second model beside the first: `open_page`, and the weights of both."""
    weights = {}
    for seed, (name, languages) in enumerate(((catalogue.DEFAULT, ["fr", "zh"]), ("second", ["fr"]))):
        tiny = tiny_translator(seed)
        checkpoint.save(tiny.model, tmp_path / name, about={"title": name, "languages": languages})
        tiny.codec.save(tmp_path / name / "tokenizer.json")
        weights[name] = catalogue.translator(tmp_path / name).model_id
    monkeypatch.setattr(catalogue, "SHIPPED", tmp_path)
    return open_page, weights


def notes(app: AppTest) -> str:
    assert not app.exception
    return "\n".join(note.value for note in (*app.error, *app.info)).replace("\\", "")


def choose(app: AppTest, label: str, value: str) -> AppTest:
    return next(box for box in app.selectbox if box.label == label).set_value(value).run()


@pytest.mark.parametrize("names_model", [True, False])
def test_the_weights_of_a_link_are_held_against_its_own_model_alone(two_models, names_model) -> None:
    open_page, weights = two_models
    link = {name: text for name, text in LINK.items() if names_model or name != "model"}
    app = open_page("heads", **link, to="fr", weights=weights[catalogue.DEFAULT])
    assert CHANGED not in notes(app)
    assert CHANGED not in notes(choose(app, "Model", "second"))
    app = open_page("heads", **link, to="fr", weights="0123abcd")
    assert CHANGED in notes(app)
    assert CHANGED not in notes(choose(app, "Model", "second"))
    assert CHANGED in notes(choose(app, "Model", catalogue.DEFAULT))


def test_a_language_that_a_model_does_not_write_is_no_news_once_another_is_chosen(two_models) -> None:
    open_page, _ = two_models
    app = open_page("heads", **LINK, to="xx")
    assert NO_SUCH in notes(app)
    assert NO_SUCH in notes(choose(app, "Model", "second"))
    choose(app, "Model", catalogue.DEFAULT)
    assert NO_SUCH not in notes(choose(app, "To", "zh"))
    assert NO_SUCH not in notes(choose(app, "Model", "second"))
