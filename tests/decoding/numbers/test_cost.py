"""Multiply-adds equal a count by hand and what PyTorch itself counts on a real run."""

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from attnviz.decoding.numbers.cost import LENGTHS, WAYS, measure_costs, multiply_adds
from attnviz.models.translator.tiny import tiny_translator
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.decoding import Stepper

# One layer, so that a hand can count: d_model 4, two heads of 3, d_ff 5, vocabulary 7; 3 source and 2 target tokens.
CONFIG = ModelConfig(vocab_size=7, d_model=4, n_heads=2, d_k=3, n_layers=1, d_ff=5)
ENCODER = (
    4 * (3 * 4 * 6) + 2 * (2 * 3 * 3 * 3) + 2 * (3 * 4 * 5)
)  # four projections, scores and context, two linear maps


def test_the_encoder_is_counted_once() -> None:
    assert ENCODER == 288 + 108 + 120


def test_multiply_adds_of_a_pass_equal_a_count_by_hand() -> None:
    own = 4 * (2 * 4 * 6) + 2 * (2 * 3 * 2 * 2)
    cross = 2 * (2 * 4 * 6) + 2 * (3 * 4 * 6) + 2 * (2 * 3 * 2 * 3)
    assert multiply_adds(CONFIG, "pass", 3, 2) == ENCODER + own + cross + 2 * (2 * 4 * 5) + 2 * (4 * 7)


def test_caching_takes_about_as_many_as_one_pass() -> None:
    """As the page Decoding says: with the shipped sizes, at every length that is measured, short source or long."""
    sizes = ModelConfig(vocab_size=8000, d_model=256, n_heads=8, d_k=32, n_layers=3, d_ff=1024)
    for src_len in (3, 60):
        for length in LENGTHS:
            ways = {way: multiply_adds(sizes, way, src_len, length) for way in WAYS}
            assert 0.9 < ways["cached"] / ways["pass"] <= 1
            assert ways["recomputed"] > 1.5 * ways["pass"]


def test_recomputing_by_hand() -> None:
    """The prefix of one token, then the prefix of two; logits of the newest row only."""
    one = 4 * (4 * 6) + 2 * (2 * 3) + 2 * (4 * 6) + 2 * (3 * 4 * 6) + 2 * (2 * 3 * 3) + 2 * (4 * 5)
    two = multiply_adds(CONFIG, "pass", 3, 2) - ENCODER - 2 * (4 * 7)
    assert multiply_adds(CONFIG, "recomputed", 3, 2) == ENCODER + one + two + 2 * (4 * 7)


def test_multiply_adds_with_a_cache_equal_a_count_by_hand() -> None:
    """One row a step; the second one attends to two keys and finds the memory's keys and values in the cache."""
    first = 4 * (4 * 6) + 2 * (2 * 3) + 2 * (4 * 6) + 2 * (3 * 4 * 6) + 2 * (2 * 3 * 3) + 2 * (4 * 5)
    second = 4 * (4 * 6) + 2 * (2 * 3 * 2) + 2 * (4 * 6) + 2 * (2 * 3 * 3) + 2 * (4 * 5)
    assert multiply_adds(CONFIG, "cached", 3, 2) == ENCODER + first + second + 2 * (4 * 7)


def _columns_summed(columns: torch.Size, chosen: torch.Size, *_: object, **__: object) -> int:
    return 2 * chosen.numel() * columns[1]


@pytest.mark.parametrize("way", WAYS)
def test_multiply_adds_equal_pytorchs_flop_counter(way: str) -> None:
    model = tiny_translator(seed=0).model
    src, tgt = torch.randint(5, 60, (1, 7)), torch.randint(5, 60, (1, 4))
    # The counter knows plain products: not the CPU's fused kernel, nor a single row's product as a sum of columns.
    plain, bags = sdpa_kernel(SDPBackend.MATH), {torch.ops.aten._embedding_bag_forward_only: _columns_summed}
    with plain, torch.inference_mode(), FlopCounterMode(display=False, custom_mapping=bags) as counter:
        memory = model.encode(src, None)
        if way == "pass":
            model.logits(model.decode(tgt, memory, None))
        else:
            stepper = Stepper(model, memory, None, capacity=4, cached=way == "cached")
            for ids in tgt.unbind(dim=1):
                stepper.step(ids)
    assert multiply_adds(model.config, way, 7, 4) == counter.get_total_flops() // 2


def test_every_way_is_timed_for_every_length() -> None:
    costs = list(measure_costs(tiny_translator(), src_len=3, lengths=(2, 5), runs=1))
    assert [(cost.way, cost.length) for cost in costs] == [(way, length) for length in (2, 5) for way in WAYS]
    assert all(cost.seconds > 0 for cost in costs)


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(ValueError, match="way must be one of pass, recomputed, cached"):
        multiply_adds(CONFIG, "guessed", 3, 2)
