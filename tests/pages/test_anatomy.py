"""The Anatomy page without a browser: every part on every kind of site, and what it says to bad input and bad links."""

import json

import pytest
from streamlit.testing.v1 import AppTest

PARTS = ("walk", "skip", "memory", "claims", "modulation")
KINDS = ("encoder_self", "decoder_self", "cross")


def said(app: AppTest) -> str:
    """Everything that the page says in words and HTML."""
    notes = [note.value for note in (*app.error, *app.info, *app.markdown, *app.caption, *app.code)]
    notes += [str(json.loads(part.proto.json)) for part in app.get("bidi_component")]
    return "\n".join(notes + [part.proto.body for part in app.get("html")]).replace("\\", "")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", PARTS)
def test_every_part_opens_on_every_kind(open_page, part: str, kind: str) -> None:
    app = open_page("anatomy", src="a big red dog jumped", to="fr", kind=kind, layer="1", head="2", part=part)
    assert not app.exception
    assert not app.error


@pytest.mark.parametrize("layout", ["batch_first", "sequence_first"])
def test_the_walk_shows_every_line_with_real_sizes(open_page, layout: str) -> None:
    app = open_page("anatomy", src="a big red dog jumped", to="fr", layout=layout, line="3")
    assert not app.exception
    assert "W_o(context)" in said(app)
    assert "d_model 20" in said(app)
    assert app.get("plotly_chart")


def test_a_line_that_is_chosen_is_shown(open_page) -> None:
    app = open_page("anatomy", src="a big red dog", to="fr", line="6")
    assert not app.exception
    assert '"current": 6' in next(part.proto.json for part in app.get("bidi_component") if "Lines" in part.proto.json)
    assert "query.transpose(1, 2)" in app.code[0].value


def test_a_skipped_line_shows_torchs_own_error(open_page) -> None:
    app = open_page("anatomy", src="a big red dog", to="fr", part="skip", skip="contiguous")
    assert "view size is not compatible" in said(app)
    app = open_page("anatomy", src="a big red dog", to="fr", part="skip", skip="transpose back")
    assert "has the right shape" in said(app)
    assert app.get("plotly_chart")


def test_memory_is_measured_when_asked(open_page) -> None:
    app = open_page("anatomy", src="a big red dog", to="fr", part="claims")
    app.button(key="measure-deletion").click().run()
    assert not app.exception
    assert "profiler" in said(app)
    assert said(app).count(" → ") >= 2 * 3 * 3, "two paths, three holders, three measures: without and with the line"


@pytest.mark.parametrize(
    ("wrong", "word"),
    [({"part": "legs"}, "part"), ({"layout": "x"}, "layout"), ({"line": "99"}, "line"), ({"skip": "all"}, "skip"),
     ({"head": "9"}, "head"), ({"kind": "sideways"}, "kind"), ({"to": "xx"}, "language")],
)  # fmt: skip
def test_a_wrong_link_is_one_sentence_and_the_page_goes_on(open_page, wrong: dict[str, str], word: str) -> None:
    app = open_page("anatomy", **({"src": "I love you", "to": "fr"} | wrong))
    assert not app.exception
    assert f"asks for {word}" in said(app).replace("the language", "language")
    assert "W_o(context)" in said(app)


@pytest.mark.parametrize("src", ["", "   "])
def test_nothing_typed_is_answered_in_a_sentence(open_page, src: str) -> None:
    app = open_page("anatomy", src="I love you")
    app.text_input(key="src-shown").set_value(src).run()
    assert not app.exception
    assert "empty" in said(app)


def test_a_model_that_cannot_be_taken_apart_is_refused_in_a_sentence(open_page, monkeypatch) -> None:
    monkeypatch.setattr("attnviz.ui.site_bench.Translator", type("Another", (), {}))
    app = open_page("anatomy", src="a big red dog", to="fr", second="a model of another kind")
    assert not app.exception
    assert "choose the built-in translator here" in said(app)


@pytest.mark.parametrize(("src", "second"), [("i love you", "Hello."), ("a big red dog jumped over", "I love you.")])
def test_the_second_sentence_is_the_shorter_one(open_page, src: str, second: str) -> None:
    app = open_page("anatomy", src=src, to="fr")
    assert app.text_input(key="pick-second").value == second


def test_a_second_sentence_is_kept(open_page) -> None:
    app = open_page("anatomy", src="a big red dog", to="fr", second="red <b>fun</b>")
    assert not app.exception
    assert app.text_input(key="pick-second").value == "red <b>fun</b>"
