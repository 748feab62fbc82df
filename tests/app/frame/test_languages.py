"""A model of many languages: which one it writes is chosen from a list, named in the source, or said to be open."""

import pytest

from attnviz.kit.wire import unpack
from tests.app.pages.on_screen import notes
from tests.models.huggingface.families import FAMILIES


def test_a_source_names_its_language_on_every_page(open_page, tmp_path) -> None:
    """NLLB, as it is published: unsaid, a note says how; said, targets begin with it; unknown, one sentence."""
    model = str(FAMILIES["NLLB"](tmp_path / "nllb"))
    said = notes(open_page("heads", model=model))
    assert "No target language was chosen. Please choose a language under “To”, or begin the source with >>" in said
    for page in ("heads", "masks", "decoding"):
        app = open_page(page, model=model, src=">>fra_Latn<< I love you.")
        assert not app.exception
        assert not app.error
        assert "begin the source with" not in notes(app)
    app = open_page("heads", model=model, src=">>tlh<< I love you.")
    assert not app.exception
    assert len(app.error) == 1
    assert "The model does not know the language “tlh”. It has " in notes(app)


@pytest.fixture(scope="module")
def nllb(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(FAMILIES["NLLB"](tmp_path_factory.mktemp("hf") / "nllb"))


@pytest.mark.parametrize("page", ["masks", "decoding", "anatomy"])
def test_a_language_is_chosen_from_a_list_on_every_page(open_page, nllb: str, page: str) -> None:
    app = open_page(page, model=nllb, src="I love you.", to="fra_Latn")
    assert not app.exception
    assert not app.error
    assert app.selectbox(key="to-shown").value == "fra_Latn"
    assert "No target language was chosen" not in notes(app)


def test_the_list_names_languages_and_a_choice_reaches_the_model(open_page, nllb: str) -> None:
    app = open_page("heads", model=nllb, src="I love you.")
    to = app.selectbox(key="to-shown")
    assert to.value == ""
    assert to.options[0] == "not chosen"
    assert {"French, fra_Latn", "German, deu_Latn", "Chinese, zho_Hans"} <= set(to.options)
    to.set_value("deu_Latn").run()
    assert not app.exception
    assert app.session_state["address"].shared["to"] == "deu_Latn"
    (component,) = [part for part in app.get("bidi_component") if part.proto.bytes]
    assert "deu_Latn" in str(unpack(component.proto.bytes).header)


def test_a_mark_in_the_source_holds_before_the_list_and_says_so(open_page, nllb: str) -> None:
    app = open_page("heads", model=nllb, src=">>fra_Latn<< I love you.", to="deu_Latn")
    assert not app.exception
    assert "overrides the language that you chose (deu_Latn)" in notes(app)
    (component,) = [part for part in app.get("bidi_component") if part.proto.bytes]
    assert "deu_Latn" not in str(unpack(component.proto.bytes).header)


def test_a_language_in_a_link_that_the_model_has_not_is_said(open_page, nllb: str) -> None:
    app = open_page("heads", model=nllb, src="I love you.", to="tlh")
    assert not app.exception
    assert "The link asks for the language “tlh”, but this model writes ace_Arab" in notes(app)
