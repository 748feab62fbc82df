"""The tabs Alignment and Flow without a browser: their data, and their sentences where nothing can be shown."""

import io

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz.heads.alignment.numbers.alignment_errors import known_errors, rates
from attnviz.heads.alignment.numbers.alignment_ways import Aligner
from attnviz.heads.alignment.numbers.gold import gold_languages, gold_pairs
from attnviz.heads.flow import flow
from attnviz.kit.wire import unpack
from attnviz.models import catalogue

LINK = {"src": "I love you", "to": "fr", "tgt": "je t'aime"}
GOLD = gold_pairs("fr")[0]


def header(app: AppTest) -> dict:
    (component,) = [part for part in app.get("bidi_component") if part.proto.bytes]
    return unpack(component.proto.bytes).header


def notes(app: AppTest) -> str:
    return "\n".join(note.value for note in (*app.error, *app.info, *app.warning)).replace("\\", "")


def open_tab(open_page, tab: str, **link: str) -> AppTest:
    app = open_page("heads", **LINK | {"tab": tab} | link)
    assert not app.exception
    return app


def test_attribution_is_offered_first_and_every_way_can_be_chosen(open_page) -> None:
    told = header(open_tab(open_page, "alignment"))
    assert told["view"] == {"way": "attribution.all.all.out", "drawn": "lines", "null": False, "gold": True, "seq": 0}
    assert (told["src"], "".join(told["tgt"])) == (["I", "love", "you"], "jet'aime")
    names = [way["name"] for way in told["ways"][: told["offered"]]]
    assert {"attribution.1.all.out", "head.0.1.in", "head-norm.0.1.out", "norm.all.all.in", "alti.all.all.out"} <= set(
        names
    )
    app = open_tab(open_page, "alignment", aligner="head.1.2.in", drawn="matrix", null="1", gold="0")
    assert header(app)["view"] == {"way": "head.1.2.in", "drawn": "matrix", "null": True, "gold": False, "seq": 0}


def test_a_sentence_with_links_by_hand_has_them_and_each_ways_error(open_page) -> None:
    told = header(open_tab(open_page, "alignment", src=GOLD.src_text, tgt=GOLD.tgt_text))
    assert told["gold"]["sure"]
    assert 0 <= told["errors"]["all"] <= 1
    assert all(0 <= way["own"] <= 1 for way in told["ways"])
    assert all(way["rate"] is None for way in told["ways"]), "nobody has scored this model"
    plain = header(open_tab(open_page, "alignment"))
    assert plain["gold"] is None
    assert plain["errors"] == {"all": None, "null": None}


def test_a_sentence_with_links_by_hand_is_chosen_from_a_list(open_page) -> None:
    app = open_tab(open_page, "alignment")
    app.selectbox(key="gold-sentence").set_value(0).run()
    assert not app.exception
    assert header(app)["gold"]["sure"]
    assert app.text_input(key="src-shown").value == GOLD.src_text
    assert app.text_input(key="tgt-shown").value == GOLD.tgt_text


@pytest.mark.parametrize("of", ["translator", "checkpoint"])
def test_every_way_is_scored_when_somebody_asks(open_page, monkeypatch, folder, of) -> None:
    monkeypatch.setattr("attnviz.heads.alignment.numbers.gold.gold_pairs", lambda to: gold_pairs(to)[:2])
    own = {"to": "zh", "tgt": "我爱你"}
    other = {"to": "", "tgt": "hello", "against": "de", "model": folder("marian")}  # it cannot say what it writes
    app = open_tab(open_page, "alignment", **(own if of == "translator" else other))
    app.button(key="score-ways").click().run()
    assert not app.exception
    told = header(app.run())
    assert all(0 <= way["rate"] <= 1 for way in told["ways"])
    assert "diagonal" in {way["method"] for way in told["ways"]}


def test_flow_is_sent_what_each_layer_mixes(open_page) -> None:
    told = header(open_tab(open_page, "flow"))
    assert [one["kind"] for one in told["sublayers"]] == ["encoder_self"] * 2 + ["decoder_self", "cross"] * 2
    assert set(told["read"]) == {"rollout"}
    assert 0 < told["facts"]["measured"] < 1
    assert told["view"] == {"row": len(told["rows"]) // 2, "by": "rollout", "residual": 50, "flow": False, "seq": 0}
    told = header(open_tab(open_page, "flow", by="alti", followed="1", residual="73", flow="1"))
    assert set(told["read"]) == {"rollout", "alti"}
    assert (told["flow"]["row"], told["flow"]["residual"]) == (1, 73)
    assert len(told["flow"]["source"]) == len(told["source"])


def traced_row(app: AppTest) -> int:
    return header(app)["view"]["row"]


def test_flow_follows_the_pinned_row_of_whichever_kind_has_its_rows(open_page) -> None:
    for kind in ("cross", "decoder_self"):
        assert traced_row(open_tab(open_page, "flow", kind=kind, row="1")) == 1
    rows = len(header(open_tab(open_page, "flow"))["rows"])
    assert traced_row(open_tab(open_page, "flow", kind="encoder_self", row="0")) == rows // 2, (
        "a row of another sentence"
    )
    hidden = open_tab(open_page, "flow", row="0", tgt="je t'aime bien", words="1")
    assert traced_row(hidden) == 0
    assert traced_row(open_tab(open_page, "flow", row="1", followed="3")) == 3


