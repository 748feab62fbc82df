"""The Masks page without a browser: its rooms, its links, and what it says to bad input."""

import html

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from attnviz.analysis.rerun import Writing, Written
from attnviz.masks.masks import painting_to_text
from attnviz.masks.page import experiment, pipeline
from tests.masks.page.masks_page import laboratory, page_html, weights


def notes(app: AppTest) -> str:
    return "\n".join(note.value for note in (*app.error, *app.info, *app.warning)).replace("\\", "")


def test_a_decoder_is_masked_as_the_model_masks_it_until_somebody_asks_otherwise(open_page) -> None:
    app = open_page("masks", src="I love you", to="fr", tgt="je t'aime")
    header, _ = laboratory(app)
    assert "causal" in header["words"]["title"]
    assert np.triu(weights(app), 1).max() == 0
    np.testing.assert_allclose(weights(app).sum(axis=1), 1, atol=1e-5)


def test_no_mask_lets_a_decoder_see_ahead(open_page) -> None:
    app = open_page("masks", src="I love you", to="fr", tgt="je t'aime", masks="none")
    assert np.triu(weights(app), 1).max() > 0


def test_a_painted_mask_comes_through_the_link(open_page) -> None:
    size = len(weights(open_page("masks", src="I love you", to="fr", tgt="je t'aime")))
    painted = np.ones((size, size), dtype=bool)
    painted[2, 1] = painted[3] = False
    link = {"src": "I love you", "to": "fr", "tgt": "je t'aime", "paint": painting_to_text(painted), "row": "2"}
    app = open_page("masks", **link)
    header, _ = laboratory(app)
    assert (header["paint"], header["row"]) == (link["paint"], 2)
    assert weights(app)[2, 1] == 0
    assert np.isnan(weights(app)[3]).all()
    assert "NaN" in " ".join(header["findings"])


def test_a_part_of_the_maps_comes_through_the_link(open_page) -> None:
    header, _ = laboratory(open_page("masks", src="I love you", to="fr", zoom="0.2.1.3"))
    assert header["zoom"] == [0, 2, 1, 3]


def test_all_fills_of_the_dtype_in_force_come_first(open_page) -> None:
    text = page_html(open_page("masks", src="I love you", to="fr", tab="fills", dtype="bfloat16", row="0"))
    table = text[text.index("<table class='fills'>") :]
    places = [table.index(f">{dtype}</th>") for dtype in ("bfloat16", "float32", "float16")]
    assert places == sorted(places)
    assert table.count("scope='row'") == 27
    assert "without overflow" in table


def test_padding_brings_a_second_sentence_whose_pads_are_keys_and_rows(open_page) -> None:
    batch = {"kind": "cross", "second": "I love you", "item": "1"}
    app = open_page("masks", src="a big red dog jumped over a small pond", to="fr", masks="none", **batch)
    header, _ = laboratory(app)
    assert "<pad>" in header["cols"]
    assert weights(app)[:, header["cols"].index("<pad>")].max() > 0, "without the mask, padding is looked at"
    app = open_page("masks", src="a big red dog jumped over a small pond", to="fr", masks="padding", **batch)
    header, _ = laboratory(app)
    assert weights(app)[:, header["cols"].index("<pad>") :].max() == 0


def test_choosing_padding_alone_gives_it_somebody_to_pad(open_page) -> None:
    app = open_page("masks", src="a big red dog jumped over a small pond", to="fr", kind="encoder_self")
    app.button_group(key="pick-masks").set_value(["padding"]).run()
    assert app.query_params["second"]
    assert not app.exception


def test_torch_is_quoted_where_it_refuses(open_page) -> None:
    app = open_page("masks", src="I love you", to="fr", fill="-1e9", dtype="float16")
    header, _ = laboratory(app)
    assert header["attn"] is None
    assert "overflow" in header["findings"][0]
    assert "overflow" in page_html(app), "and the model does not run with it either"


def test_a_causal_mask_between_two_sentences_is_explained(open_page) -> None:
    header, _ = laboratory(open_page("masks", src="I love you", to="fr", kind="cross", masks="causal"))
    assert "makes no sense between two sentences" in header["findings"][0]
    assert "wait-k" in header["findings"][0]


def test_the_leak_test_finds_nothing_with_the_mask_and_something_without(open_page) -> None:
    app = open_page("masks", src="machine learning", to="zh", tgt="机器学习", tab="leak", at="3", instead="爱")
    assert "are the same to the last bit" in page_html(app)
    assert "Without it</b> they move by up to" in page_html(app)


LEAK = {"src": "machine learning", "to": "zh", "tgt": "机器学习", "tab": "leak"}


def test_a_token_that_is_replaced_by_itself_is_said_and_nothing_is_concluded(open_page) -> None:
    app = open_page("masks", **LEAK, at="1", instead="机器学习")
    assert "The token is replaced by itself" in page_html(app)
    assert "would depend" not in page_html(app)


def test_where_no_token_reads_another_nothing_would_depend_on_what_is_written_after_it(open_page) -> None:
    text = page_html(open_page("masks", **LEAK, at="1", instead="爱", do="off.dec.all.all"))
    assert "the position before it is the same to the last bit" in text
    assert "<b>Without it</b> it stays, too: in this run no token reads another." in text


def test_a_model_without_a_causal_mask_is_not_said_to_have_one(open_page) -> None:
    toy = {"model": "toy:french-without-causal-mask", "src": "the big red dog"}
    text = page_html(open_page("masks", **toy, tab="leak", at="2", instead="le"))
    assert "As this model is" in text
    assert "no causal mask of its own" in text
    assert "With the causal mask" not in text
    text = page_html(open_page("masks", **toy, tab="says", masks="none", scope="kind", step="2"))
    assert "reads ahead without this one too" in text
    assert "trained with the mask" not in text


