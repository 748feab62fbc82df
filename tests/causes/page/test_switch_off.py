"""Switch off: nothing off changes nothing; what a link switches off is off, and every number is the analysis's own."""

from dataclasses import replace

import pytest
import torch

import attnviz
from attnviz.analysis import means
from attnviz.analysis.corpus.lines import shipped_lines
from attnviz.causes.corpus.numbers.change_counts import count_changes, run_untouched
from attnviz.causes.numbers.effects import head_effects
from attnviz.causes.numbers.findings import count_findings
from attnviz.models import catalogue
from tests.causes.page.causes_page import SRC, head_numbers, header, notes
from tests.learning.page.learning_page import copied_link


@pytest.fixture
def tiny(open_page):
    """Provide the model that pages open in tests; `open_page` has put it in the shipped one's place."""
    return catalogue.translator()


def test_no_head_off_leaves_the_run_unchanged(open_page) -> None:
    told = header(open_page("causes", src=SRC, to="fr"))
    assert told["done"] == told["view"]["off"] == []
    assert all(token["log"][0] == token["log"][1] for token in told["strip"])
    assert not any(head_numbers(told, "moved"))
    assert told["texts"][0] == told["texts"][1]
    assert len(told["fixed"]) == 5


def test_what_each_head_is_worth_is_what_the_analysis_computes(open_page, tiny) -> None:
    told = header(open_page("causes", src=SRC, to="fr"))
    expected = head_effects(tiny, tiny.trace(SRC, to="fr")).mean
    torch.testing.assert_close(torch.tensor(head_numbers(told, "nats")), expected, atol=1e-5, rtol=1e-4)
    assert told["usual"] == 0, "nobody measured this model: plain nats, said so"
    assert "plain nats" in " ".join(told["said"])
    assert all(group["spreads"] is None for group in told["groups"])


def test_heads_of_a_link_are_off_and_the_same_target_is_scored_again(open_page, tiny) -> None:
    do = "off.cross.0.1+2~off.dec.1.all"
    app = open_page("causes", src=SRC, to="fr", do=do)
    told = header(app)
    n_heads = tiny.shapes["decoder_self"][1]
    expected = {"cross.0.1", "cross.0.2", *(f"decoder_self.1.{head}" for head in range(n_heads))}
    assert set(told["done"]) == set(told["view"]["off"]) == expected
    plain = tiny.trace(SRC, to="fr")
    ids = [token.id for token in plain.sentences[0].tgt_out if token.id >= 0]
    assert len(told["strip"]) == len(ids)
    assert any(token["log"][0] != token["log"][1] for token in told["strip"])
    encoder = next(group for group in told["groups"] if group["kind"] == "encoder_self")
    assert not any(encoder["moved"]), "what comes before cannot move"
    assert copied_link(app)["do"] == do


@pytest.mark.parametrize(("put", "verb"), [("uniform", "even"), ("diagonal", "diagonal")])
def test_what_stands_in_their_place_is_read_from_the_link(open_page, put: str, verb: str) -> None:
    told = header(open_page("causes", src=SRC, to="fr", do=f"{verb}.dec.0.0"))
    assert told["view"]["put"] == told["put"] == put
    assert told["done"] == ["decoder_self.0.0"]


def test_a_mean_is_measured_over_sentences_and_is_no_zero(open_page, tiny, monkeypatch) -> None:
    monkeypatch.setattr(means, "shipped_lines", lambda to: shipped_lines(to)[:5])
    told = header(open_page("causes", src=SRC, to="fr", do="mean.cross.0.1"))
    assert told["view"]["put"] == "mean"
    assert told["done"] == ["cross.0.1"]
    plain, mean = tiny.trace(SRC, to="fr"), means.measured_means(tiny, "fr")
    done = attnviz.ablate("cross", layer=0, heads=[1], to=mean)
    after = tiny.rerun(replace(plain, interventions=(done,))).logits[0].log_softmax(dim=-1)
    written = [token for token in plain.sentences[0].tgt_out if token.id >= 0]
    expected = [float(after[row, token.id]) for row, token in enumerate(written)]
    torch.testing.assert_close([token["log"][1] for token in told["strip"]], expected, atol=1e-4, rtol=1e-4)
    worth = head_effects(tiny, plain, to=mean).mean
    torch.testing.assert_close(torch.tensor(head_numbers(told, "nats")), worth, atol=1e-5, rtol=1e-4)
    off = header(open_page("causes", src=SRC, to="fr", do="off.cross.0.1"))
    assert [token["log"] for token in off["strip"]] != [token["log"] for token in told["strip"]]


