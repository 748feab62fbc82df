"""Two runs side by side: equal runs differ by 0 everywhere, and each token stands beside its partner."""

from dataclasses import replace
from itertools import product

import pytest
import torch

import attnviz
from attnviz.causes.numbers.effects import ReferenceEffects, head_effects
from attnviz.causes.numbers.findings import effect_findings, pair_findings, run_findings, text_findings
from attnviz.causes.numbers.run_comparison import (
    compare_runs,
    divergence_by_kind,
    jensen_shannon,
    pair_in_order,
    pair_weights,
    pairs_of,
    union,
)
from attnviz.causes.numbers.switched_off import rerun_under
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import select
from attnviz.models.translator.tiny import tiny_translator
from tests.maps.test_lazy import cut_into_blocks


def test_a_run_beside_itself_is_0_everywhere_and_every_token_has_its_partner(clean) -> None:
    for by_words in (False, True):
        runs = compare_runs(clean, clean, by_words=by_words)
        assert list(runs.kinds) == list(clean.kinds)
        for found in runs.kinds.values():
            assert not found.apart.any()
            assert all(here == there for here, there in (*found.rows, *found.cols))
        assert "No head changed" in pair_findings(runs)[0]


def test_on_the_same_tokens_it_is_the_divergence_of_the_two_runs(clean, make_trace) -> None:
    after = make_trace(clean.src_text, attnviz.ablate("encoder_self", layer=0))
    runs, plain = compare_runs(clean, after), divergence_by_kind(clean, after)
    for kind, found in runs.kinds.items():
        torch.testing.assert_close(found.apart, plain[kind], atol=1e-6, rtol=0)
    here, there = runs.maps("cross", 1, 2)
    assert torch.equal(here, clean.attn("cross", layer=1, head=2))
    assert torch.equal(there, after.attn("cross", layer=1, head=2))


@pytest.mark.parametrize("rows", [128, 3])
def test_rows_read_in_blocks_are_compared_with_their_partners(clean, make_trace, rows: int, monkeypatch) -> None:
    cut_into_blocks(monkeypatch, rows)
    for text, by_words in product(("A very big red dog jumped.", "Very red dog."), (False, True)):
        clean, other = replace(clean), make_trace(text)
        for kind, found in compare_runs(clean, other, by_words=by_words).kinds.items():
            assert found.in_step
            one, two = (select(trace, kind, MapOptions(words=by_words)).attn for trace in (clean, other))
            pairs, cols = pairs_of(found.rows), pairs_of(found.cols)
            p, q = one[:, :, [here for here, _ in pairs]], two[:, :, [there for _, there in pairs]]
            wanted = jensen_shannon(*pair_weights(p, q, cols)).mean(dim=-1)
            torch.testing.assert_close(found.apart, wanted, atol=1e-6, rtol=0)
    after = make_trace(clean.src_text, attnviz.ablate("encoder_self", layer=0))
    for kind, apart in divergence_by_kind(clean, after).items():
        wanted = jensen_shannon(clean.attn(kind), after.attn(kind)).mean(dim=-1)
        torch.testing.assert_close(apart, wanted, atol=1e-6, rtol=0)


def test_a_word_more_stands_alone_and_the_others_keep_their_partners() -> None:
    assert union(["a", "dog", "ran"], ["a", "big", "dog", "ran"]) == ((0, 0), (None, 1), (1, 2), (2, 3))
    assert union(["red", "dog"], ["black", "dog"]) == ((0, 0), (1, 1))


def test_a_longer_sentence_is_compared_where_it_has_partners(model, make_trace, clean) -> None:
    longer = make_trace("A very big red dog jumped.")
    found = compare_runs(clean, longer).kinds["encoder_self"]
    assert len(pairs_of(found.rows)) == len(clean.tokens("src"))
    assert (None in (here for here, _ in found.rows)) == (len(longer.tokens("src")) > len(clean.tokens("src")))
    assert bool(((found.apart > 0) & (found.apart <= 1)).all())


def test_rows_that_have_too_few_partners_are_not_compared() -> None:
    places, in_step = pair_in_order(["un", "chien", "rouge"], ["ein", "roter", "Hund", "."])
    assert (places, in_step) == (((0, 0), (1, 1), (2, 2), (None, 3)), False)
    model = tiny_translator()
    one, other = (model.trace("I love fun.", to=to, tgt_text=text) for to, text in (("fr", "un chien"), ("zh", "我")))
    found = compare_runs(one, other).kinds
    assert not found["encoder_self"].apart.any()
    said = " ".join(pair_findings(compare_runs(one, other)))
    assert all(bool(kind.apart.isnan().all()) == (not kind.in_step) for kind in found.values())
    assert ("Too few rows" in said) == any(not kind.in_step for kind in found.values())


def test_what_is_said_of_effects_names_the_head_that_costs_most_and_counts_the_unusual(model, clean) -> None:
    effects = head_effects(model, clean)
    kind, layer, head = effects.places[int(effects.mean.argmin())]
    first, second = effect_findings(effects, None)
    assert f"{kind.removesuffix('_self')} L{layer} H{head}" in first
    assert "plain nats" in second
    usual = ReferenceEffects(effects.mean.clone(), torch.ones_like(effects.mean), 200)
    assert effect_findings(effects, usual)[1].startswith("0 of 45 heads do more here")
    usual.mean[3] += 2.5
    assert effect_findings(effects, usual)[1].startswith("1 of 45 heads does more here")


def test_a_text_that_parts_is_told_with_the_margins_of_both_runs(model, make_trace) -> None:
    plain = model.trace("I love fun.", to="fr")
    done = [attnviz.ablate(kind) for kind in model.kinds]
    now = model.trace("I love fun.", to="fr", interventions=done)
    assert plain.tgt_text != now.tgt_text
    runs = rerun_under(model, plain, done, written=now)
    assert runs.chances is not None
    (said,) = text_findings(*runs.chances, (plain.sentences[0].tgt, now.sentences[0].tgt))
    assert "The first difference is at" in said
    assert "→" in run_findings(*runs.chances)[0]
    assert text_findings(*runs.chances, (plain.sentences[0].tgt, plain.sentences[0].tgt)) == ()
