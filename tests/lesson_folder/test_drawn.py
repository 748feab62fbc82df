"""Which picture a link is drawn as: a widget's, in the state that the link says, or a still."""

from collections.abc import Callable

import pytest

from attnviz.lesson_folder.drawn import Drawn, draw
from attnviz.lessons.parts import link_of
from attnviz.lessons.picture import Pictures, pictures

LOVE = "src=I+love+you.&to=fr"


@pytest.fixture(scope="module")
def run() -> Pictures:
    return pictures()


@pytest.fixture(scope="module")
def drawn(run: Pictures) -> Callable[[str], Drawn]:
    def draw_link(address: str) -> Drawn:
        link = link_of(address)
        assert link is not None
        return draw(link, None if link.page == "Learning" else run(link), None, str)

    return draw_link


@pytest.mark.parametrize(
    ("address", "widget"),
    [
        (f"/heads?{LOVE}", "heads"),
        (f"/heads?{LOVE}&tab=links", "links"),
        (f"/heads?{LOVE}&tab=model", "every_head"),
        (f"/heads?{LOVE}&tab=row&row=1", "every_head"),
        (f"/heads?{LOVE}&tab=neuron", "neuron"),
        (f"/heads?{LOVE}&tab=alignment", "alignment"),
        (f"/heads?{LOVE}&tab=flow", "flow"),
        (f"/masks?{LOVE}&masks=causal&fill=-1e9", "mask_lab"),
        (f"/masks?{LOVE}&tab=leak", "mask_lab"),
        (f"/decoding?{LOVE}&causal=none", "stepper"),
        ("/learning?task=reverse&second=without-positions", "learning"),
        (f"/causes?{LOVE}", "switches"),
        (f"/causes?{LOVE}&tab=patch&changed=I+love+him.", "patching"),
        (f"/causes?{LOVE}&tab=attribute", "attribution"),
        (f"/causes?{LOVE}&tab=compare&other=I+love+him.", "compared"),
        (f"/causes?{LOVE}&tab=compare&by=language&into=de", "compared"),
    ],
)
def test_what_a_widget_can_draw_is_live(drawn: Callable[[str], Drawn], address: str, widget: str) -> None:
    found = drawn(address)
    assert (found.widget, found.html) == (widget, "")
    assert found.opened is not None
    assert found.opened.header["caption"]


@pytest.mark.parametrize(
    ("address", "part"),
    [
        (f"/anatomy?{LOVE}", "<th>strides</th>"),
        (f"/anatomy?{LOVE}&tab=skip&skip=contiguous", "raises RuntimeError"),
        (f"/anatomy?{LOVE}&tab=claims", "<th>parameters</th>"),
        (f"/anatomy?{LOVE}&tab=modulation&kind=encoder_self&head=7", "the head&#x27;s own map, H7"),
        (f"/anatomy?{LOVE}&tab=memory", "<caption>Encoder self-attention, L0 H0</caption>"),
        (f"/implementations?{LOVE}&tab=bugs&bug=mask_transposed", "code-table change"),
        (f"/implementations?{LOVE}&tab=source&one=annotated&other=refactored", "code-table diff"),
        (f"/implementations?{LOVE}&tab=cost", "<caption>"),
        (f"/causes?{LOVE}&tab=sentences", "<caption>"),
        (f"/causes?{LOVE}&tab=compare&by=mask", "<caption>"),
        (f"/decoding?{LOVE}&do=off.cross.0.1", "<caption>"),
    ],
)
def test_what_needs_a_model_stands_still(drawn: Callable[[str], Drawn], address: str, part: str) -> None:
    found = drawn(address)
    assert (found.widget, found.opened) == ("", None)
    assert part in found.html


def test_a_picture_is_in_the_state_that_its_link_says(drawn: Callable[[str], Drawn]) -> None:
    found = drawn(f"/heads?{LOVE}&kind=decoder_self&layer=1&head=3&row=2&mask=1")
    assert found.site == ("decoder_self", 1, 3)
    assert found.opened is not None
    assert (found.opened.header["view"]["row"], found.opened.header["view"]["mask"]) == (2, True)


def test_a_tab_of_masks_says_that_the_laboratory_stands_for_it(drawn: Callable[[str], Drawn]) -> None:
    assert drawn(f"/masks?{LOVE}&tab=leak").tab == "Leak test"
    assert drawn(f"/masks?{LOVE}").tab == ""
