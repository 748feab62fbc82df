"""The pruning curve: each point is the model without those heads, and its intervals come from seeds that repeat."""

import builtins
import io
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sacrebleu
import torch

import attnviz
from attnviz.analysis.cancellable import Cancellable
from attnviz.analysis.corpus.lines import lines_of
from attnviz.analysis.corpus.reading import read_corpus
from attnviz.analysis.runs import head_places
from attnviz.causes.corpus import __main__ as command
from attnviz.causes.corpus.numbers.change_counts import log_probabilities_under, written_under
from attnviz.causes.corpus.numbers.importance import gradient_importance
from attnviz.causes.corpus.numbers.pruning import (
    CurvePlan,
    PruningOrder,
    bleu_counts,
    greedy,
    order_by_importance,
    pruning_curve,
    random_orders,
    switch_off_heads,
)
from attnviz.models import catalogue
from tests.causes.corpus.conftest import LINES


def stopping_after(steps):
    done = []
    return Cancellable(lambda count, total: done.append(count) if count else None, lambda: len(done) == steps)


OUT = (("cross", 1, 2), ("encoder_self", 0, 1), ("cross", 1, 0))
ABLATED = (attnviz.ablate("cross", layer=1, heads=[0, 2]), attnviz.ablate("encoder_self", layer=0, heads=[1]))


def test_targets_are_as_likely_as_with_these_heads_ablated(model, corpus) -> None:
    found = log_probabilities_under(model, corpus, switch_off_heads(OUT))
    for item, line in enumerate(corpus.lines):
        trace = model.trace(line.text, to="fr", tgt_text=line.target, interventions=ABLATED)
        ids = torch.tensor([[token.id] for token in trace.sentences[0].tgt_out])
        expected = trace.logits[0].log_softmax(dim=-1).gather(1, ids).sum()
        assert float(found[item]) == pytest.approx(float(expected), abs=1e-4)
    assert float((found - log_probabilities_under(model, corpus, ())).abs().max()) > 1e-2


def test_what_is_written_is_what_translate_writes_without_these_heads(model, corpus) -> None:
    texts = [line.text for line in corpus.lines]
    for places, done in (((), ()), (OUT, ABLATED)):
        expected = model.translate(texts, to="fr", interventions=done)
        # a text that comes to no end is cut where its batch is
        found = written_under(model, corpus, switch_off_heads(places))
        assert all(one.startswith(other) or other.startswith(one) for one, other in zip(found, expected, strict=True))


def test_an_order_by_importance_begins_with_the_least(model, corpus) -> None:
    importance = gradient_importance(model, corpus)
    order = order_by_importance(importance)
    amounts = [float(importance.of_heads[importance.places.index(place)]) for place in order.places]
    assert amounts == sorted(amounts)
    assert order_by_importance(importance, most_first=True).places[0] == order.places[-1]


def test_greedy_search_takes_out_what_costs_least_beside_what_is_out(model, corpus) -> None:
    few = replace(corpus, lines=corpus.lines[:2], sentences=corpus.sentences[:2])
    two = greedy(model, few, stop=stopping_after(2 * len(few.sentences)))
    assert len(two.places) == 2  # the last whole step
    second = {
        place: float(log_probabilities_under(model, few, switch_off_heads((two.places[0], place))).sum())
        for place in head_places(model)
        if place != two.places[0]
    }
    assert second[two.places[1]] == pytest.approx(max(second.values()), abs=1e-4)
    whole = greedy(model, few, a_step=7)
    assert len(set(whole.places)) == len(whole.places) == 18
    assert greedy(model, few, a_step=7, stop=stopping_after(3)).places == whole.places[:7]


def test_orders_by_lot_repeat(corpus) -> None:
    places = tuple(("cross", layer, head) for layer in range(3) for head in range(4))
    orders = random_orders(places)
    assert len({order.places for order in orders}) == 5
    assert all(set(order.places) == set(places) for order in orders)
    assert orders == random_orders(places)


