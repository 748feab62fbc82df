"""Interventions while a target is written: a step on a cache computes what one pass over the whole target does."""

from dataclasses import replace

import pytest
import torch

import attnviz
from attnviz.analysis.rerun import write_again
from attnviz.models.translator.tiny import tiny_translator
from attnviz.toys.learn import learn
from attnviz.transformer.beam import Beam
from tests.each_case import each_case

TEXT, OTHER, MOST = "A big red dog jumped over a small pond.", "I love machine learning, you jumped.", 6


@pytest.fixture(scope="module")
def model():
    return tiny_translator(seed=5, n_heads=5, n_layers=3, d_k=14)


@pytest.fixture(scope="module")
def interventions_by_kind(model):
    """One of each sort."""
    donor = model.trace(OTHER, to="fr", max_tokens=7)
    means = attnviz.mean_contexts(model, [donor])
    by_hand = torch.rand(3, len(model.codec.encode_source(TEXT).ids))
    causal = torch.rand(2, 6, 6).tril()
    return {
        "zero": [attnviz.ablate("cross", layer=1, heads=[2, 4]), attnviz.ablate("encoder_self", layer=0)],
        "some positions": [attnviz.ablate("decoder_self", layer=1, heads=[0], positions=[1, 4])],
        "mean": [attnviz.ablate(kind, layer=1, heads=[1], to=means) for kind in donor.kinds],
        "another's": [attnviz.ablate("decoder_self", layer=2, to=donor)],
        "uniform": [attnviz.ablate(kind, layer=0, heads=[3], to="uniform") for kind in donor.kinds],
        "diagonal": [attnviz.ablate("decoder_self", layer=1, to="diagonal")],
        "context": [attnviz.patch(donor, "cross", layer=1, heads=[2])],
        "query": [attnviz.patch(donor, "decoder_self", what="query", layer=0)],
        "key": [attnviz.patch(donor, kind, what="key", layer=1) for kind in ("decoder_self", "cross")],
        "value": [attnviz.patch(donor, "decoder_self", what="value", positions=[0, 2]),
                  attnviz.patch(donor, "cross", what="value", heads=[1, 3])],
        "attn": [attnviz.patch(donor, "decoder_self", what="attn", layer=0, heads=[0, 1])],
        "layer": [attnviz.patch(donor, stack, what="layer", layer=1) for stack in ("encoder", "decoder")],
        "embedding": [attnviz.patch(donor, "decoder", what="embedding")],
        "by hand": [attnviz.edit("cross", by_hand, layer=0, rows=[0, 2, 5]),
                    attnviz.edit("decoder_self", causal, layer=2, heads=[0, 3])],
        "exchange": [attnviz.exchange("cross", (1, 3)), attnviz.exchange("decoder_self", (0, 2), layer=1)],
    }  # fmt: skip


SORTS = ("zero", "some positions", "mean", "another's", "uniform", "diagonal", "context", "query", "key", "value",
         "attn", "layer", "embedding", "by hand", "exchange")  # fmt: skip


@each_case("sort", SORTS)
def test_steps_on_a_cache_and_without_one_are_the_one_pass(sort, model, interventions_by_kind) -> None:
    whole = model.trace(TEXT, to="fr", max_tokens=MOST, interventions=interventions_by_kind[sort])
    assert whole.interventions == tuple(interventions_by_kind[sort])
    assert not torch.equal(whole.logits, model.rerun(replace(whole, interventions=())).logits)  # it bites
    for cached in (True, False) if sort in ("some positions", "key", "attn") else (True,):
        steps = list(
            model.stepwise(TEXT, to="fr", cached=cached, max_tokens=MOST, interventions=interventions_by_kind[sort])
        )
        assert [step.token.id for step in steps] == [token.id for token in whole.sentences[0].tgt_out][: len(steps)]
        assert len(steps) == MOST or not whole.sentences[0].cut
        assert steps[0].trace.interventions == whole.interventions
        for row, step in enumerate(steps):
            torch.testing.assert_close(step.logits, whole.logits[0, row], atol=2e-4, rtol=1e-4)
            for kind in ("decoder_self", "cross"):
                found = step.attn(kind)[:, :, -1]
                expected = whole.attn(kind)[:, :, row, : found.shape[-1]]
                torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("sort", ["mean", "value"])
