"""The Attribute tab without a browser: its bars sum to the model's logit, and impossible questions get a sentence."""

import numpy as np
import pytest

from attnviz.analysis.attribution import LogitTarget, drops
from attnviz.causes.numbers.lens import logit_lens
from attnviz.models import catalogue
from tests.causes.page.test_patch import notes, payload

CLEAN = "a big red dog jumped"


@pytest.fixture
def attribute_tab(open_page):
    return lambda **params: open_page("causes", tab="attribute", **({"src": CLEAN, "to": "fr"} | params))


def sums(told) -> None:
    header = told.header
    assert sum(bar["value"] for bar in header["bars"]) == pytest.approx(header["total"])
    assert abs(header["total"] - header["logit"]) <= 1e-5 * header["spread"]
    for bar in header["bars"]:
        site = header["opened"].get(bar["head"].rpartition(".")[0])
        if site is None:
            continue
        heads, keys = site["size"]
        values = np.frombuffer(told.blobs, dtype="<f4", count=heads * keys, offset=site["values"]).reshape(heads, keys)
        assert values[int(bar["head"].rpartition(".")[2])].sum() == pytest.approx(bar["value"], abs=1e-4)


@pytest.mark.parametrize("against", ["#none", "#runner-up", "#5"])
def test_the_bars_sum_to_the_models_own_logit(attribute_tab, against) -> None:
    told = payload(attribute_tab(step="2", against=against))
    sums(told)
    model = catalogue.translator()
    trace = model.trace(CLEAN, to="fr")
    logits = trace.logits[0, 2]
    own = trace.sentences[0].tgt_out[2].id
    best = logits.topk(2).indices.tolist()
    other = {"#none": 0.0, "#runner-up": float(logits[best[1] if best[0] == own else best[0]]), "#5": float(logits[5])}
    assert told.header["logit"] == pytest.approx(float(logits[own]) - other[against], abs=1e-5)


def test_what_falls_without_a_head_stands_beside_it_where_asked(attribute_tab) -> None:
    told = payload(attribute_tab(step="1", drops="1")).header
    model = catalogue.translator()
    trace = model.trace(CLEAN, to="fr")
    expected = drops(model, trace, LogitTarget(1, trace.sentences[0].tgt_out[1].id))
    shown = {bar["head"]: bar["drop"] for bar in told["bars"] if bar["head"]}
    assert shown["cross.0.1"] == pytest.approx(expected["cross", 0, 1], abs=1e-4)
    assert all(bar["drop"] is None for bar in payload(attribute_tab(step="1")).header["bars"])


def test_the_lens_ends_in_what_the_model_says_and_asks_for_the_token_that_is_asked(attribute_tab) -> None:
    decoder, encoder = payload(attribute_tab(step="1", token="#9")).header["lenses"]
    model = catalogue.translator()
    trace = model.trace(CLEAN, to="fr")
    probabilities = trace.logits[0].softmax(dim=-1)
    assert [cell[0][1] for cell in decoder["cells"][-1]] == pytest.approx(probabilities.amax(dim=1).tolist(), abs=1e-4)
    assert decoder["own"][-1][1][0] == pytest.approx(float(probabilities[1, 9]), abs=1e-5)
    lens = logit_lens(model, trace)
    assert decoder["own"][1][2][1] == int(lens.rank[1, 2])
    assert len(encoder["cells"][0]) == len(trace.tokens("src"))


def test_a_run_with_interventions_is_what_is_taken_apart(attribute_tab) -> None:
    app = attribute_tab(step="1", do="cross.0.1-zero")
    told = payload(app)
    sums(told)


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_checkpoints_that_only_add_are_taken_apart(attribute_tab, folder, name) -> None:
    told = payload(attribute_tab(model=folder(name), src="I love dogs and cats", to=""))
    sums(told)
    assert not told.header["why_last"]


def test_of_a_model_that_normalises_sums_the_last_layer_is_shown(attribute_tab, folder) -> None:
    told = payload(attribute_tab(model=folder("bart"), src="I love dogs and cats", to="", step="1"))
    sums(told)
    assert "no exact split over layers" in told.header["why_last"]
    assert told.header["bars"][0]["part"] == "layers before"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"token": "#999999"}, "There is no token 999999"),
        ({"token": "a big red dog"}, "Please choose a single token"),
        ({"token": "#9", "against": "#9"}, "Please choose two different tokens"),
        ({"step": "900"}, "step “900”"),
        ({"opened": "nose"}, "a head is a kind"),
        ({"src": ""}, "empty"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(attribute_tab, wrong, says) -> None:
    app = attribute_tab(**wrong)
    assert not app.exception
    assert says in notes(app)


@pytest.mark.parametrize(
    ("name", "says"), [("bert", "cannot be split into contributions"), ("electra", "no output over a vocabulary")]
)
def test_a_model_whose_logits_are_no_sum_says_why(attribute_tab, folder, name, says) -> None:
    app = attribute_tab(model=folder(name), src="I love dogs", to="")
    assert not app.exception
    assert says in notes(app)