def test_a_copied_link_names_what_flow_is_drawn_with_and_those_of_before_still_open_the_middle_row(open_page) -> None:
    former = {"v": "1", "row": "1", "followed": "", "by": "rollout", "residual": "50"}
    app = open_tab(open_page, "flow", **former)
    told = header(app)
    assert (told["view"]["row"], told["view"]["by"]) == (len(told["rows"]) // 2, "rollout")


def test_flow_opens_on_the_method_with_the_lowest_error_and_says_so(open_page, monkeypatch) -> None:
    plain = header(open_tab(open_page, "flow"))
    assert plain["view"]["by"] == "rollout"
    assert plain["facts"]["opens_on"] == flow.UNKNOWN
    alti, rollout = Aligner("ALTI", None, None, "out"), Aligner("rollout", None, None, "out")
    for known, by, name in (
        ({alti: 0.1, rollout: 0.5}, "alti", "ALTI"),
        ({alti: 0.6, rollout: 0.5}, "rollout", "0.50"),
    ):
        monkeypatch.setattr("attnviz.heads.page.alignment_bar.known_rates", lambda *_, known=known: known)
        told = header(open_tab(open_page, "flow"))
        assert told["view"]["by"] == by
        assert by in told["read"]
        assert told["facts"]["opens_on"].endswith(
            "because this method has a lower alignment error than the other one (of ALTI and rollout)."
        )
        assert name in told["facts"]["opens_on"]
        assert header(open_tab(open_page, "flow", by="rollout"))["view"]["by"] == "rollout", "a link that says so"


def test_the_shipped_translators_errors_are_lowest_by_alti_in_every_language() -> None:
    table = known_errors(catalogue.translator().model_id)
    assert table is not None
    for to in gold_languages():
        assert flow.least_method(rates(table, to)) == "alti"


def test_a_text_too_long_for_maximum_flow_says_so(open_page) -> None:
    told = header(open_tab(open_page, "flow", src="a big red dog " * 12, flow="1"))
    assert "up to 32 tokens" in told["facts"]["why_no_flow"]
    assert told["flow"] is None


def test_a_checkpoint_without_an_exact_split_says_why(open_page, folder) -> None:
    told = header(open_tab(open_page, "flow", model=folder("bert"), by="alti", to="", tgt=""))
    assert told["view"]["by"] == "rollout"
    assert "no exact split over layers" in told["facts"]["why_no_alti"]
    assert told["target"] == []
    told = header(open_tab(open_page, "alignment", model=folder("marian"), to="", tgt="hello"))
    assert "no exact split over layers" in told["lacking"]["attribution"]
    assert {way["method"] for way in told["ways"]} >= {"norm of one head", "one head"}


def test_a_decoder_alone_flows_and_does_not_align(open_page, folder) -> None:
    told = header(open_tab(open_page, "flow", model=folder("gpt2"), by="alti", to="", tgt=""))
    assert told["source"] == []
    assert set(told["read"]) == {"rollout", "alti"}
    assert "this model has none" in notes(open_tab(open_page, "alignment", model=folder("gpt2"), to="", tgt=""))


@pytest.mark.parametrize("by", ["rollout", "alti"])
def test_a_toy_flows_though_it_knows_no_english(open_page, by) -> None:
    app = open_page("heads", model="toy:reverse", src="a b c d", tab="flow", by=by)
    assert not app.exception
    facts = header(app)["facts"]
    assert 0 < facts["measured"] < 1
    assert facts["why_no_alti"] == ""
    assert by in header(app)["read"]


@pytest.mark.parametrize("tab", ["alignment", "flow"])
def test_bare_weights_are_read_as_far_as_they_go(open_page, tab) -> None:
    file = io.BytesIO()
    np.savez(file, attn=np.full((2, 3, 4, 4), 0.25, np.float32), tokens=np.array(["<b>", "$x$", "مرحبا", "爱"]))
    app = open_tab(open_page, tab).file_uploader(key="own-file").upload("own.npz", file.getvalue()).run()
    assert not app.exception
    if tab == "flow":
        assert header(app)["source"] == ["<b>", "$x$", "مرحبا", "爱"]
    else:
        assert "this model has none" in notes(app)


@pytest.mark.parametrize(
    ("tab", "wrong"),
    [("alignment", {"aligner": "x", "drawn": "x"}), ("flow", {"by": "x", "residual": "101", "followed": "x"})],
)
def test_each_wrong_part_of_a_link_is_told_and_the_tab_goes_on(open_page, tab: str, wrong: dict[str, str]) -> None:
    app = open_page("heads", **LINK | wrong, tab=tab)
    assert not app.exception
    assert [name for name in wrong if f"asks for {name}" not in notes(app)] == []
    assert header(app)


def test_a_way_or_a_row_that_there_is_not_is_the_usual_one(open_page) -> None:
    assert header(open_tab(open_page, "alignment", aligner="head.9.9.out"))["view"]["way"] == "attribution.all.all.out"
    told = header(open_tab(open_page, "flow", followed="999"))
    assert told["view"]["row"] == len(told["rows"]) // 2
