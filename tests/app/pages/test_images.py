"""Every page with a model that reads images: it works, or gives its reason in one sentence."""

from pathlib import Path

import numpy as np
import pytest
import torch

import attnviz
from attnviz.anatomy.implementations.page.state import TABS as IMPLEMENTATIONS
from attnviz.anatomy.page.experiment import MIRRORED
from attnviz.anatomy.page.experiment import TABS as ANATOMY
from attnviz.causes.numbers.whole_image import summary_effects
from attnviz.kit.wire import unpack
from attnviz.masks.masks import painting_to_text
from attnviz.models.example_images import TITLES, draw_example
from tests.causes.page.causes_page import head_numbers, notes
from tests.each_case import each_case
from tests.models.huggingface.images.vision import (
    broken_files,
    classifier,
    files,
    processor,
    two_towers,
    vision_model,
)
from tests.models.huggingface.tokenizers_made import word_pieces

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
    assert bar(app) is None  # it reads images alone
    headers = drawn(app)
    assert any(
        header.get("caption", {}).get("sentence") == "\u2068an image of 3 × 5 patches\u2069" for header in headers
    )
    if tab in ("", "patches"):
        (data,) = [header["data"] for header in headers if "data" in header]
        assert data["tokens"][:5] == ["[CLS]", "[REG 0]", "[REG 1]", "[REG 2]", "r0c0"]
    offered = next(group for group in app.button_group if group.label == "View").options
    assert {"Alignment", "Flow", "Spans"}.isdisjoint(offered)


@pytest.mark.parametrize("page", ["", "masks", "decoding"])
def test_another_page_shows_an_image_or_says_why_not(open_page, seeing: str, page: str) -> None:
    app = open_page(page, model=seeing, image="boat")
    assert not app.exception
    said = [error.value.replace("\\", "") for error in app.error]
    assert len(said) == (page in SAYS)
    assert page not in SAYS or SAYS[page] in said[0]


def test_an_upload_is_shown_or_refused_in_one_sentence(open_page, seeing: str) -> None:
    app = open_page("heads", model=seeing, image="cat", tab="patches")

    def upload(name: str, content: bytes) -> list[str]:
        app.file_uploader[0].set_value((name, content, "image/png")).run()
        assert not app.exception
        return [error.value for error in app.error]

    for name, (content, why) in broken_files().items():
        (error,) = upload(name, content)
        assert why in error, name
        assert param(app, "image") == "cat", name
    assert upload("large.png", b"0" * 10_000_001) == ["The file is larger than 10 MB. Please choose a smaller one."]
    for name, (content, note) in files().items():
        assert not upload(name, content)
        assert param(app, "image").startswith("own:"), name
        assert note in said(app), name
        assert app.selectbox(key="pick-image").value == param(app, "image")
    last = param(app, "image")
    upload("again.png", files()["grey.png"][0])  # it is chosen again, under the title that it had
    assert param(app, "image") != last
    assert app.selectbox(key="pick-image").options[len(TITLES) :] == list(files())


def test_equal_titles_are_told_apart(open_page, seeing: str) -> None:
    """Streamlit's list takes the last of two equal titles, and what is pasted is always called image.png."""
    app = open_page("heads", model=seeing, image="cat", tab="patches")
    for content in (files()["grey.png"][0], files()["deep.png"][0]):
        app.file_uploader[0].set_value(("image.png", content, "image/png")).run()
    assert app.selectbox(key="pick-image").options[len(TITLES) :] == ["image.png", "image.png (2)"]


def test_a_model_of_two_towers_has_a_choice_in_the_bar_and_in_the_link(open_page, tmp_path: Path) -> None:
    for part in (two_towers("CLIPModel", "CLIPConfig", "clip"), word_pieces(), processor("clip")):
        part.save_pretrained(tmp_path / "clip")
    folder = str(tmp_path / "clip")
    app = open_page("heads", model=folder)
    assert not app.exception
    assert (bar(app), app.selectbox(key="pick-image").value) == ("image", "ball")
    app = app.button_group(key="tower-shown").set_value("text").run()
    assert errors(app) == []
    assert (bar(app), param(app, "model")) == ("text", f"{folder}#text")
    assert any(field.label == "Sentence" for field in app.text_input)
    assert not app.number_input  # it writes nothing
    assert app.selectbox(key="model-shown").value == folder
    assert "Patches" not in next(group for group in app.button_group if group.label == "View").options
    app = open_page("masks", model=f"{folder}#text", src="I see a cat.")
    assert (errors(app), bar(app)) == ([], "text")
    app = app.button_group(key="tower-shown").set_value("image").run()
    assert (errors(app), param(app, "model")) == ([], folder)


def param(app, name: str) -> str:
    """Return a parameter of the address, which AppTest holds as a text or as a list of one."""
    found = app.query_params[name]
    return found if isinstance(found, str) else found[0]


def errors(app) -> list[str]:
    assert not app.exception
    return [error.value for error in app.error]


def said(app) -> str:
    """Return the notes above the picture, as they read."""
    return " ".join(info.value.replace("\\", "") for info in app.info)


def bar(app) -> str | None:
    """Return what the choice Text / Image shows, or None without the choice."""
    return next((group.value for group in app.button_group if group.label == "Reads"), None)


def test_masks_hides_patches_and_offers_what_makes_sense_for_images(open_page, seeing: str) -> None:
    visible = np.ones((3, 5), dtype=bool)
    visible[1, 2:4] = False
    hidden = painting_to_text(visible)
    app = open_page("masks", model=seeing, image="cat", hidden=hidden, masks="causal~random_0.5_1", second="I see.")
    assert not app.exception
    (data,) = [header["data"] for header in drawn(app) if "data" in header]
    assert data["hidden"] == hidden
    assert "Rules for texts are left out, because patches have no order: causal." in said(app)
    assert "The second sentence is left out" in said(app)
    tabs = next(group for group in app.button_group if group.label == "Part of the laboratory")
    assert (tabs.value, tabs.options[:2]) == ("hide", ["Hide patches", "Pipeline"])
    assert {"Leak test", "Row by row"}.isdisjoint(tabs.options)
    app = app.button(key="show-all-patches").click().run()
    (data,) = [header["data"] for header in drawn(app) if "data" in header]
    assert data["hidden"] == ""
    for tab in ("pipeline", "says", "fills", "broadcast"):
        app = next(group for group in app.button_group if group.label == "Part of the laboratory").set_value(tab).run()
        assert not app.exception, tab
        assert not app.error, tab
        assert next(group for group in app.button_group if group.label == "Masks, combined with &").options == [
            "random"
        ]
        assert "Second sentence of the batch" not in [field.label for field in app.text_input]


def test_masks_says_what_of_a_link_does_not_fit(open_page, seeing: str) -> None:
    hidden = painting_to_text(np.arange(16).reshape(4, 4) > 2)
    app = open_page("masks", model=seeing, image="cat", hidden=hidden, tab="leak")
    assert not app.exception
    assert "The tab Leak test is not for an image. The tab Hide patches is shown instead." in said(app)
    assert "drawn on a grid of 4 × 4 patches, but this image has 3 × 5" in said(app)
    app = open_page("masks", tab="hide")
    assert "The tab Hide patches is not for a text." in said(app)


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
