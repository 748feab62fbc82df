"""Each score is 1 for the head that it is named after, and 0 for one that looks elsewhere."""

import pytest
import torch

from attnviz.toys.batches import toy_batch
from attnviz.toys.head_scores import WantedKeys, mass, sharpness
from attnviz.toys.tasks.catalogue import TASKS
from attnviz.toys.tasks.task import Example
from attnviz.toys.words import ToyWords

pytestmark = pytest.mark.computes


def wanted_keys(task: str, *sources: str) -> dict[str, torch.Tensor]:
    about = TASKS[task]
    examples = [Example(words := tuple(source.split()), about.answer(words)) for source in sources]
    batch = toy_batch(ToyWords(about), examples)
    return dict(WantedKeys.from_pairs(batch, [about.aligned_places(example) for example in examples]).keys)


def test_the_weight_on_wanted_keys_is_counted_by_hand():
    attn = torch.tensor([[[[0.7, 0.3, 0.0], [0.2, 0.5, 0.3], [0.0, 0.1, 0.9]]]])
    keys = torch.tensor([[[False, True, False], [True, False, True], [False, False, False]]])
    assert float(mass(attn, keys)) == pytest.approx((0.3 + 0.5) / 2)
    assert float(mass(attn, keys & False)) == 0
    assert float(sharpness(attn, torch.tensor([[True, True, False]]))) == pytest.approx(0.6)


def test_a_head_that_looks_at_the_next_token_has_a_superdiagonal_of_one():
    keys = wanted_keys("reverse", "a b c d", "a b c")
    attn = torch.eye(5).roll(1, dims=1).expand(2, 3, 5, 5)  # (batch, heads, q_len, k_len)
    assert torch.equal(mass(attn, keys["superdiagonal"]), torch.ones(3))
    assert torch.equal(mass(attn, keys["previous-token"]), torch.zeros(3))
    assert torch.equal(mass(attn.mT, keys["previous-token"]), torch.ones(3))
    assert int(keys["superdiagonal"].sum()) == 4 + 3  # no row looks into padding


def test_a_line_that_is_reversed_is_aligned_on_the_other_diagonal():
    keys = wanted_keys("reverse", "a b c d")["alignment"]
    assert keys.shape == (1, 5, 5)
    assert torch.equal(keys[0, :4, :4], torch.eye(4).flip(1).bool())
    assert not keys[0, 4].any()  # the end comes from nowhere


def test_an_induction_head_looks_behind_the_earlier_place_of_the_same_letter():
    keys = wanted_keys("twice", "m a t h o l d e r s i k d")["induction"][0]
    # <bos> m a t h o l d e r s i k | d e r s i k m a t h o l: the row of the repeated d looks at e.
    assert keys[13].nonzero().flatten().tolist() == [8]
    assert keys[18].nonzero().flatten().tolist() == [13]  # k, behind which the repeat's d stands
    assert keys[19].nonzero().flatten().tolist() == [2]  # m, behind which a stands
    assert not keys[:13].any()
