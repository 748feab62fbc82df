"""Every page with a model that reads images: it works, or gives its reason in one sentence."""

import numpy as np
import pytest
import torch

import attnviz
from attnviz.anatomy.implementations.page.state import TABS as IMPLEMENTATIONS
from attnviz.anatomy.page.experiment import MIRRORED
from attnviz.anatomy.page.experiment import TABS as ANATOMY
from attnviz.causes.numbers.whole_image import summary_effects
from attnviz.kit.wire import unpack
from attnviz.models.example_images import draw_example
from tests.causes.page.causes_page import head_numbers, notes
from tests.each_case import each_case
from tests.models.huggingface.images.vision import classifier, processor, vision_model

TABS = ("", "heads", "links", "model", "row", "neuron", "patches")
SAYS = {"decoding": "shows texts, and dinov2 reads images"}
OFF = "off.enc.1.2"


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("images") / "dinov2"
    vision_model("dinov2 with registers").save_pretrained(place)
    processor("dinov2 with registers").save_pretrained(place)
    return str(place)


@pytest.fixture(scope="module")
def naming(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("images") / "classifier"
    classifier("vit").save_pretrained(place)
    processor("vit").save_pretrained(place)
    return str(place)


def drawn(app) -> list[dict]:
    return [unpack(node.proto.bytes).header for node in app.get("bidi_component") if node.proto.bytes]


@pytest.mark.parametrize("tab", TABS)
def test_a_tab_of_heads_shows_an_image(open_page, seeing: str, tab: str) -> None:
    app = open_page("heads", model=seeing, image="cat", tab=tab)
    assert not app.exception
    assert not app.error
    headers = drawn(app)
    assert any(
        header.get("caption", {}).get("sentence") == "\u2068an image of 3 × 5 patches\u2069" for header in headers
    )
    if tab in ("", "patches"):
        (data,) = [header["data"] for header in headers if "data" in header]
        assert data["tokens"][:5] == ["[CLS]", "[REG 0]", "[REG 1]", "[REG 2]", "r0c0"]
    offered = next(group for group in app.button_group if group.label == "View").options
    assert {"Alignment", "Flow", "Spans"}.isdisjoint(offered)


@pytest.mark.parametrize("page", ["", "masks", "decoding", "causes", "anatomy", "implementations"])
def test_another_page_shows_an_image_or_says_why_not(open_page, seeing: str, page: str) -> None:
    app = open_page(page, model=seeing, image="boat")
    assert not app.exception
    said = [error.value.replace("\\", "") for error in app.error]
    assert len(said) == (page in SAYS)
    assert page not in SAYS or SAYS[page] in said[0]


def test_an_image_that_is_not_there_is_said_and_replaced(open_page, seeing: str) -> None:
    for image, says in (("own:0123", "uploaded image"), ("zebra", "no example image “zebra”")):
        app = open_page("heads", model=seeing, image=image)
        assert not app.exception
        assert any(says in str(node.value) for node in (*app.info, *app.warning, *app.caption, *app.markdown))


def test_a_text_model_has_no_tab_of_patches(open_page) -> None:
    app = open_page("heads")
    assert "Patches" not in next(group for group in app.button_group if group.label == "View").options


def test_from_patches_another_tab_can_be_chosen(open_page, seeing: str) -> None:
    app = open_page("heads", model=seeing)
    group = next(group for group in app.button_group if group.label == "View")
    app = group.set_value("heads").run()
    assert not app.exception
    assert next(group for group in app.button_group if group.label == "View").value == "heads"


def questions(app) -> list[str]:
    return list(next(group for group in app.button_group if group.label == "Question").options)


def test_a_head_of_a_classifier_is_switched_off_and_labels_are_compared(open_page, naming: str) -> None:
    app = open_page("causes", model=naming, image="cat", do=OFF)
    assert not app.exception
    assert not app.error
    (told,) = [header for header in drawn(app) if "strip" in header]
    model = attnviz.load(naming)
    done = attnviz.ablate("encoder_self", layer=1, heads=[2])
    plain, changed = (model.trace(draw_example("cat"), interventions=each).logits[0, 0] for each in ((), (done,)))
    best = plain.topk(5).indices.tolist()
    assert [token["text"] for token in told["strip"][:5]] == [f"thing {label}" for label in best]
    expected = [one.softmax(-1)[best].tolist() for one in (plain, changed)]
    shown = [[token["chance"][at] for token in told["strip"][:5]] for at in (0, 1)]
    np.testing.assert_allclose(shown, expected, atol=1e-5)
    assert told["done"] == ["encoder_self.1.2"]
    without = [
        model.trace(draw_example("cat"), interventions=[attnviz.ablate("encoder_self", layer=layer, heads=[head])])
        for layer in range(3) for head in range(5)
    ]  # fmt: skip
    label = int(plain.argmax())
    lost = [float(one.logits[0, 0].log_softmax(-1)[label] - plain.log_softmax(-1)[label]) for one in without]
    np.testing.assert_allclose(head_numbers(told, "nats"), lost, atol=1e-4)
    assert ["mean", "Mean"] not in told["options"]["put"]
    assert questions(app) == ["Switch off", "Attribute", "Compare"]


def test_the_score_of_a_label_is_a_sum(open_page, naming: str) -> None:
    app = open_page("causes", model=naming, image="cat", tab="attribute")
    assert not app.exception
    assert not app.error
    (told,) = [header for header in drawn(app) if "bars" in header]
    logits = attnviz.load(naming).trace(draw_example("cat")).logits[0, 0]
    assert told["token"] == f"thing {int(logits.argmax())}"
    assert sum(bar["value"] for bar in told["bars"]) == pytest.approx(float(logits.max()), abs=1e-4)
    assert sum(bool(bar["head"]) for bar in told["bars"]) == 15


def test_without_a_classifier_the_vector_of_the_image_is_compared(open_page, seeing: str) -> None:
    app = open_page("causes", model=seeing, image="boat", do=OFF)
    assert not app.exception
    assert not app.error
    (told,) = [header for header in drawn(app) if "strip" in header]
    model = attnviz.load(seeing)
    done = attnviz.ablate("encoder_self", layer=1, heads=[2])
    plain, changed = (model.trace(draw_example("boat"), interventions=each).memory[0, 0] for each in ((), (done,)))
    share, cosine = (changed - plain).norm() / plain.norm(), torch.cosine_similarity(plain, changed, dim=0)
    moved = f"The vector of [CLS] moves by {share:.1%} of its length, to a cosine of {cosine:.3f} with "
    assert told["said"][0].startswith(moved)
    effects = summary_effects(model, model.trace(draw_example("boat")))
    np.testing.assert_allclose(head_numbers(told, "nats"), effects.per_head, atol=1e-4)
    assert effects.per_head[7] == pytest.approx(float(share), abs=1e-5)
    assert questions(app) == ["Switch off", "Compare"]


@each_case("asked, says", [
    ({"tab": "patch"}, "Patch compares two sentences, so Switch off is shown instead."),
    ({"tab": "sentences"}, "Many sentences reads a list of sentences, so Switch off is shown instead."),
    ({"tab": "attribute"}, "this model has no classifier, so Switch off is shown instead."),
    ({"put": "mean"}, "Mean is not offered for images"),
    ({"do": "mean.enc.0.1"}, "The mean is measured over sentences, and"),
])  # fmt: skip
def test_what_images_do_not_have_is_said_in_one_sentence(open_page, seeing: str, asked: dict, says: str) -> None:
    app = open_page("causes", model=seeing, image="boat", **asked)
    assert not app.exception
    assert says in notes(app)
    assert any("strip" in header for header in drawn(app))


@each_case("asked", [{}, {"other": "boat"}, {"by": "do", "do": OFF}, {"by": "mask", "rule": "causal"}])
def test_two_runs_of_images_are_compared(open_page, naming: str, asked: dict) -> None:
    app = open_page("causes", model=naming, image="cat", tab="compare", **asked)
    assert not app.exception
    assert not app.error
    (told,) = [header for header in drawn(app) if "names" in header]
    assert all(group["in_step"] and max(group["apart"]) > 0 for group in told["groups"])
    assert len(told["strip"]) >= 5


@each_case(
    "page, tab", [*(("anatomy", tab) for tab in ANATOMY), *(("implementations", tab) for tab in IMPLEMENTATIONS)]
)
def test_a_layer_is_taken_apart_on_an_image(open_page, seeing: str, page: str, tab: str) -> None:
    app = open_page(page, model=seeing, image="boat", tab=tab, layer="1", head="2")
    assert not app.exception
    assert not app.error
    assert MIRRORED in [caption.value for caption in app.caption]
    assert not [field for field in app.text_input if "sentence" in field.label]
