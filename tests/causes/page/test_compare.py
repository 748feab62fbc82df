"""Compare: a sentence beside itself is 0 everywhere; each pair says what it holds fixed, and what it cannot do."""

from functools import partial

import pytest
import torch

from attnviz.causes.compared.compared import compared
from attnviz.causes.numbers.run_comparison import compare_runs
from attnviz.models import catalogue
from tests.causes.page.causes_page import SRC, head_numbers, header, notes, payload
from tests.learning.page.learning_page import copied_link

pytestmark = pytest.mark.computes


@pytest.mark.parametrize("by", ["sentence", "language", "do", "mask", "model"])
def test_every_pair_opens_and_says_what_it_holds_fixed(open_page, by: str) -> None:
    app = open_page("causes", tab="compare", src=SRC, to="fr", by=by)
    assert not app.exception
    assert not app.error
    told = header(app)
    assert told["fixed"][0].startswith("Held fixed:")
    assert len(told["names"]) == 2
    assert copied_link(app)["by"] == by


def test_a_sentence_beside_itself_is_0_everywhere(open_page) -> None:
    told = header(open_page("causes", tab="compare", src=SRC, other=SRC, to="fr"))
    assert not any(head_numbers(told, "apart"))
    assert all(here == there for group in told["groups"] for here, there in (*group["rows"], *group["cols"]))
    assert told["texts"][0] == told["texts"][1]
    assert all(here["log"] == there["log"] for place in told["strip"] for here, there in [place["sides"]])


def test_two_sentences_have_the_analysis_numbers_and_the_weights_of_both_runs(open_page) -> None:
    found = payload(open_page("causes", tab="compare", src=SRC, other="a red dog", to="fr"))
    model = catalogue.translator()
    here, there = (model.trace(text, to="fr") for text in (SRC, "a red dog"))
    runs = compare_runs(here, there)
    for group in found.header["groups"]:
        expected = runs.kinds[group["kind"]].apart.flatten()
        told = torch.tensor([torch.nan if bits is None else bits for bits in group["apart"]])
        torch.testing.assert_close(told, expected, atol=1e-5, rtol=1e-4, equal_nan=True)
    first = found.header["maps"][0]
    weights = torch.frombuffer(bytearray(found.blobs[first["offsets"][0] :]), dtype=torch.float32)
    attn = here.attn(first["kind"], layer=first["layer"], head=first["head"]).flatten()
    assert torch.equal(weights[: len(attn)], attn)


def test_with_and_without_what_is_done_is_on_one_target(open_page) -> None:
    told = header(open_page("causes", tab="compare", by="do", src=SRC, to="fr", do="off.cross.0.all"))
    assert any(head_numbers(told, "apart"))
    assert all(here["text"] == there["text"] for place in told["strip"] for here, there in [place["sides"]])
    nothing = header(open_page("causes", tab="compare", by="do", src=SRC, to="fr"))
    assert not any(head_numbers(nothing, "apart"))
    assert "No head changed" in nothing["said"][0]


def test_a_mask_is_put_on_every_layer_of_the_kind_in_focus(open_page) -> None:
    link = {"tab": "compare", "by": "mask", "src": SRC, "to": "fr", "kind": "decoder_self"}
    own = header(open_page("causes", rule="causal", **link))
    assert max(bits or 0 for bits in head_numbers(own, "apart")) < 1e-6, "the causal mask is the model's own"
    assert any(head_numbers(header(open_page("causes", rule="window", **link)), "apart"))


def test_two_models_share_words_only(open_page, folder) -> None:
    app = open_page("causes", tab="compare", by="model", src="the cat sat", to="fr", against=folder("marian"))
    assert not app.exception
    assert "words are compared" in " ".join(header(app)["said"])


def test_a_toy_is_listed_by_one_title_whether_or_not_a_link_names_it(open_page) -> None:
    link = {"tab": "compare", "by": "model", "src": SRC, "to": "fr"}
    usual = open_page("causes", **link).selectbox(key="pick-against").options
    linked = open_page("causes", against="toy:reverse", **link).selectbox(key="pick-against")
    assert linked.options == usual
    assert "Toy: Reverse letters, nothing left out" in linked.options


def test_what_has_nothing_in_common_is_said_and_the_controls_stay(open_page, folder) -> None:
    app = open_page(
        "causes", tab="compare", by="model", src="the cat sat", model=folder("gpt2"), against=folder("bert")
    )
    assert not app.exception
    assert "no kind of attention in common" in notes(app)
    assert app.selectbox(key="pick-against")


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_checkpoints_compare_two_sentences(open_page, folder, name: str) -> None:
    app = open_page("causes", tab="compare", model=folder(name), src="the cat sat here", other="the dog sat here")
    assert not app.exception
    assert any(head_numbers(header(app), "apart"))


def test_of_a_long_sentence_the_maps_of_the_head_in_focus_are_sent(open_page, monkeypatch) -> None:
    monkeypatch.setattr("attnviz.causes.page.sides.compared", partial(compared, most=1_000))  # bytes
    told = header(open_page("causes", tab="compare", src=SRC, other="a red dog", to="fr", kind="cross", layer="1"))
    assert [(one["kind"], one["layer"], one["head"]) for one in told["maps"]] == [("cross", 1, 0)]
