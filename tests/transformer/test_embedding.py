"""Embeddings and sinusoidal positions against the paper's formula."""

import math

import pytest
import torch

from attnviz.transformer.config import ModelConfig
from attnviz.transformer.embedding import Embedding, sinusoidal_positions

CLOSE = {"rtol": 0.0, "atol": 1e-5}


def test_positions_follow_the_formula():
    table = sinusoidal_positions(7, 10)
    for position in range(7):
        for pair in range(5):
            angle = position / 10_000 ** (2 * pair / 10)
            assert table[position, 2 * pair] == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * pair + 1] == pytest.approx(math.cos(angle), abs=1e-6)


def test_positions_from_a_start_are_rows_of_the_whole_table():
    torch.testing.assert_close(sinusoidal_positions(5, 14, start=600), sinusoidal_positions(605, 14)[600:])


def _embedding(**options) -> Embedding:
    embedding = Embedding(ModelConfig(11, 6, 3, 1, 5, **options))
    torch.nn.init.normal_(embedding.weight)
    return embedding.requires_grad_(False)


def test_ids_are_scaled_and_placed():
    embedding = _embedding()
    out = embedding(torch.tensor([[4, 4, 9]]), start=2)
    expected = math.sqrt(6) * embedding.weight[[4, 4, 9]] + sinusoidal_positions(5, 6)[2:]
    torch.testing.assert_close(out[0], expected, **CLOSE)


def test_positions_can_be_left_out():
    embedding = _embedding(positions=False)
    assert embedding.positions is None
    torch.testing.assert_close(embedding(torch.tensor([[4]]))[0, 0], math.sqrt(6) * embedding.weight[4])


def test_a_text_longer_than_the_reserved_table_has_positions_too():
    embedding = _embedding()
    ids = torch.full((1, Embedding.RESERVED + 3), 4)
    expected = math.sqrt(6) * embedding.weight[4] + sinusoidal_positions(Embedding.RESERVED + 3, 6)
    torch.testing.assert_close(embedding(ids)[0], expected, **CLOSE)


def test_logits_come_from_the_tied_weight():
    embedding = _embedding()
    hidden = torch.randn(2, 5, 6)
    torch.testing.assert_close(embedding.logits(hidden), hidden @ embedding.weight.T)
    assert [name for name, _ in embedding.named_parameters()] == ["weight"]
    assert "positions" not in embedding.state_dict()
