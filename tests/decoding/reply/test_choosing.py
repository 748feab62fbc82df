"""A reply's tokens are drawn by seed and position: as often as they are likely, and the same ones again."""

import torch

from attnviz.decoding.reply.numbers.reply import Choosing

LOGITS = torch.tensor([[0.1, 0.2, 0.7]]).log()
POSITIONS = range(2_000)


def drawn(seed: int) -> torch.Tensor:
    return torch.tensor([Choosing(temperature=1.0, seed=seed).choose(LOGITS, at) for at in POSITIONS])


def test_over_positions_each_token_is_drawn_as_often_as_it_is_likely() -> None:
    shares = drawn(seed=3).bincount(minlength=3) / len(POSITIONS)
    assert torch.allclose(shares, LOGITS[0].exp(), atol=0.04)


def test_a_seed_draws_the_same_again_and_another_seed_draws_otherwise() -> None:
    assert drawn(seed=3).equal(drawn(seed=3))
    assert not drawn(seed=3).equal(drawn(seed=4))
