"""Running a model again under a mask: the text that it would write, and how far its maps move."""

from dataclasses import replace

import pytest
import torch

from attnviz.analysis import rerun
from attnviz.analysis.fills import FillChoice, Weighing, fill_scores, one_head
from attnviz.analysis.mask_spec import MaskSpec
from attnviz.analysis.next_tokens import next_tokens as decoding_candidates
from attnviz.analysis.rerun import batch_of_two, next_tokens, start_writing, write_again
from attnviz.masks.numbers import effect
from attnviz.models.translator.tiny import tiny_translator
from attnviz.tracing.interventions import MaskOverride
from attnviz.transformer import masks
from attnviz.transformer.probe import Site
from tests.each_case import each_case
from tests.maps.test_lazy import cut_into_blocks


@pytest.fixture(scope="module")
def model():
    return tiny_translator(n_heads=3, n_layers=2)


@pytest.fixture(scope="module")
def trace(model):
    return model.trace("machine learning is fun", to="fr")


def every_layer(kind) -> list[Site]:
    return [Site(kind, layer) for layer in range(2)]


def test_running_again_without_a_probe_gives_the_trace_back(model, trace) -> None:
    again = model.rerun(trace)
    for kind in trace.kinds:
        torch.testing.assert_close(again.attn(kind), trace.attn(kind))


def test_what_is_written_without_a_probe_is_the_models_own_translation(model, trace) -> None:
    assert write_again(model, trace, None)[0].text == model.translate("machine learning is fun", to="fr")


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_writing_with_a_cache_and_without_agree_where_nobody_sees_ahead(model, trace, kind) -> None:
    recipe = MaskSpec({"window": (1,), "causal": ()})
    probe = MaskOverride(every_layer(kind), recipe.build)
    assert write_again(model, trace, probe) == write_again(model, trace, probe, cached=False)


@pytest.mark.parametrize("cached", [True, False])
def test_what_is_written_piece_by_piece_is_the_same(model, trace, cached: bool) -> None:
    probe = MaskOverride(every_layer("cross"), MaskSpec({"window": (1,)}).build)
    whole = write_again(model, trace, probe, cached=cached)
    pieces = start_writing(model, trace, probe, cached=cached)
    assert (pieces.count, pieces.so_far().text, pieces.done) == (0, "", False)
    counts = [pieces.go_on(1e-9).count for _ in range(len(whole[0].tokens))]
    assert counts == list(range(1, len(whole[0].tokens) + 1)), "a token each time"
    assert pieces.go_on(60.0).done
    assert [pieces.so_far()] == whole


def test_a_text_is_cut_early_where_each_token_takes_a_pass_over_all_before_it(model, trace, monkeypatch) -> None:
    monkeypatch.setattr(rerun, "MOST_UNCACHED", 3)
    probe = MaskOverride(every_layer("decoder_self"), masks.full)
    cut = write_again(model, trace, probe, cached=False)[0]
    assert len(cut.tokens) == 3
    assert cut.note.startswith("cut after 3 tokens")
    assert "a pass over all tokens before it" in cut.note
    assert len(write_again(model, trace, probe)[0].tokens) > 3, "with a cache nothing is cut so early"


def test_torchs_refusal_ends_the_writing_in_its_own_words(model, trace) -> None:
    probe = MaskOverride(
        every_layer("cross"), MaskSpec({"window": (1,)}).build, weigh=Weighing(FillChoice("-1e9", "float16"))
    )
    refused = start_writing(model, trace, probe).go_on(60.0)
    assert refused.done
    assert "overflow" in refused.error
    assert refused.so_far().text == ""


def test_a_mask_that_hides_nothing_moves_nothing_in_the_encoder(model, trace) -> None:
    probe = MaskOverride(every_layer("encoder_self"), masks.full)
    found = effect.effect(model, trace, probe)
    assert write_again(model, trace, probe) == write_again(model, trace, None)
    assert found.after is not None
    assert float(effect.distances(found)["moved"].to_numpy().max()) < 1e-6


def test_a_map_that_moves_wholly_has_moved_by_one(model, trace) -> None:
    k_len = trace.attn("cross").shape[-1]
    only = torch.zeros(1, 1, k_len, dtype=torch.bool)
    only[..., 0] = True
    probe = MaskOverride([Site("cross", 0)], lambda q_len, k_len: only.expand(1, q_len, k_len), head=1)
    found = effect.effect(model, trace, probe)
    columns = ["kind", "layer", "head", "moved"]
    moved = {(kind, layer, head): far for kind, layer, head, far in effect.distances(found)[columns].to_numpy()}
    before = trace.attn("cross", layer=0, head=1)
    assert moved["cross", 0, 1] == pytest.approx(float((1 - before[:, 0]).mean()), abs=1e-5)
    assert moved["cross", 0, 0] < 1e-6
    assert moved["decoder_self", 1, 0] > 0


