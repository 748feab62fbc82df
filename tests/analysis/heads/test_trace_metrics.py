"""The table of `trace.metrics()`: the numbers of the page, and what a head puts on what came before."""

import math
from dataclasses import replace

import pandas as pd
import pytest
import torch

from attnviz.analysis.metric_table import METRICS, head_metrics, trace_metrics
from attnviz.maps.selection import select
from attnviz.models.translator.tiny import tiny_translator
from tests.analysis.heads.by_hand import BOS, tokens, trace_of


@pytest.fixture(scope="module")
def trace():
    return tiny_translator(seed=0, n_heads=3, n_layers=2).trace("machine learning is fun.", to="fr")


def test_the_numbers_are_those_of_the_page(trace) -> None:
    table = trace_metrics(trace)
    page = head_metrics({kind: select(trace, kind) for kind in trace.kinds}, trace)
    assert list(table.columns) == ["kind", "layer", "head", *METRICS, "induction"]
    pd.testing.assert_frame_equal(table[page.columns], page, rtol=1e-6)
    assert table.attrs["units"] == page.attrs["units"] | {"induction": ""}


def test_one_kind_can_be_asked_for(trace) -> None:
    assert set(trace_metrics(trace, "cross")["kind"]) == {"cross"}


def test_induction_is_the_weight_after_earlier_places_of_the_same_token() -> None:
    typed = [tokens(BOS, "▁a", "▁b", "▁a", "▁c", "▁a")[at] for at in (0, 1, 2, 1, 4, 1)]
    attn = torch.full((6, 6), 1 / 6)
    attn[3] = torch.tensor([0.1, 0.0, 0.7, 0.2, 0.0, 0.0])  # a, which stood before b
    attn[5] = torch.tensor([0.1, 0.1, 0.3, 0.0, 0.4, 0.1])  # a, which stood before b and before c
    trace = trace_of("decoder_self", attn, tgt=tuple(typed), cut=True)
    assert trace_metrics(trace)["induction"].item() == pytest.approx((0.7 + 0.3 + 0.4) / 2)


def test_without_a_repetition_there_is_no_induction() -> None:
    typed = tokens(BOS, "▁a", "▁b", BOS)  # special tokens do not count
    typed = (*typed[:3], typed[0])
    trace = trace_of("decoder_self", torch.full((4, 4), 0.25), tgt=typed, cut=True)
    assert math.isnan(trace_metrics(trace)["induction"].item())


def test_cross_attention_has_none_whatever_the_words() -> None:
    side = tuple(tokens("▁a", "▁b")[at] for at in (0, 1, 0))
    trace = trace_of("cross", torch.full((3, 3), 1 / 3), src=side, tgt=side, cut=True)
    assert math.isnan(trace_metrics(trace)["induction"].item())


def test_the_trace_itself_gives_its_table(trace) -> None:
    pd.testing.assert_frame_equal(trace.metrics("cross"), trace_metrics(trace, "cross"))
    with pytest.raises(ValueError, match="There is no item 1"):
        trace.metrics(item=1)
    with pytest.raises(ValueError, match="kind must be one of encoder_self, cross, not 'decoder_self'"):
        replace(trace, calls={site: call for site, call in trace.calls.items() if site.kind != "decoder_self"}).metrics(
            "decoder_self"
        )