@pytest.mark.parametrize("kind", ["decoder_self", "cross", "encoder_self"])
def test_without_a_rule_no_mask_is_spoken_of(open_page, kind: str) -> None:
    """A painted mask that hides nothing is none either."""
    for tab in ("pipeline", "says"):
        text = page_html(
            open_page("masks", src="I love you", to="fr", tgt="je t'aime", masks="none", kind=kind, tab=tab)
        )
        assert "ith no mask" in text or "ithout any mask" in text
        assert "ith this mask" not in text
        assert "ithout this mask" not in text


def test_the_first_context_stays_only_under_the_mask(open_page) -> None:
    text = page_html(open_page("masks", src="machine learning", to="zh", tgt="机器学习", tab="rows", arrived="2"))
    assert "<b>stay</b>" in text
    assert "<b>change</b>" in text


def test_the_first_words_do_not_wait_for_the_masked_run(open_page, monkeypatch) -> None:
    order, run, write = [], experiment.MaskExperiment.effect, Writing.go_on
    monkeypatch.setattr(experiment.MaskExperiment, "effect", lambda bench: order.append("run") or run(bench))
    monkeypatch.setattr(Writing, "go_on", lambda words, seconds: order.append("words") or write(words, seconds))
    app = open_page("masks", src="Words come before the run", to="fr", masks="window_1", kind="cross")
    assert "With this mask" in page_html(app)
    assert order[0] == "words"
    assert "run" in order, "torch may refuse the run, which the page has to say"


@pytest.mark.parametrize("tab", ["pipeline", "says"])
def test_what_the_model_would_say_is_written_piece_by_piece_to_its_end(open_page, monkeypatch, tab: str) -> None:
    monkeypatch.setattr(experiment, "FIRST", 1e-9)
    monkeypatch.setattr(experiment, "PIECE", 1e-9)
    app = open_page("masks", src="I love you piece by piece", to="fr", masks="window_1", kind="cross", tab=tab)
    assert not app.exception
    assert "tokens so far" not in page_html(app)


def test_what_the_model_would_say_is_shown_whole_and_as_text(open_page, monkeypatch) -> None:
    said = "l'un <b>& " * 40
    monkeypatch.setattr(Writing, "so_far", lambda *_: Written(said, (), "cut <i>here"))
    text = page_html(open_page("masks", src="I love you", to="fr", masks="window_1", kind="cross", tab="says"))
    assert text.count(html.escape(said.rstrip())) == 2
    assert "cut &lt;i&gt;here" in text


@pytest.mark.parametrize(
    ("moved", "told"),
    [
        ([0.0, 3e-7], "no map of the model changes by more than rounding"),
        ([0.0, 0.25], "L0 H1: 25.0% of a row"),
        ([0.0, np.nan], "1 of the model's 2 maps become NaN"),
    ],
)
def test_of_a_model_that_writes_nothing_the_maps_are_told(moved, told) -> None:
    table = pd.DataFrame({"kind": "encoder_self", "layer": 0, "head": [0, 1], "moved": moved})
    assert told in pipeline._farthest_map(table)


@pytest.mark.parametrize(
    "wrong",
    [
        {
            "kind": ("sideways", "it can be"),
            "layer": ("99", "layers 0 to"),
            "head": ("-1", "heads 0 to"),
            "masks": ("causal~magic_3", "magic_3"),
            "fill": ("nought", "nought"),
            "number": ("inf", "from -40 to 10; used instead: -10"),
            "dtype": ("int8", "int8"),
            "scope": ("all", "scope “all”"),
            "paint": ("AAAA", "cannot be read"),
            "zoom": ("4.2.0.1", "first row, last row"),
        },
        {
            "masks": ("window_far", "window_far"),
            "number": ("nan", "from -40 to 10"),
            "zoom": ("0.far", "first row, last row"),
        },
    ],
    ids=["of no meaning", "unreadable"],
)
def test_a_link_that_asks_for_what_is_not_there_is_answered_in_sentences(open_page, wrong: dict) -> None:
    app = open_page("masks", src="I love you", to="fr", **{name: text for name, (text, _) in wrong.items()})
    assert not app.exception
    assert [told for _, told in wrong.values() if told not in notes(app)] == []
    assert laboratory(app)[0]["rows"]


def test_what_the_slider_of_a_number_shows_is_what_stands_in_masked_cells(open_page) -> None:
    for asked, used in (("1e30", -10.0), ("-40", -40.0), ("0.25", 0.25)):
        app = open_page("masks", src="I love you", to="fr", fill="number", number=asked)
        assert not app.exception
        assert app.slider(key="pick-number").value == used
        (copied,) = [part.proto.json for part in app.get("bidi_component") if '"query"' in part.proto.json]
        assert f"number={used}" in copied


def test_numbers_of_a_rule_stay_within_their_range(open_page) -> None:
    header, _ = laboratory(open_page("masks", src="I love you", to="fr", masks="window_9999~random_7_1"))
    assert "reach 64" in header["words"]["title"]
    assert "keep 1" in header["words"]["title"]


def test_an_empty_sentence_is_answered_with_what_to_type(open_page) -> None:
    app = open_page("masks", src="I love you")
    app.text_input(key="src-shown").set_value("  ").run()
    assert not app.exception
    assert "empty" in notes(app)
