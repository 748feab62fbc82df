"""Which picture a link is drawn as: a widget's, in the state that the link says, a tab that is HTML, or a still."""

from collections.abc import Callable

import pytest

from attnviz.lessons.folder.drawn import Drawn, draw
from attnviz.lessons.phrases import translate
from attnviz.lessons.picture import Pictures, pictures
from attnviz.lessons.reading import link_of
from attnviz.toys import shipped
from tests.each_case import each_case

LOVE = "src=I+love+you.&to=fr"


@pytest.fixture(scope="module")
def run() -> Pictures:
    return pictures()


@pytest.fixture(scope="module")
def drawn(run: Pictures) -> Callable[[str], Drawn]:
    def draw_link(address: str) -> Drawn:
        link = link_of(address)
        assert link is not None
        shown = None if link.page == "Learning" else run(link)
        return draw(link, shown, None, lambda said: said, run=run, folder=shipped.FOLDER)

    return draw_link


@each_case(
    ("address", "widget"),
    [
        (f"/heads?{LOVE}", "heads"),
        (f"/heads?{LOVE}&tab=links", "links"),
        (f"/heads?{LOVE}&tab=model", "every_head"),
        (f"/heads?{LOVE}&tab=row&row=1", "every_head"),
        (f"/heads?{LOVE}&tab=neuron", "neuron"),
        (f"/heads?{LOVE}&tab=alignment", "alignment"),
        (f"/heads?{LOVE}&tab=flow", "flow"),
        (f"/heads?{LOVE}&tab=spans", "span_shares"),
        (f"/masks?{LOVE}&masks=causal&fill=-1e9", "mask_lab"),
        (f"/masks?{LOVE}&second=Hello.&item=1", "mask_lab"),
        (f"/decoding?{LOVE}&causal=none", "stepper"),
        (f"/decoding?{LOVE}&do=off.cross.0.1", "stepper"),
        ("/learning?task=reverse&second=without-positions", "learning"),
        ("/learning?recording=reverse.npz&moment=3", "learning"),
        (f"/causes?{LOVE}", "switches"),
        (f"/causes?{LOVE}&tab=patch&changed=I+love+him.", "patching"),
        (f"/causes?{LOVE}&tab=attribute", "attribution"),
        (f"/causes?{LOVE}&tab=compare&other=I+love+him.", "compared"),
        (f"/causes?{LOVE}&tab=compare&by=language&into=de", "compared"),
        (f"/causes?{LOVE}&tab=compare", "compared"),
        (f"/causes?{LOVE}&tab=compare&by=mask&rule=causal", "compared"),
        (f"/causes?{LOVE}&tab=compare&by=do&do=off.cross.0.1", "compared"),
        ("/causes?model=toy:french&src=the+red+cat&tab=compare&by=model", "compared"),
    ],
)
def test_what_a_widget_can_draw_is_live(drawn: Callable[[str], Drawn], address: str, widget: str) -> None:
    found = drawn(address)
    assert (found.widget, found.html) == (widget, "")
    assert found.opened is not None
    assert found.opened.header["caption"]


@each_case(
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
    ],
)
def test_what_needs_a_model_stands_still(drawn: Callable[[str], Drawn], address: str, part: str) -> None:
    found = drawn(address)
    assert (found.widget, found.opened, found.parts) == ("", None, ())
    assert part in found.html


def test_a_picture_is_in_the_state_that_its_link_says(drawn: Callable[[str], Drawn]) -> None:
    found = drawn(f"/heads?{LOVE}&kind=decoder_self&layer=1&head=3&row=2&mask=1")
    assert found.site == ("decoder_self", 1, 3)
    assert found.opened is not None
    assert (found.opened.header["view"]["row"], found.opened.header["view"]["mask"]) == (2, True)


def test_a_still_says_why_it_is_one_in_the_language_of_the_lesson(drawn: Callable[[str], Drawn]) -> None:
    note = drawn(f"/anatomy?{LOVE}").note
    assert str(note) == "This picture cannot be changed here: the page Anatomy of attnviz needs a running model."
    assert translate(note, "de") == "Ein Standbild: Die Seite Anatomy von attnviz braucht ein laufendes Modell."


@pytest.mark.parametrize("address", [f"/causes?{LOVE}&tab=patch", f"/causes?{LOVE}&tab=sentences&read=1&sentences=own"])
def test_a_link_that_leaves_its_picture_open_shows_none(drawn: Callable[[str], Drawn], address: str) -> None:
    found = drawn(address)
    assert (found.widget, found.html, found.parts) == ("", "", ())
    assert found.note.startswith("No picture: this link to the tab “")


def test_heads_are_drawn_with_what_their_model_knows(drawn: Callable[[str], Drawn]) -> None:
    views = [drawn(f"/heads?{LOVE}&{more}").opened for more in ("tab=flow&by=alti", "cells=norm&tab=heads")]
    assert [made.header["view"][name] for made, name in zip(views, ("by", "cells"), strict=True) if made] == [
        "alti", "norm"
    ]  # fmt: skip


def test_links_open_on_the_head_in_focus_as_the_page_does(drawn: Callable[[str], Drawn]) -> None:
    found = drawn(f"/heads?{LOVE}&tab=links&kind=cross&layer=2&head=4&specials=hide").opened
    assert found is not None
    assert found.header["view"]["heads"] == [[2, 4]]
    assert "<eos>" not in found.header["cols"]


@each_case(
    ("address", "said"),
    [
        ("/learning?recording=file", r"put the file beside the lesson's, and write its name into the link"),
        ("/learning?recording=../run.npz", r"is not a file beside the lesson's, such as run\.npz\.$"),
        ("/learning?recording=absent.npz", r"There is no recording 'absent\.npz'\.$"),
        (f"/masks?{LOVE}&masks=nothing", "rules are"),
    ],
)
def test_what_cannot_be_followed_is_refused(drawn: Callable[[str], Drawn], address: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        drawn(address)