@each_case("fill", ["zero before", "zero after", "-1e9", "-inf"])
def test_a_map_moves_as_far_as_its_fill_moved_it(model, trace, fill: str, monkeypatch) -> None:
    """The maps of the run are those of its fill, not what an exact mask would have made of the same scores."""

    def causal_but_for_row_two(q_len: int, k_len: int) -> torch.Tensor:
        seen = masks.full(q_len, k_len).tril()
        seen[:, 2] = False
        return seen

    choice, head = FillChoice(fill), 1
    probe = MaskOverride([Site("decoder_self", 0)], causal_but_for_row_two, head=head, weigh=Weighing(choice))
    cut_into_blocks(monkeypatch, rows=3)
    found = effect.effect(model, replace(trace), probe)
    call = one_head(trace.call("decoder_self", 0), head)
    expected = fill_scores(call, causal_but_for_row_two(*call.query.shape[2:3], call.key.shape[2]), choice).attn
    assert expected is not None
    torch.testing.assert_close(found.attn("decoder_self")[0, head], expected[0, 0], equal_nan=True, atol=1e-6, rtol=0)
    table = effect.distances(found)[["kind", "layer", "head", "moved"]].to_numpy()
    moved = {(kind, layer, at): far for kind, layer, at, far in table}
    change = (expected[0, 0] - trace.attn("decoder_self", layer=0, head=head)).abs().sum(-1).mean() / 2
    assert moved["decoder_self", 0, head] == pytest.approx(float(change), abs=1e-6, nan_ok=True)
    assert moved["decoder_self", 0, 0] < 1e-6, "another head of the layer"


def test_nan_of_one_row_spreads_to_every_position_a_layer_later(model, trace) -> None:
    def all_but_row_two(q_len: int, k_len: int) -> torch.Tensor:
        mask = masks.full(q_len, k_len)
        mask[:, 2] = False
        return mask

    probe = MaskOverride([Site("encoder_self", 0)], all_but_row_two, weigh=Weighing(FillChoice("-inf")))
    found = effect.effect(model, trace, probe)
    assert found.after is not None
    spread = {(stack, layer): nan for stack, layer, nan, _ in effect.nan_positions(found.after).to_numpy()}
    source, target = (len(trace.query_tokens(kind)) for kind in ("encoder_self", "decoder_self"))
    assert spread["encoder", 0] == 1
    assert spread["encoder", 1] == source
    assert spread["decoder", 0] == target
    written = write_again(model, trace, probe)[0]
    assert written.text == ""
    assert "NaN" in written.note


def test_torchs_refusal_stands_in_place_of_the_effect(model, trace) -> None:
    probe = MaskOverride(
        every_layer("cross"), MaskSpec({"window": (1,)}).build, weigh=Weighing(FillChoice("-1e9", "float16"))
    )
    found = effect.effect(model, trace, probe)
    assert isinstance(found, effect.Refused)
    assert "overflow" in found.error


def test_next_tokens_are_among_those_that_may_be_written(model, trace) -> None:
    assert trace.logits is not None
    logits = trace.logits[0, 0].clone()
    logits[model.codec.pad_id] = 1e3
    found = next_tokens(model, logits, 3)
    assert model.codec.pad_id not in [token.id for token, _ in found]
    candidates = decoding_candidates(logits[None], model.vocabulary, count=3)[0]
    assert [(token.id, pytest.approx(chance)) for token, chance in found] == [(c.id, c.probability) for c in candidates]


def test_next_tokens_are_probabilities_in_order(model, trace) -> None:
    assert trace.logits is not None
    chances = [chance for _, chance in next_tokens(model, trace.logits[0, 0], 4)]
    assert chances == sorted(chances, reverse=True)
    assert chances[0] == pytest.approx(float(model.vocabulary.forbid(trace.logits[0, :1]).softmax(-1).max()), abs=1e-6)


def test_a_shorter_sentence_is_padded_on_both_axes_and_reads_as_it_would_alone(model) -> None:
    long = model.trace("a big red dog jumped over a small pond", to="fr", tgt_text="un chien rouge a sauté")
    short = model.trace("I love you", to="fr", tgt_text="je t'aime")
    both = batch_of_two(model, long, short)
    assert [token.text for token in both.key_tokens("encoder_self", item=1)].count("<pad>") > 0
    assert [token.text for token in both.query_tokens("cross", item=1)].count("<pad>") > 0
    for kind in both.kinds:
        alone = short.attn(kind)
        rows, cols = alone.shape[-2:]
        torch.testing.assert_close(both.attn(kind, item=1)[..., :rows, :cols], alone, atol=1e-5, rtol=0)
        torch.testing.assert_close(both.attn(kind, item=0), long.attn(kind), atol=1e-5, rtol=0)


def test_the_sentences_of_a_batch_may_be_longer_on_different_sides(model) -> None:
    first = model.trace("a big red dog jumped over a small pond", to="fr", tgt_text="un")
    second = model.trace("I love you", to="fr", tgt_text="un chien rouge a sauté un petit chien")
    both = batch_of_two(model, first, second)
    assert len(both.query_tokens("cross", item=0)) == len(both.query_tokens("cross", item=1))
    assert len(both.output_tokens("cross", item=0) or ()) == len(both.query_tokens("cross", item=0))
    assert [token.text for token in both.query_tokens("cross", item=0)][-1] == "<pad>"
