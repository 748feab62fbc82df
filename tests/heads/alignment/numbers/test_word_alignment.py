"""Links of words from scores of pieces, and how wrong they are."""

from dataclasses import replace

import pytest
import torch

from attnviz.analysis.attribution import LogitTarget, attribution
from attnviz.analysis.residual import residual_maps
from attnviz.heads.alignment.numbers.word_alignment import (
    alignment_error,
    attention_scores,
    attribution_scores,
    word_links,
)
from attnviz.text.tokens import Token
from attnviz.tracing.record import Sentence


def tokens(*texts):
    """Words; a piece that goes on begins with #, a special token stands in angles."""
    return tuple(
        Token(text.lstrip("#"), at, 4 * at, 4 * at + len(text), text.startswith("<"), not text.startswith("#"))
        for at, text in enumerate(texts)
    )


@pytest.fixture
def pair(clean):
    sentence = Sentence(tokens("red", "do", "#g", "<eos>"), tokens("<bos>", "chien", "rou", "#ge", "<eos>"))
    return replace(clean, sentences=(sentence,))


def test_pieces_are_summed_over_a_source_word_and_averaged_over_a_target_word(pair) -> None:
    scores = torch.tensor([[0.3, 0.2, 0.2, 0.3], [0.6, 0.0, 0.0, 0.4], [0.1, 0.2, 0.2, 0.5], [0.0, 0.0, 0.0, 1.0]])
    assert word_links(scores, pair) == {(1, 0), (0, 1)}  # <eos> holds most of a row, and is no word
    assert word_links(scores, pair, reading="in") == {(0, 0), (1, 1)}


def test_the_error_is_that_of_och_and_ney() -> None:
    sure, possible = {(0, 0), (1, 1)}, {(0, 0), (1, 1), (1, 0)}
    assert alignment_error(sure, sure, possible) == 0
    assert alignment_error(possible, sure, possible) == 0
    assert alignment_error(set(), sure, possible) == 1
    assert alignment_error({(0, 1)}, sure, possible) == 1
    assert alignment_error({(0, 0), (0, 1)}, sure, possible) == pytest.approx(1 - 2 / 4)
    with pytest.raises(ValueError, match="nothing to compare"):
        alignment_error(set(), set())


def test_attention_scores_are_means_of_heads(clean) -> None:
    torch.testing.assert_close(attention_scores(clean, layer=1), clean.attn("cross", layer=1).mean(dim=0))
    torch.testing.assert_close(attention_scores(clean), clean.attn("cross").mean(dim=(0, 1)))


def test_attribution_scores_sum_to_the_bars_of_cross_attention(model, clean) -> None:
    maps = residual_maps(model, clean)
    scores = attribution_scores(maps, clean)
    for row, token in enumerate(clean.sentences[0].tgt_out):
        bars = attribution(maps, clean, LogitTarget(row, token.id)).parts
        own = sum(part.value for part in bars if part.part == "head" and part.kind == "cross")
        assert float(scores[row].sum()) == pytest.approx(own, abs=1e-3)
    one = sum(attribution_scores(maps, clean, layer=layer) for layer in range(3))
    torch.testing.assert_close(one, scores, atol=1e-4, rtol=1e-4)
