"""The tab Spans without a browser: its data, and its sentences where nothing can be shown."""

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.kit.wire import unpack

LINK = {"src": "I love you", "to": "fr", "tgt": "je t'aime", "tab": "spans"}


def header(app: AppTest) -> dict:
    (component,) = [part for part in app.get("bidi_component") if part.proto.bytes]
    return unpack(component.proto.bytes).header


def notes(app: AppTest) -> str:
    return "\n".join(note.value for note in (*app.error, *app.info, *app.warning)).replace("\\", "")


def open_spans(open_page, **link: str) -> AppTest:
    app = open_page("heads", **LINK | link)
    assert not app.exception
    return app


def test_a_link_names_the_spans_the_answer_and_what_is_hidden(open_page) -> None:
    told = header(open_spans(open_page, spans="one=1-2;a%20b=2-4", answer="3-5", hidden="answer", layer="1", head="0"))
    assert [(span["name"], span["start"], span["end"]) for span in told["spans"]] == [("one", 1, 2), ("a b", 2, 4)]
    assert told["answer"] == [3, 5]
    assert [line[0] for line in told["cause"]["lines"]] == ["one", "a b"]
    assert (told["view"]["layer"], told["view"]["head"], told["view"]["hidden"]) == (1, 0, "answer")
    assert header(open_spans(open_page))["cause"] is None, "nothing is run that was not asked for"


def test_a_checkpoint_of_a_visitor_has_spans_by_rule_and_by_norm(open_page, folder) -> None:
    link = {"model": folder("gpt2"), "src": "[1] The cat sat. [2] A dog sat. Who sat?", "to": "", "tgt": ""}
    told = header(open_spans(open_page, spans="rule:passages", shares="norm", **link))
    assert [span["name"] for span in told["spans"]][:2] == ["passage 1", "passage 2"]
    assert told["facts"]["why_no_norm"] == ""


@pytest.mark.parametrize(
    ("link", "says"),
    [
        ({"spans": "a=1-1"}, "The span “a” holds no token: it goes from 1 to 1. The usual spans are shown."),
        ({"spans": "a=1-3;b=2-4"}, "share tokens. Please pass spans that do not overlap. The usual spans are shown."),
        ({"spans": "a=1-99"}, "ends at token 99; the text has"),
        ({"spans": "rule:passages"}, "This text has no numbered passages"),
        ({"answer": "0-1"}, "The answer begins with the first token, which no row outputs"),
        ({"hidden": "x"}, "The link asks for hidden “x”"),
    ],
)
def test_a_link_that_cannot_be_followed_is_said_and_the_usual_spans_shown(open_page, link, says) -> None:
    app = open_spans(open_page, **link)
    assert says in notes(app)
    usual = header(open_spans(open_page))
    assert header(app)["spans"] == usual["spans"]
    assert header(app)["answer"] == usual["answer"]


def test_a_model_without_a_decoder_says_so(open_page, folder) -> None:
    app = open_spans(open_page, model=folder("bert"), to="", tgt="")
    assert "Spans works only with the text of a decoder, but this model has no decoder." in notes(app)


def test_a_model_without_a_decoder_offers_no_spans(open_page, folder) -> None:
    link = {"model": folder("bert"), "src": "The cat sat."}
    offered = str([group.options for group in open_page("heads", **link).button_group])
    assert "Links" in offered
    assert "Spans" not in offered
    app = open_page("heads", **link, tab="spans")
    assert "Spans works only with the text of a decoder" in notes(app)
