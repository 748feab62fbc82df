"""A toy that was trained in the class is opened by Heads, Masks, Decoding and Causes like any other model."""

import pytest

import attnviz
from attnviz.kit.wire import unpack
from attnviz.toys import shipped
from attnviz.toys.experiment import Experiment

LINE = "the black dogs see my small car"
PLAIN, BLIND = (str(shipped.path(Experiment("french", without=without))) for without in ((), ("causal-mask",)))


def picture_header(app) -> dict:
    return next(unpack(part.proto.bytes).header for part in app.get("bidi_component") if part.proto.bytes)


@pytest.mark.parametrize(
    ("page", "model"), [("heads", PLAIN), ("masks", BLIND), ("decoding", PLAIN), ("causes", BLIND)]
)
def test_a_page_shows_a_toy(open_page, page: str, model: str) -> None:
    app = open_page(page, model=model, src=LINE)
    assert not app.exception
    assert not app.error


@pytest.mark.parametrize("page", ["heads", "masks", "decoding", "causes"])
def test_a_page_shows_a_decoder_alone(open_page, tmp_path_factory, page: str) -> None:
    path = tmp_path_factory.getbasetemp() / "twice.npz"
    if not path.exists():
        attnviz.save(attnviz.learn("twice", steps=2), path)
    app = open_page(page, model=str(path), src="m a t h o l d e r s i k d", new="3")
    assert not app.exception
    assert not app.error


@pytest.mark.parametrize("tab", ["heads", "patches"])
def test_heads_shows_a_toy_of_images(open_page, tab: str) -> None:
    """The page shows a digit first, in the two pictures that it has for texts and for images."""
    app = open_page("heads", model="toy:digits", tab=tab)
    assert not app.exception
    assert not app.error
    assert ("pixels" in picture_header(app).get("arrays", {})) is (tab == "patches")
    (box,) = (box for box in app.selectbox if box.label == "Image")
    assert (box.value, len(box.options)) == ("digit-0", 16)


def test_one_pass_and_its_steps_are_equal_with_the_mask_and_differ_without(open_page) -> None:
    said = {}
    for name, model in (("with", PLAIN), ("without", BLIND)):
        app = open_page("decoding", model=model, src=LINE)
        said[name] = "data-verdict='equal'" in "".join(str(node.proto.body) for node in app.get("html"))
    assert said == {"with": True, "without": False}


@pytest.mark.parametrize(
    ("model", "words"), [(PLAIN, "KV cache"), (BLIND, "Recompute the prefix (positions see ahead")]
)
def test_a_toy_that_sees_ahead_is_not_said_to_step_on_a_cache(open_page, model: str, words: str) -> None:
    assert picture_header(open_page("decoding", model=model, src=LINE))["way"][0][0].startswith(words)


def test_a_word_that_a_toy_does_not_know_is_said_and_stays_typed(open_page) -> None:
    app = open_page("heads", model=PLAIN, src="the zebra sees my car")
    assert not app.exception
    (error,) = app.error
    assert "This toy does not know the word 'zebra'" in error.value.replace("\\", "")
    assert any(area.value == "the zebra sees my car" for area in (*app.text_area, *app.text_input))