def test_translations_are_what_the_trace_wrote_alone_and_in_a_batch_of_other_lengths(
    sort, model, interventions_by_kind
) -> None:
    together = model.translate(["I love fun.", "I love a dog."], to="fr", interventions=interventions_by_kind[sort])
    assert model.trace("I love fun.", to="fr", interventions=interventions_by_kind[sort]).tgt_text == together[0]


def test_what_was_done_to_a_trace_is_in_force_when_it_is_written_again(model, interventions_by_kind) -> None:
    trace = model.trace("I love fun.", to="fr", max_tokens=5, interventions=interventions_by_kind["zero"])
    (again,) = write_again(model, trace, None)
    assert again.text.startswith(trace.tgt_text)
    assert again.text != write_again(model, replace(trace, interventions=()), None)[0].text
    assert torch.equal(model.rerun(trace).logits, trace.logits)
    assert model.rerun(trace).interventions == trace.interventions


def test_a_beam_writes_under_interventions_too(model, interventions_by_kind) -> None:
    *_, last = model.stepwise(
        TEXT, to="fr", choose=Beam(3), max_tokens=6, interventions=interventions_by_kind["uniform"]
    )
    alone = model.trace(
        TEXT, to="fr", tgt_text=model.codec.text(last.hypotheses[0].ids), interventions=interventions_by_kind["uniform"]
    )
    assert alone.interventions == last.trace.interventions
    one = [
        step.token.id
        for step in model.stepwise(TEXT, to="fr", max_tokens=6, interventions=interventions_by_kind["uniform"])
    ]
    *_, narrow = model.stepwise(
        TEXT, to="fr", choose=Beam(1), max_tokens=6, interventions=interventions_by_kind["uniform"]
    )
    assert list(narrow.hypotheses[0].ids) == one


def test_a_teachers_steps_are_the_pass_over_its_target(model, interventions_by_kind) -> None:
    for sort in ("key", "layer", "zero"):
        whole = model.trace(TEXT, to="fr", tgt_text="un chien rouge", interventions=interventions_by_kind[sort])
        steps = model.stepwise(TEXT, to="fr", tgt_text="un chien rouge", interventions=interventions_by_kind[sort])
        for row, step in enumerate(steps):
            torch.testing.assert_close(step.logits, whole.logits[0, row], atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("name", ["reverse", "twice"])
def test_toys_are_intervened_in_as_well(name) -> None:
    toy = attnviz.load(learn(name, steps=2, seed=1, pairs=64, layers=2, heads=2, d_model=16))
    line = (" " if toy.experiment.toy_task.spaced else "").join(toy.experiment.toy_task.words[:4])
    kind = toy.kinds[-1]
    done = [attnviz.ablate(kind, layer=0, heads=[0]), attnviz.ablate("decoder_self", layer=0, to="uniform")]
    how = {"new_tokens": 3} if toy.is_decoder_only else {}
    whole, steps = toy.trace(line, interventions=done, **how), list(toy.stepwise(line, interventions=done, **how))
    assert not whole.context(kind, 0)[0].any()
    for row, step in list(enumerate(steps))[: len(whole.logits[0])]:
        torch.testing.assert_close(step.logits, whole.logits[0, row], atol=1e-4, rtol=1e-4)
        assert step.trace.interventions == tuple(done)
    assert torch.equal(toy.rerun(whole).logits, whole.logits)
    assert whole.tgt_text.endswith(toy.write(line, interventions=done, **how))
