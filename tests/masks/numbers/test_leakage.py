"""The leak test in both directions, and the derivation row by row on real numbers."""

import pytest
import torch

from attnviz.masks.numbers.leakage import leak_test
from attnviz.masks.tabs.rows import first_row_moved, stage
from attnviz.models.translator.tiny import tiny_translator
from attnviz.text.tokens import Token


@pytest.fixture(scope="module")
def model():
    return tiny_translator(n_heads=3, n_layers=2)


@pytest.fixture(scope="module")
def trace(model):
    return model.trace("machine learning is fun", to="zh", tgt_text="机器学习真好玩")


@pytest.fixture(scope="module")
def love(model) -> Token:
    return model.codec.encode_target("爱", "zh").tokens[1]


@pytest.mark.parametrize("position", [1, 4, 7])
def test_with_the_causal_mask_nothing_before_moves_by_a_single_bit(model, trace, love: Token, position: int) -> None:
    masked, _ = leak_test(model, trace, position, love)
    assert masked.earlier_unchanged
    assert masked.change[:, :position].max() == 0
    assert (masked.change[:, position] > 0).all()


@pytest.mark.parametrize("position", [1, 4, 7])
def test_without_it_every_earlier_position_moves_in_every_layer(model, trace, love: Token, position: int) -> None:
    _, unmasked = leak_test(model, trace, position, love)
    assert not unmasked.earlier_unchanged
    assert unmasked.change[0, :position].max() == 0, "the embedding is before any attention"
    assert (unmasked.change[1:, :position] > 0).all()


def test_the_same_token_in_its_own_place_changes_nothing(model, trace) -> None:
    for leak in leak_test(model, trace, 3, trace.sentences[0].tgt[3]):
        assert leak.change.max() == 0


def test_a_position_that_is_not_there_is_named(model, trace, love: Token) -> None:
    with pytest.raises(ValueError, match="no target position 99"):
        leak_test(model, trace, 99, love)


def one_head(trace, layer: int, head: int):
    call = trace.call("decoder_self", layer)
    from dataclasses import replace

    heads = slice(head, head + 1)
    return replace(call, query=call.query[:, heads], key=call.key[:, heads], value=call.value[:, heads])


def test_the_first_context_stays_when_the_second_value_arrives(trace) -> None:
    call = one_head(trace, 0, 1)
    stages = [stage(call, n, causal=True) for n in (1, 2, 3)]
    assert stages[0].attn.tolist() == [[1.0]]
    torch.testing.assert_close(stages[0].context, stages[0].value)
    assert stages[1].attn[0, 1] == 0
    assert first_row_moved(stages[0], stages[1]) < 1e-6
    assert first_row_moved(stages[1], stages[2]) < 1e-6


def test_without_a_mask_it_becomes_a_mixture(trace) -> None:
    call = one_head(trace, 0, 1)
    alone, pair = stage(call, 1, causal=False), stage(call, 2, causal=False)
    expected = pair.attn[0, 0] * pair.value[0] + pair.attn[0, 1] * pair.value[1]
    torch.testing.assert_close(pair.context[0], expected)
    assert pair.attn[0, 1] > 0
    assert first_row_moved(alone, pair) > 1e-4
