"""The profile of a head over a corpus equals the sum over its sentences, for any batches."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import attnviz
from attnviz.analysis.cancellable import Cancellable
from attnviz.analysis.corpus import reading
from attnviz.analysis.corpus.lines import lines_of
from attnviz.analysis.corpus.reading import read_corpus
from attnviz.analysis.metric_table import METRICS, head_metrics
from attnviz.analysis.output_maps import output_maps
from attnviz.causes.corpus.numbers.importance import gradient_importance
from attnviz.causes.corpus.numbers.profiles import head_profiles
from attnviz.causes.corpus.numbers.samples import quantile_samples, top_sentences
from attnviz.maps.selection import select
from attnviz.models.translator.tiny import tiny_translator
from attnviz.transformer.probe import Site

PLACE = ("cross", 1, 2)


@pytest.fixture(scope="module")
def profiles(model, corpus):
    return head_profiles(model, corpus)


def test_measures_are_those_of_the_heads_page(model, corpus, profiles) -> None:
    for item in (1, 4):
        trace = model.rerun(corpus.one_sentence(item))
        table = head_metrics({kind: select(trace, kind) for kind in trace.kinds}, trace)
        expected = table[list(METRICS)].to_numpy()
        np.testing.assert_allclose(profiles.measures[item].numpy(), expected, atol=2e-5)


def test_batches_give_what_single_runs_give(model, corpus, profiles, monkeypatch) -> None:
    assert corpus.batch_count() < len(corpus.sentences)
    monkeypatch.setattr(reading, "BATCH_TOKENS", 1)  # a sentence at a time
    assert corpus.batch_count() == len(corpus.sentences)
    single = head_profiles(model, corpus)
    torch.testing.assert_close(single.measures, profiles.measures, atol=1e-5, rtol=1e-5, equal_nan=True)
    torch.testing.assert_close(single.written, profiles.written, atol=1e-5, rtol=1e-5)
    assert single.role_shares().equals(profiles.role_shares())
    torch.testing.assert_close(single.reads["cross"].given, profiles.reads["cross"].given, atol=1e-5, rtol=1e-5)


def test_order_of_the_lines_changes_nothing(model, corpus, profiles) -> None:
    turned = replace(corpus, lines=corpus.lines[::-1], sentences=corpus.sentences[::-1])
    other = head_profiles(model, turned)
    torch.testing.assert_close(other.written.flip(0), profiles.written, atol=1e-5, rtol=1e-5)


def test_what_is_written_is_the_longest_vector_that_a_head_adds(model, corpus, profiles) -> None:
    trace, (kind, layer, head) = model.rerun(corpus.one_sentence(1)), PLACE
    parts = output_maps(model, trace)[Site(kind, layer)].head_outputs(trace.context(kind, layer))
    norms = parts[head].norm(dim=-1)
    nth = profiles.places.index(PLACE)
    assert float(profiles.written[1, nth]) == pytest.approx(float(norms.max()), rel=1e-5)
    assert int(profiles.written_at[1, nth]) == int(norms.argmax())


def test_shares_of_where_a_head_looks_sum_to_one(profiles) -> None:
    shares = profiles.role_shares()
    sums = shares[shares["group"] == "where"].groupby(["kind", "layer", "head"])[["share", "by lot"]].sum()
    np.testing.assert_allclose(sums.to_numpy(), 1, atol=1e-6)
    assert shares["share"].between(0, 1).all()


def test_a_head_that_looks_back_by_one_has_that_role_throughout(model, corpus) -> None:
    from attnviz.causes.corpus.numbers.profiles import role_counts

    sentence = corpus.sentences[1]
    count = len(sentence.src)
    attn = torch.zeros(1, 1, count, count)
    attn[0, 0, torch.arange(1, count), torch.arange(count - 1)] = 1  # the first row holds nothing
    counts = role_counts(attn, torch.ones_like(attn, dtype=torch.bool), sentence, "encoder_self")
    assert float(counts.rows) == count - 1
    assert float(counts.hits["previous token"]) == count - 1
    assert float(counts.hits["first token"]) == 1
    assert float(counts.hits["itself"]) == float(counts.hits["farther ahead"]) == 0
    assert float(counts.lot["previous token"]) == pytest.approx((count - 1) / count)


def test_an_even_head_reads_no_token_more_than_another(corpus) -> None:
    even = tiny_translator(seed=3, n_heads=3, n_layers=2, d_k=6)
    for layer in even.model.decoder.layers:
        for parameter in layer.cross_attention.W_q.parameters():
            parameter.zero_()
    found = head_profiles(even, corpus).lift(PLACE, least=1)
    np.testing.assert_allclose(found["lift"], 1, atol=1e-5)
    assert float(found["share"].sum()) == pytest.approx(1)


def test_lift_is_weight_over_that_of_an_even_head(model, corpus, profiles) -> None:
    found, given, even = profiles.lift(PLACE, least=1), 0.0, 0.0
    id_ = int(found["id"][0])
    for item, sentence in enumerate(corpus.sentences):
        attn = model.rerun(corpus.one_sentence(item)).attn("cross", layer=1, head=2)
        at = [key for key, token in enumerate(sentence.src) if token.id == id_]
        given += float(attn[:, at].sum())
        even += attn.shape[0] * len(at) / attn.shape[1]
    assert found["lift"][0] == pytest.approx(given / even, rel=1e-4)
    assert (profiles.lift(PLACE, least=3)["occurrences"] >= 3).all()


def test_what_stands_for_any_unknown_text_is_named_by_its_piece(model) -> None:
    strange = read_corpus(model, lines_of(["龘 I love", "a 龘 dog", "龠 fun"]), to="fr")
    found = head_profiles(model, strange).lift(PLACE)
    assert found.loc[found["piece"] == "<unk>", "token"].tolist() == ["<unk>"]


def test_the_top_is_ranked_and_samples_are_of_every_part(profiles) -> None:
    top = top_sentences(profiles, PLACE, count=3)
    amounts = profiles.written[:, profiles.places.index(PLACE)]
    assert [sample.written for sample in top] == amounts.sort(descending=True).values[:3].tolist()
    drawn = quantile_samples(profiles, PLACE, buckets=3, each=1, seed=5)
    assert [sample.bucket for sample in drawn] == [0, 1, 2]
    assert [sample.written for sample in drawn] == sorted(sample.written for sample in drawn)
    assert drawn == quantile_samples(profiles, PLACE, buckets=3, each=1, seed=5)
    assert len({quantile_samples(profiles, PLACE, buckets=3, each=1, seed=seed) for seed in range(9)}) > 1
    with pytest.raises(ValueError, match="There is no head cross L9 H0"):
        top_sentences(profiles, ("cross", 9, 0))


def test_stopping_keeps_what_was_done(model, corpus, profiles, monkeypatch) -> None:
    monkeypatch.setattr(reading, "BATCH_TOKENS", 1)
    heard = []
    stopped = head_profiles(
        model, corpus, stop=Cancellable(lambda *both: heard.append(both), lambda: len(heard) == 3)
    )  # fmt: skip
    assert heard == [(0, 6), (1, 6), (2, 6)]
    done = stopped.measured
    assert int(done.sum()) == 2
    torch.testing.assert_close(stopped.written[done], profiles.written[done], atol=1e-5, rtol=1e-5)
    assert bool(stopped.written[~done].isnan().all())
    assert set(stopped.distribution()["sentences"]) <= {0, 2}
    assert len(top_sentences(stopped, PLACE)) == 2


def test_a_decoder_alone_is_measured_too(tmp_path) -> None:
    import transformers

    from tests.models.huggingface.tokenizers_made import byte_prompts

    tokenizer = byte_prompts()
    config = transformers.GPT2Config(
        n_layer=2, n_head=3, n_embd=15, n_inner=7, n_positions=37, vocab_size=len(tokenizer), bos_token_id=0,
        eos_token_id=0,
    )  # fmt: skip
    model = attnviz.load(transformers.GPT2LMHeadModel(config).eval(), tokenizer)
    corpus = read_corpus(model, lines_of("A cat sat on it.\nWe were late."))
    found = head_profiles(model, corpus)
    assert found.measured.all()
    assert not found.why_not
    alone = head_profiles(model, replace(corpus, lines=corpus.lines[1:], sentences=corpus.sentences[1:]))
    torch.testing.assert_close(alone.written[0], found.written[1], atol=1e-5, rtol=1e-5)
    matters = gradient_importance(model, corpus)
    assert matters.sentences == 2
    assert bool((matters.of_heads > 0).all())
