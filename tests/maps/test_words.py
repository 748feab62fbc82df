"""Pieces made into words: weights to them add up, weights from them are averaged, masks follow."""

import torch

from attnviz.maps.grouping import ColLabel, RowLabel
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import select
from attnviz.models.translator.tiny import tiny_translator
from tests.analysis.heads.by_hand import BOS, ENCODER, EOS, POND, close, tokens, trace_of


def test_pieces_to_a_word_add_up_and_from_a_word_average() -> None:
    maps = select(trace_of("encoder_self", ENCODER, src=POND), "encoder_self", MapOptions(words=True))
    assert maps.rows == (RowLabel("pond", None, (0, 1)), RowLabel(".", None, (2,)), RowLabel(EOS, None, (3,)))
    assert maps.cols == (ColLabel("pond", (0, 1)), ColLabel(".", (2,)), ColLabel(EOS, (3,)))
    assert close(maps.attn[0, 0], [[0.45, 0.2, 0.35], [0.25, 0.25, 0.5], [0.4, 0.2, 0.4]])


def test_decoder_rows_merge_by_the_word_that_they_put_out() -> None:
    tgt = tokens(BOS, "▁a", "▁sau", "té", EOS)  # rows: bos → a, a → sau, sau → té, té → eos
    attn = [[0.7, 0.3], [0.2, 0.8], [0.6, 0.4], [0.1, 0.9]]
    maps = select(trace_of("cross", attn, src=tokens("▁he", EOS), tgt=tgt), "cross", MapOptions(words=True))
    assert [row.text for row in maps.rows] == [f"{BOS} → a", "a → sauté", f"sauté → {EOS}"]
    assert [row.tokens for row in maps.rows] == [(0,), (1, 2), (3,)]
    assert close(maps.attn[0, 0], [[0.7, 0.3], [0.4, 0.6], [0.1, 0.9]])


def test_decoder_self_keys_merge_by_the_word_that_went_in() -> None:
    tgt = tokens(BOS, "▁sau", "té", EOS)
    attn = [[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.2, 0.3, 0.5]]
    causal = torch.ones(3, 3, dtype=torch.bool).tril()[None, None]
    maps = select(trace_of("decoder_self", attn, tgt=tgt, mask=causal), "decoder_self", MapOptions(words=True))
    assert [row.text for row in maps.rows] == [f"{BOS} → sauté", f"sauté → {EOS}"]
    assert [col.tokens for col in maps.cols] == [(0,), (1, 2)]
    assert close(maps.attn[0, 0], [[0.7, 0.3], [0.2, 0.8]])
    assert maps.mask[0, 0].tolist() == [[True, True], [True, True]]  # any piece may see any piece


def test_a_masked_word_stays_masked() -> None:
    tgt = tokens(BOS, "▁a", "▁sau", "té", EOS)
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    attn = causal / causal.sum(-1, keepdim=True)
    maps = select(
        trace_of("decoder_self", attn, tgt=tgt, mask=causal[None, None]), "decoder_self", MapOptions(words=True)
    )
    assert maps.mask[0, 0].tolist() == [[True, False, False], [True, True, True], [True, True, True]]
    assert maps.attn[0, 0, 0].tolist() == [1, 0, 0]


def test_chinese_is_not_merged() -> None:
    trace = tiny_translator(seed=0).trace("i love you", to="zh", tgt_text="我爱机器学习")
    texts = [row.output for row in select(trace, "cross", MapOptions(words=True)).rows]
    assert [text for text in texts if text[0] >= "\u4e00"] == list("我爱机器学习")


def test_pieces_that_see_no_key_do_not_count_in_a_words_mean() -> None:
    mask = torch.tensor([[True, True], [False, False]])[None, None]
    trace = trace_of("encoder_self", [[0.3, 0.7], [0.5, 0.5]], src=tokens("▁po", "nd"), mask=mask)
    assert close(select(trace, "encoder_self", MapOptions(words=True)).attn[0, 0], [[1.0]])
