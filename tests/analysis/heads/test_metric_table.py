"""The table of every head's metrics: which row is which head, and what it is measured on."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from attnviz.analysis.metric_table import METRICS, end_keys, head_metrics
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import select
from attnviz.models.translator.tiny import tiny_translator
from tests.analysis.heads.by_hand import BOS, EOS, tokens, trace_of

WORDS = ["entropy", "mean_distance", "diagonality", "previous_token", "next_token"]


@pytest.fixture(scope="module")
def trace():
    return tiny_translator(seed=0, n_heads=3, n_layers=2).trace(
        "machine learning is fun.", to="fr", tgt_text="un chien"
    )


def test_one_row_a_head_of_each_kind(trace) -> None:
    table = head_metrics({kind: select(trace, kind) for kind in trace.kinds}, trace)
    assert list(table.columns) == ["kind", "layer", "head", *METRICS]
    sites = [(kind, layer, head) for kind in trace.kinds for layer in range(2) for head in range(3)]
    assert list(zip(table["kind"], table["layer"], table["head"], strict=True)) == sites
    assert table.attrs["units"]["entropy"] == "bits"


def test_every_row_holds_the_numbers_of_its_own_head(trace) -> None:
    table = head_metrics(select(trace, "encoder_self"), trace).set_index(["layer", "head"])
    for layer in range(2):
        for head in range(3):
            attn = trace.attn("encoder_self", layer=layer, head=head)
            row = table.loc[(layer, head)]
            assert row["entropy"] == pytest.approx(
                torch.special.entr(attn).sum(-1).mean().item() / math.log(2), abs=1e-5
            )
            away = (torch.arange(len(attn))[:, None] - torch.arange(len(attn))).abs()
            assert row["mean_distance"] == pytest.approx((attn * away).sum(-1).mean().item(), abs=1e-5)
            near = 1 - (attn * away).sum(-1) / away.amax(-1)
            assert row["diagonality"] == pytest.approx(near.mean().item(), abs=1e-5)
            assert row["previous_token"] == pytest.approx(attn.diagonal(-1).mean().item(), abs=1e-5)
            assert row["next_token"] == pytest.approx(attn.diagonal(1).mean().item(), abs=1e-5)
            assert row["first_token_mass"] == pytest.approx(attn[:, 0].mean().item(), abs=1e-5)
            assert row["eos_mass"] == pytest.approx(attn[:, -1].mean().item(), abs=1e-5)


def test_what_means_nothing_is_nan(trace) -> None:
    table = head_metrics({kind: select(trace, kind) for kind in trace.kinds}, trace)
    cross, decoder = table[table["kind"] == "cross"], table[table["kind"] == "decoder_self"]
    assert np.isnan(cross[["previous_token", "next_token"]].to_numpy()).all()
    assert np.isnan(decoder["eos_mass"].to_numpy()).all()  # <eos> never goes in
    assert (decoder["next_token"].to_numpy() == 0).all()  # masked
    everywhere = ["entropy", "mean_distance", "diagonality", "first_token_mass"]
    assert np.isfinite(table[everywhere].to_numpy()).all()


def test_hiding_special_tokens_does_not_hide_that_a_head_looks_at_them(trace) -> None:
    every, hidden = (
        head_metrics(select(trace, "encoder_self", MapOptions(specials)), trace) for specials in ("show", "renormalise")
    )
    sinks = ["first_token_mass", "eos_mass"]
    pd.testing.assert_frame_equal(every[sinks], hidden[sinks])
    assert (hidden["entropy"].to_numpy() < every["entropy"].to_numpy()).all()


def test_hidden_tokens_still_count_as_distance() -> None:
    src = tokens("▁a", "<unk>", "▁b")
    attn = [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5]]
    trace = trace_of("encoder_self", attn, src=src)
    row = head_metrics(select(trace, "encoder_self", MapOptions("hide")), trace).iloc[0]
    assert row["mean_distance"] == pytest.approx(1)  # half of the weight two tokens off
    assert math.isnan(row["previous_token"])  # the neighbours are hidden


def test_words_are_measured_in_tokens_from_their_middle() -> None:
    src = tokens("▁a", "▁po", "nd")
    attn = [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    trace = trace_of("encoder_self", attn, src=src)
    row = head_metrics(select(trace, "encoder_self", MapOptions(words=True)), trace).iloc[0]
    assert row["mean_distance"] == pytest.approx(1.5)
    assert row["previous_token"] == row["next_token"] == pytest.approx(1)


def test_a_decoder_row_of_a_whole_word_stands_at_the_word_that_went_in() -> None:
    tgt = tokens(BOS, "▁a", "▁sau", "té", "▁b", EOS)  # rows by word: bos → a, a → sauté, sauté → b, b → eos
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    before = torch.eye(5)[[0, 0, 1, 1, 2]]  # a sees bos; sau and té see a; b sees sau
    trace = trace_of("decoder_self", before, tgt=tgt, mask=causal[None, None])
    row = head_metrics(select(trace, "decoder_self", MapOptions(words=True)), trace).iloc[0]
    # a → sauté: pieces see bos and a, so half is on the word before "a"; both other words see only the word before.
    assert row["previous_token"] == pytest.approx((0.5 + 1 + 1) / 3)


def test_cross_attention_along_the_sentences_is_diagonal_whatever_their_lengths() -> None:
    along = torch.eye(6)[[1, 4]]
    trace = trace_of("cross", along, src=tokens("▁a", "▁b", "▁c", "▁d", "▁e", "▁f"), tgt=tokens(BOS, "▁a", EOS))
    row = head_metrics(select(trace, "cross"), trace).iloc[0]
    assert (row["diagonality"], row["mean_distance"]) == (1, 0)


def test_end_tokens_are_those_like_the_special_token_that_stands_last() -> None:
    assert end_keys(tokens("▁a", EOS)).tolist() == [1]
    assert end_keys(tokens(BOS, "▁a")).tolist() == []
    assert end_keys(tokens(BOS)).tolist() == []
    first, a, end = tokens("<cls>", "▁a", "<sep>")
    assert end_keys((first, a, end, a, end)).tolist() == [2, 4]


def test_a_target_of_special_tokens_only_gives_nan_not_an_error() -> None:
    trace = trace_of("decoder_self", [[1.0]], tgt=tokens(BOS, EOS))
    row = head_metrics(select(trace, "decoder_self", MapOptions("hide")), trace).iloc[0]
    assert row[WORDS].isna().all()
    assert row["first_token_mass"] == 1