def test_a_model_that_reads_none_of_the_sentences_has_no_mean_and_says_so(open_page) -> None:
    app = open_page("causes", model="toy:reverse", src="a b c", do="mean.dec.0.0")
    assert not app.exception
    assert "A mean is measured over" in notes(app)
    assert header(app)["done"] == []


def test_what_else_is_done_to_the_run_is_said_and_is_no_switch(open_page) -> None:
    told = header(open_page("causes", src=SRC, to="fr", do="swap.cross.all.all.1.2"))
    assert told["done"] == []
    assert len(told["more"]) == 1


def test_heads_that_there_are_not_are_said_and_the_others_are_off(open_page) -> None:
    app = open_page("causes", src=SRC, to="fr", do="off.cross.0.99~off.cross.0.1")
    assert not app.exception
    assert "There is no head 99" in notes(app)
    assert header(app)["done"] == ["cross.0.1"]


def test_a_target_that_is_given_is_scored_and_the_model_writes_by_itself(open_page, tiny) -> None:
    told = header(open_page("causes", src=SRC, to="fr", tgt="je t'aime", do="off.cross.all.all"))
    assert "".join(token["text"] for token in told["strip"][:-1]).replace(" ", "") == "jet'aime"
    assert "".join(text for text, _ in told["texts"][0]) == tiny.translate(SRC, to="fr")


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5"])
def test_checkpoints_of_every_kind_switch_heads_off(open_page, folder, name: str) -> None:
    kind = {"bert": "enc", "gpt2": "dec", "t5": "cross"}[name]
    model = folder(name)
    src = "the cat [MASK] here" if name == "bert" else "the cat sat here"
    app = open_page("causes", model=model, src=src, do=f"off.{kind}.0.0")
    assert not app.exception
    told = header(app)
    assert told["countable"] == {"bert": 0, "gpt2": 200, "t5": 40}[name]
    assert len(told["done"]) == 1
    assert any(head_numbers(told, "moved"))
    assert told["asks"].startswith({"bert": "of the best answer", "gpt2": "of the text", "t5": "of the target"}[name])
    assert (told["texts"] is None) == (name == "bert")
    assert None not in head_numbers(told, "nats")


def test_one_token_and_a_page_without_text_are_answered(open_page) -> None:
    assert header(open_page("causes", src="a", to="fr"))["strip"]
    app = open_page("causes", src="a", to="fr")
    app.text_input(key="src-shown").set_value("").run()
    assert not app.exception
    assert "empty" in notes(app)


def test_what_is_off_is_counted_over_many_sentences_where_asked(open_page, tiny, monkeypatch) -> None:
    monkeypatch.setattr(means, "shipped_lines", lambda to: shipped_lines(to)[:5])
    asked = header(open_page("causes", src=SRC, to="fr", do="off.cross.all.all"))
    assert (asked["countable"], asked["many"]) == (5, [])
    told = header(open_page("causes", src=SRC, to="fr", do="off.cross.all.all", count="1"))
    found = count_changes(tiny, run_untouched(tiny, shipped_lines("fr")[:5], to="fr"), (attnviz.ablate("cross"),))
    assert told["many"] == list(count_findings(found))
    assert told["view"]["count"] is True


@pytest.mark.parametrize("do", ["", "swap.cross.all.all.1.2~off.cross.0.1"])
def test_what_fits_one_sentence_alone_is_not_counted_over_others(open_page, do: str) -> None:
    told = header(open_page("causes", src=SRC, to="fr", do=do, count="1"))
    assert (told["countable"], told["many"], told["view"]["count"]) == (0, [], False)


def test_sentences_that_a_model_cannot_read_are_not_counted_and_it_says_why(open_page) -> None:
    app = open_page("causes", model="toy:reverse", src="a b c", do="off.dec.0.0", count="1")
    assert not app.exception
    assert header(app)["many"][0].startswith("This change cannot be measured over many sentences. Line 1 ")


def test_what_a_link_says_of_the_tab_is_said_back(open_page) -> None:
    link = copied_link(open_page("causes", src=SRC, to="fr", put="uniform", shade="nats"))
    assert (link["tab"], link["put"], link["shade"]) == ("switch-off", "uniform", "nats")