def test_the_curve_begins_with_the_whole_model_and_seeds_repeat(model, corpus) -> None:
    plan = CurvePlan((0, 2, 3), draws=50)
    order = PruningOrder("by hand", OUT)
    curve = pruning_curve(model, corpus, [order], plan)
    whole = curve.points[0]
    tokens = float(corpus.target_tokens.sum())
    for point, places in zip(curve.points, ((), OUT[:2], OUT), strict=True):
        expected = float(log_probabilities_under(model, corpus, switch_off_heads(places)).sum()) / tokens
        assert point.log_probability.value == pytest.approx(expected, abs=1e-6)
        assert point.log_probability.low < point.log_probability.value < point.log_probability.high
    assert curve.references == "given"
    assert pruning_curve(model, corpus, [order], plan) == curve
    other = pruning_curve(model, corpus, [order], replace(plan, seed=1))
    assert other.points[0].log_probability.low != whole.log_probability.low
    assert list(curve.table()["removed"]) == [0, 2, 3]


def test_a_model_agrees_with_itself_where_no_reference_is_given(model) -> None:
    own = read_corpus(model, lines_of([line.split("\t")[0] for line in LINES[:3]]), to="zh")
    curve = pruning_curve(model, own, [PruningOrder("by hand", OUT)], CurvePlan((0,), draws=20))
    assert curve.references == "its own, with every head in place"
    assert curve.points[0].bleu.value > 50


def test_stopping_keeps_the_points_that_were_scored(model, corpus) -> None:
    stop = stopping_after(2)
    curve = pruning_curve(
        model, corpus, random_orders(OUT, seeds=2), CurvePlan((0, 1, 2), with_bleu=False, draws=20), stop=stop
    )
    assert [(point.order, len(point.places)) for point in curve.points] == [
        ("random, seed 0", 0),
        ("random, seed 0", 1),
    ]


@pytest.mark.parametrize("to", ["fr", "zh"])
def test_bleu_of_the_counts_is_sacrebleus(to) -> None:
    texts = {
        "fr": (["Un petit chien rouge a sauté.", "Je t'aime bien, toi.", "Non"],
               ["Un petit chien rouge saute ici.", "Je t'aime bien, mon ami.", "Oui !"]),
        "zh": (["我爱你机器学习", "真好玩"], ["我很爱机器学习", "真好玩啊"]),
    }[to]  # fmt: skip
    found = bleu_counts(*texts, to=to)
    how = {"tokenize": "zh" if to == "zh" else "13a"}
    assert found.bleu() == pytest.approx(sacrebleu.corpus_bleu(texts[0], [texts[1]], **how).score)
    twice = [[side[0], side[0], side[1]] for side in texts]
    expected = sacrebleu.corpus_bleu(twice[0], [twice[1]], **how).score
    assert found.bleu(np.array([0, 0, 1])) == pytest.approx(expected)


def test_without_sacrebleu_one_sentence_says_so(model, corpus, monkeypatch) -> None:
    real = builtins.__import__

    def missing(name, *rest, **more):
        if name.startswith("sacrebleu"):
            raise ModuleNotFoundError(name, name=name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ValueError, match=r"^BLEU needs sacrebleu: pip install .*, or leave BLEU out.$"):
        pruning_curve(model, corpus, [PruningOrder("", OUT)], CurvePlan((0,)))
    assert pruning_curve(model, corpus, [PruningOrder("", OUT)], CurvePlan((0,), with_bleu=False, draws=5)).points


def test_numbers_of_heads_must_rise() -> None:
    assert CurvePlan.in_steps(4, 10).counts == (0, 4, 8, 10)
    for wrong in ((), (3, 1), (-1, 2), (2, 2)):
        with pytest.raises(ValueError, match="Numbers of removed heads must be 0 or more and increasing"):
            CurvePlan(wrong)


def test_the_command_writes_a_line_a_point(model, monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.setattr(catalogue, "translator", lambda: model)
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(LINES[:2])))
    out = tmp_path / "curve.csv"
    assert command.main(["--to", "fr", "--out", str(out), "--step", "9", "--no-bleu"]) == 0
    table = pd.read_csv(out)
    assert set(table["removed"]) == {0, 9, 18}
    assert len(set(table["order"])) == 9  # gradient twice, ablation, greedy, five by lot
    monkeypatch.setattr(sys, "stdin", io.StringIO("?"))
    assert command.main(["--to", "fr", "--out", str(out)]) == 2
    assert capsys.readouterr().err.endswith(
        "attnviz: Line 1 (“?”) has neither a letter nor a digit. Please leave it out.\n"
    )
