"""The drawing of the model on a page: of what the page looks at, and without numbers where there are none to show."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.kit.wire import unpack

ASKED = "_attnviz_drawing_asked"


@pytest.fixture
def open_drawing(open_page: Callable[..., AppTest]) -> Callable[..., dict]:
    """Provide the header of the drawing that a page opens."""

    def draw(page: str, **params: str) -> dict:
        app = open_page(page, **params)
        app.session_state[ASKED] = True
        app.run()
        assert not app.exception
        found = [part.proto.bytes for part in app.get("bidi_component") if b'"built":' in part.proto.bytes]
        (packed,) = found
        return unpack(packed).header

    return draw


def test_the_model_drawing_marks_the_pages_site(open_drawing) -> None:
    header = open_drawing("heads", src="a dog", to="fr", kind="encoder_self", layer="1", head="2", row="1")
    assert header["here"] == {"kind": "encoder_self", "layer": 1, "head": 2, "row": 1}
    assert header["run"]["kinds"]["encoder_self"]["layer"] == 1
    assert header["places"]["Masks"]["layer"] == "1"
    assert "a dog" in header["caption"]["sentence"]


def test_a_sentence_that_is_refused_leaves_the_drawing_without_numbers(open_drawing) -> None:
    header = open_drawing("masks", src=" ", to="fr")
    assert header["run"] is None
    assert header["why"].startswith("The sentence is empty")
    assert len(header["built"]["stacks"]) == 2


@pytest.mark.parametrize("page", ["learning", "lessons"])
def test_a_page_of_its_own_draws_the_model_that_waits(open_drawing, page: str) -> None:
    header = open_drawing(page, src="a dog", to="zh")
    assert header["run"]["tgt"][0] == "<bos:zh>"


def test_what_a_lesson_covers_is_not_in_the_drawing(open_drawing) -> None:
    header = open_drawing("heads", src="a dog", to="fr", lesson="1-what-a-head-looks-at", lesson_step="1")
    assert header["run"] is None
    assert header["why"] == "Covered until you answer the question or skip it."


def test_a_page_costs_nothing_until_the_drawing_is_asked_for(open_page) -> None:
    app = open_page("heads", src="a dog", to="fr")
    assert not any(b'"built":' in part.proto.bytes for part in app.get("bidi_component"))
