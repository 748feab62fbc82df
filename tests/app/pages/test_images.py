"""Every page with a model that reads images: it works, or gives its reason in one sentence."""

import pytest

from attnviz.kit.wire import unpack
from tests.models.huggingface.images.vision import processor, vision_model

TABS = ("", "heads", "links", "model", "row", "neuron", "patches")
SAYS = dict.fromkeys(("decoding", "causes", "anatomy", "implementations"), "shows texts, and dinov2 reads images")


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("images") / "dinov2"
    vision_model("dinov2 with registers").save_pretrained(place)
    processor("dinov2 with registers").save_pretrained(place)
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
