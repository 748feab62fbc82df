"""The Heads page without a browser: what it hands to its component, and what it says to bad input and bad links."""

import json
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.heads.sentences import strip_labels
from attnviz.kit.wire import unpack


def header(app: AppTest) -> dict:
    """Read what the component is told, less the bytes of its maps."""
    (component,) = [part for part in app.get("bidi_component") if part.proto.bytes]
    return unpack(component.proto.bytes).header


def notes(app: AppTest) -> str:
    """Read the notes above the picture."""
    return "\n".join(note.value for note in (*app.error, *app.info, *app.warning)).replace("\\", "")


def rows(told: dict, kind: str) -> list:
    """Return the labels of a kind's rows, as the browser reads them."""
    found = next(one for one in told["kinds"] if one["kind"] == kind)
    return found.get("rows") or strip_labels(kind, told["strip"], found["shape"][2:])["rows"]


def test_a_link_opens_its_sentence_and_head(open_page) -> None:
    app = open_page("heads", src="I love you", to="zh", kind="encoder_self", layer="1", head="3")
    assert not app.exception
    assert app.text_input(key="src-shown").value == "I love you"
    view = header(app)["view"]
    assert (view["kind"], view["layer"], view["head"]) == ("encoder_self", 1, 3)


def test_every_kind_is_there_with_its_labels(open_page) -> None:
    told = header(open_page("heads", src="I love you", to="fr"))
    assert [kind["kind"] for kind in told["kinds"]] == ["encoder_self", "decoder_self", "cross"]
    assert all(given is None for _, given in rows(told, "encoder_self")), "an encoder puts out no token"
    assert all(given and taken for taken, given in rows(told, "cross"))


def test_a_given_target_is_the_one_that_is_shown(open_page) -> None:
    labels = rows(header(open_page("heads", src="I love you", to="fr", tgt="je t'aime")), "cross")
    assert "".join(output for _, output in labels[:-1]).replace(" ", "") == "jet'aime"


@pytest.mark.parametrize("src", ["", "   ", "\t"])
def test_an_empty_sentence_is_answered_with_what_to_type(open_page, src: str) -> None:
    app = open_page("heads", src="I love you")
    app.text_input(key="src-shown").set_value(src).run()
    assert not app.exception
    assert "empty" in notes(app)
    assert app.text_input(key="src-shown").value == src


def test_a_hundred_thousand_characters_are_cut_and_said(open_page) -> None:
    app = open_page("heads", src="I love you")
    app.text_input(key="src-shown").set_value("love " * 20_000).run()
    assert not app.exception
    assert header(app)["kinds"]
    assert "cut" in notes(app) or "first" in notes(app)


@pytest.mark.parametrize("src", ["ქართული ენა", "नमस्ते दुनिया", "👩‍👩‍👧‍👦 🇫🇷", "a\u200bb\u202ec", "<b>$x$</b> :red[y]"])
def test_any_script_is_shown(open_page, src: str) -> None:
    app = open_page("heads", src="I love you")
    app.text_input(key="src-shown").set_value(src).run()
    assert not app.exception
    assert header(app)["kinds"]


def test_each_wrong_part_of_a_link_is_told_and_the_page_goes_on(open_page) -> None:
    wrong = {
        "layer": "7", "head": "99", "kind": "sideways", "pins": "cross.9.9", "to": "xx", "v": "99",
        "weights": "0123456789ab", "row": "many",
    }  # fmt: skip
    app = open_page("heads", src="I love you", **wrong)
    assert not app.exception
    assert [text for text in wrong.values() if text not in notes(app)] == []
    assert header(app)["kinds"]


@pytest.mark.parametrize("more", [{}, {"words": "1", "specials": "hide"}, {"layer": "mean", "head": "1"}])
def test_a_long_text_is_told_the_same_a_layer_at_a_time(open_page, monkeypatch, more: dict) -> None:
    link = {"src": "I love you", "to": "fr", "tgt": "je t'aime", "kind": "cross", "layer": "1", "head": "3"} | more
    short = header(open_page("heads", **link, table="1"))
    monkeypatch.setattr("attnviz.heads.heads.LONG", 1)
    app = open_page("heads", **link, table="1")
    assert not app.exception
    long = header(app)
    assert long["kinds"] == short["kinds"]
    assert long["view"] == short["view"]
    assert long["base"] == short["base"], "labels, masks, thumbnails and metrics are the same bytes"


def test_a_link_to_a_translation_that_was_cut_shows_the_same_rows(open_page) -> None:
    sent = open_page("heads", src="I love you", to="fr")
    assert rows(header(sent), "cross")[-1][1] == "(cut)", "this untrained model reaches no end"
    (link,) = [
        json.loads(part.proto.json)["query"]
        for part in sent.get("bidi_component")
        if part.proto.json.startswith('{"query"')
    ]
    opened = open_page("heads", **dict(parse_qsl(link, keep_blank_values=True)))
    assert rows(header(opened), "cross") == rows(header(sent), "cross")
    assert "was cut after" in notes(opened)


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_the_switches_for_plotly_and_a_table_open_both(open_page, kind: str) -> None:
    app = open_page("heads", src="I love you", to="fr", kind=kind, plotly="1", table="1")
    assert not app.exception
    assert len(app.get("plotly_chart")) == 1
    assert len(app.dataframe) == 1
    app.button(key="below-plotly-close").click().run()
    assert not app.exception
    assert not app.get("plotly_chart")
    assert app.query_params["plotly"] == "0"
    assert len(app.dataframe) == 1, "the table stays"
