"""The Anatomy page without a browser: every part on every kind of site, and what it says to bad input and bad links."""

import json

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attnviz.models.translator.tiny import tiny_translator


def page_text(app: AppTest) -> str:
    """Return all words and HTML of the page."""
    notes = [note.value for note in (*app.error, *app.info, *app.markdown, *app.caption, *app.code)]
    notes += [str(json.loads(part.proto.json)) for part in app.get("bidi_component") if part.proto.json]
    return "\n".join(notes + [part.proto.body for part in app.get("html")]).replace("\\", "")


@pytest.mark.parametrize("layout", ["batch_first", "sequence_first"])
def test_the_walk_shows_every_line_with_real_sizes(open_page, layout: str) -> None:
    app = open_page("anatomy", src="a big red dog jumped", to="fr", layout=layout, line="3")
    assert not app.exception
    assert "W_o(context)" in page_text(app)
    assert "d_model 20" in page_text(app)
    assert app.get("plotly_chart")


def test_a_line_that_is_chosen_is_shown(open_page) -> None:
    app = open_page("anatomy", src="a big red dog", to="fr", line="6")
    assert not app.exception
    lists = [part.proto for part in app.get("bidi_component") if part.proto.component_name == "attnviz.line_list"]
    assert [json.loads(one.json)["current"] for one in lists] == [6]
    assert "query.transpose(1, 2)" in app.code[0].value


def test_a_skipped_line_shows_torchs_own_error(open_page) -> None:
    app = open_page("anatomy", src="a big red dog", to="fr", tab="skip", skip="contiguous")
    assert "view size is not compatible" in page_text(app)
    app = open_page("anatomy", src="a big red dog", to="fr", tab="skip", skip="transpose back")
    assert "has the right shape" in page_text(app)
    assert app.get("plotly_chart")


def test_memory_is_measured_when_asked(open_page) -> None:
    app = open_page("anatomy", src="a big red dog", to="fr", tab="claims")
    app.button(key="measure-deletion").click().run()
    assert not app.exception
    assert "profiler" in page_text(app)
    assert page_text(app).count(" → ") >= 2 * 3 * 3, (
        "two paths, three holders, three measures: without and with the line"
    )


def test_scores_are_those_of_tokens_and_not_of_padding(open_page) -> None:
    app = open_page("anatomy", src="a big red dog jumped", to="fr", tab="claims", second="a dog")
    model = tiny_translator()
    calls = [model.trace(text, to="fr").call("encoder_self", 0) for text in ("a big red dog jumped", "a dog")]
    scores = torch.cat([(call.query @ call.key.mT).flatten() * call.scale for call in calls])
    largest = torch.cat([(call.query @ call.key.mT * call.scale).softmax(-1).amax(-1).flatten() for call in calls])
    assert f"At this trained site the variance is {float(scores.var()):.2f} with" in page_text(app)
    assert f"largest weight of a row is {float(largest.mean()):.2f} on average" in page_text(app)


def test_a_line_that_raises_shows_what_it_was_given_in_numbers_and_as_a_picture(open_page) -> None:
    app = open_page("anatomy", src="a big red dog", to="fr", tab="skip", skip="contiguous")
    assert "goes in and comes out" in page_text(app)
    assert "<td>context</td>" in page_text(app)
    assert ", the input of this line, " in app.get("plotly_chart")[0].proto.spec


def test_the_decoders_counts_are_those_of_the_run(open_page) -> None:
    app = open_page("anatomy", src="a big red dog", to="fr", tgt="un chien", tab="counts")
    assert not app.exception
    # <bos:fr>, the pieces of "un chien" and <eos>; the decoder reads all but the last
    row = next(line for line in page_text(app).split("<tr>") if "<td>tgt_in" in line)
    count = int(row.split("<td>")[2].split(",")[0])
    assert f"<td>{count + 1}</td>" in next(line for line in page_text(app).split("<tr>") if "target, with" in line)
    assert f"{count}, without &lt;eos&gt;" in row
    assert f"{count}, without &lt;bos:fr&gt;" in page_text(app)


def test_shapes_that_are_documented_wrongly_stand_beside_the_real_ones(open_page) -> None:
    text = page_text(open_page("anatomy", src="a big red dog", to="fr", tab="counts"))
    assert "(heads, d_model, d_k) ✗" in text
    assert "(heads, q_len, d_k)" in text
    assert "is invalid for input of size" in text
    assert "embed_dim must be divisible by num_heads" in text


def test_scores_of_both_kinds_are_measured_when_asked(open_page) -> None:
    app = open_page("anatomy", src="a big red dog", to="fr", tab="claims")
    app.button(key="measure-additive").click().run()
    assert not app.exception
    assert "times as much memory" in page_text(app)


def test_every_picture_that_is_saved_says_what_it_is_of(open_page) -> None:
    app = open_page("anatomy", src="a big red dog", to="fr", tgt="un chien", kind="cross", layer="1", head="2")
    saved = [json.loads(part.proto.json) for part in app.get("bidi_component") if part.proto.json]
    captions = [data["caption"] for data in saved if "caption" in data]
    assert captions
    for sentence, site in captions:
        assert sentence == "\u2068a big red dog\u2069 → \u2068un chien\u2069"
        assert site.startswith("Cross-attention, L1 H2 · tiny, weights")


def test_each_wrong_part_of_a_link_is_told_and_the_page_goes_on(open_page) -> None:
    wrong = {
        "tab": "legs", "layout": "x", "line": "99", "skip": "all", "head": "9", "kind": "sideways", "to": "xx",
    }  # fmt: skip
    app = open_page("anatomy", src="I love you", **wrong)
    assert not app.exception
    text = page_text(app).replace("the language", "to")
    assert [name for name in wrong if f"asks for {name}" not in text] == []
    assert "W_o(context)" in text


@pytest.mark.parametrize("src", ["", "   "])
def test_an_empty_sentence_is_answered_in_a_sentence(open_page, src: str) -> None:
    app = open_page("anatomy", src="I love you")
    app.text_input(key="src-shown").set_value(src).run()
    assert not app.exception
    assert "empty" in page_text(app)


def test_a_model_is_taken_apart_by_watching_it_where_it_is_no_translator(open_page, monkeypatch) -> None:
    def open_walk() -> list[dict]:
        app = open_page("anatomy", src="a big red dog", to="fr", second="a model of another kind")
        assert not app.exception
        (lines,) = [told for part in app.get("bidi_component") if "W_o(context)" in (told := part.proto.json)]
        return json.loads(lines)["rows"]

    own = open_walk()
    monkeypatch.setattr("attnviz.anatomy.page.experiment.Translator", type("Another", (), {}))
    assert open_walk() == own


@pytest.mark.parametrize(("src", "second"), [("i love you", "Hello."), ("a big red dog jumped over", "I love you.")])
def test_the_second_sentence_is_the_shorter_one(open_page, src: str, second: str) -> None:
    app = open_page("anatomy", src=src, to="fr")
    assert app.text_input(key="pick-second").value == second


def test_a_second_sentence_is_kept(open_page) -> None:
    app = open_page("anatomy", src="a big red dog", to="fr", second="red <b>fun</b>")
    assert not app.exception
    assert app.text_input(key="pick-second").value == "red <b>fun</b>"
