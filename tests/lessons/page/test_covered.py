"""Pages of a lesson, without a browser: no message holds covered numbers."""

import numpy as np
import pytest

from tests.lessons.page.lesson_page import cross, page_text, payload


def test_the_covered_heads_numbers_are_not_sent(open_lesson, open_page) -> None:
    app = open_lesson()
    assert not app.exception
    weights = cross(app)
    assert not weights[1, 0].any()
    assert weights[0, 0].any()
    kind = next(one for one in payload(app).header["kinds"] if one["kind"] == "cross")
    assert kind["covered"] == {
        "heads": [[1, 0]],
        "rows": None,
        "said": "Covered until you answer the question or skip it.",
    }
    small = kind["overview"]
    size = small["height"] * small["width"]
    heads = kind["shape"][1]
    thumbs = np.frombuffer(payload(app).blobs, np.uint8, size, small["offset"] + heads * size)
    assert not thumbs.any(), "the small picture of layer 1, head 0"


def test_metrics_of_a_covered_head_are_not_sent(open_lesson) -> None:
    app = open_lesson()
    sent = payload(app)
    names = sent.header["metrics"]["names"]
    layers, heads, *_ = next(kind["shape"] for kind in sent.header["kinds"] if kind["kind"] == "cross")
    start = sent.header["metrics"]["offsets"]["cross"] + 8 * len(names)
    codes = np.frombuffer(sent.blobs, "<u2", len(names) * layers * heads, start).reshape(len(names), layers, heads)
    assert (codes[:, 1, 0] == 65535).all()
    assert (codes[:, 0, 0] != 65535).any()


@pytest.mark.parametrize("texts", [{"table": "1"}, {"plotly": "1"}, {"words": "1"}, {"head": "mean"}])
def test_no_table_no_figure_and_no_file_has_them(open_lesson, texts: dict[str, str]) -> None:
    app = open_lesson(**texts)
    assert not app.dataframe
    assert not app.get("plotly_chart")
    assert not [button for button in app.get("download_button") if "npz" in button.proto.label]
    assert not cross(app)[1, 0].any()


@pytest.mark.parametrize("tab", ["links", "model", "neuron"])
def test_other_tabs_of_the_same_head_are_covered(open_lesson, tab: str) -> None:
    app = open_lesson(tab=tab)
    assert "Covered until" in page_text(app)
    assert not [part for part in app.get("bidi_component") if len(part.proto.bytes) > 500]


@pytest.mark.parametrize("page", ["masks", "decoding", "anatomy", "implementations", "learning", ""])
def test_another_page_shows_nothing_of_it(open_lesson, page: str) -> None:
    app = open_lesson(page)
    assert not app.exception
    assert "Covered until" in page_text(app)
    assert not [part for part in app.get("bidi_component") if len(part.proto.bytes) > 500]


def test_a_covered_page_with_a_bar_of_its_own_has_its_style(open_lesson) -> None:
    assert any(".st-key-learning-bar" in part.proto.body for part in open_lesson("learning").get("html"))


def test_of_a_covered_row_the_others_are_sent(open_lesson) -> None:
    weights = cross(open_lesson(step=2))[1, 0]
    assert not weights[1].any()
    assert weights[0].any()
