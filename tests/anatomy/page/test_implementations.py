"""The Implementations page without a browser: every part, every bug, every pair of sources, and bad links."""

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.implementations.bugs.cabinet import BUGS
from attnviz.implementations.ways import WAYS

LINK = {"src": "a big red dog jumped", "to": "fr", "layer": "1", "head": "2"}


def page_text(app: AppTest) -> str:
    """Return all words and HTML of the page."""
    notes = [note.value for note in (*app.error, *app.info, *app.markdown, *app.caption, *app.code, *app.text)]
    return "\n".join(notes + [part.proto.body for part in app.get("html")]).replace("\\", "")


def test_the_page_says_that_all_implementations_agree(open_page) -> None:
    app = open_page("implementations", **LINK)
    assert f"{len(WAYS)} implementations" in page_text(app)
    assert app.get("plotly_chart")


# One bug of each sort: it raises, it changes numbers, it leaks to another visitor. tests/implementations has every bug.
SORTS = {(bug.declared, bool(bug.step)): name for name, bug in BUGS.items()}


@pytest.mark.parametrize("name", SORTS.values())
def test_a_bug_of_each_sort_shows_its_error_or_its_damage(open_page, name: str) -> None:
    app = open_page("implementations", **LINK, kind="decoder_self", tab="bugs", bug=name)
    assert not app.exception
    text, bug = page_text(app), BUGS[name]
    assert bug.what in text
    assert bug.catch.__name__ in text
    assert "right attention: passes" in text
    assert "this bug: fails" in text or "this bug: raises" in text
    if bug.declared == "raises":
        assert "Error: " in text
    elif bug.step:
        assert "row sums" in text
        assert "logits" in text
    else:
        assert "the other visitor" in text


def test_short_sentences_are_measured_without_asking(open_page) -> None:
    app = open_page("implementations", **LINK, tab="cost")
    assert not app.exception
    assert "Measured up to 128 tokens so far" in page_text(app)
    assert app.get("plotly_chart")


def test_time_and_memory_are_measured_up_to_1024_tokens_when_asked(open_page) -> None:
    app = open_page("implementations", **LINK, tab="cost")
    app.button(key="measure-cost").click().run(timeout=120)
    assert not app.exception
    assert "so far" not in page_text(app)
    _, measured = app.session_state["measured-cost"]
    assert list(measured.columns) == ["way", "length", "seconds", "nbytes"]
    assert len(measured) == len(WAYS) * 7, "every way at seven lengths"
    assert measured["length"].max() == 1024
    assert (measured[["seconds", "nbytes"]] > 0).all(axis=None)
    assert app.get("plotly_chart")


@pytest.mark.parametrize(("axes", "word"), [("key", "prepare_mask says"), ("turned", "cannot find this mistake")])
def test_a_mask_that_is_refused_and_one_that_should_be_are_told_apart(open_page, axes: str, word: str) -> None:
    app = open_page("implementations", **LINK, tab="shapes", axes=axes)
    assert not app.exception
    assert word in page_text(app)
    assert app.get("plotly_chart")


def test_two_sources_stand_side_by_side(open_page) -> None:
    text = page_text(open_page("implementations", **LINK, tab="source", one="per_head", other="torch_fused"))
    assert "class PerHeadAttention" in text
    assert "class TorchFusedAttention" in text
    assert "class=differs" in text


def test_a_heads_slice_is_named(open_page) -> None:
    assert "W_Q[2] = W_q.weight[8:12].T" in str(
        [chart.proto.spec for chart in open_page("implementations", **LINK, tab="parameters").get("plotly_chart")]
    )


def test_each_wrong_part_of_a_link_is_told_and_the_page_goes_on(open_page) -> None:
    wrong = {"tab": "x", "bug": "none", "one": "x", "scope": "x", "reach": "99", "layer": "9"}
    app = open_page("implementations", **LINK | wrong)
    assert not app.exception
    assert [name for name in wrong if f"asks for {name}" not in page_text(app)] == []
    assert app.get("plotly_chart")


@pytest.mark.parametrize("src", ["", "   "])
def test_an_empty_sentence_is_answered_in_a_sentence(open_page, src: str) -> None:
    app = open_page("implementations", src="I love you")
    app.text_input(key="src-shown").set_value(src).run()
    assert not app.exception
    assert "empty" in page_text(app)
