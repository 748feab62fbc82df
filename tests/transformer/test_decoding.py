"""Greedy and sampled decoding, on the real model and on a stepper whose logits are written by hand."""

import math

import pytest
import torch

from attnviz.transformer.decoding import Sampling, Stepper, Vocabulary, decode, likeliest_ids
from tests.each_case import each_case

EOS, NEVER = 2, (0, 1)
VOCABULARY = Vocabulary(EOS, NEVER)


def _stepper(model, src, *, capacity: int = 12, cached: bool = True) -> Stepper:
    src_mask = model.src_mask(src)
    return Stepper(model, model.encode(src, src_mask), src_mask, capacity=capacity, cached=cached)


def _greedy_by_hand(model, src, first: int, steps: int) -> list[int]:
    tgt = [first]
    for _ in range(steps):
        logits = model(src, torch.tensor([tgt]))[0, -1]
        ranked = [id_ for id_ in logits.argsort(descending=True).tolist() if id_ not in NEVER]
        tgt.append(ranked[0])
        if ranked[0] == EOS:
            break
    return tgt[1:]


class Script:
    """A stepper that answers each row by what was fed to it last: `table[last]` are the logits."""

    def __init__(self, table: torch.Tensor) -> None:
        self.table, self.batches = table, []

    def step(self, ids: torch.Tensor) -> torch.Tensor:
        self.batches.append(ids.tolist())
        return self.table[ids]

    def select_rows(self, rows: torch.Tensor) -> None:
        self.kept = rows.tolist()


@pytest.mark.parametrize("cached", [True, False])
def test_greedy_takes_the_likeliest_at_every_step(model, src, cached):
    for row, length in ((0, 7), (1, 4)):
        alone = src[row : row + 1, :length]
        written = decode(_stepper(model, alone, cached=cached), torch.tensor([1]), VOCABULARY, max_tokens=12)
        assert written == [_greedy_by_hand(model, alone, 1, 12)]


def test_rows_of_a_batch_are_written_as_each_alone(model):
    generator = torch.Generator().manual_seed(8)
    src = torch.randint(3, 23, (5, 7), generator=generator)
    for row, length in enumerate((7, 2, 5, 3, 6)):
        src[row, length:] = 0
    together = decode(_stepper(model, src, capacity=20), torch.tensor([1] * 5), VOCABULARY, max_tokens=20)
    for row, length in enumerate((7, 2, 5, 3, 6)):
        assert together[row] == _greedy_by_hand(model, src[row : row + 1, :length], 1, 20)


def test_rows_that_have_ended_leave_the_batch():
    table = torch.full((6, 6), -9.0)
    table[3, EOS] = table[4, 5] = table[5, 3] = 0.0  # 3 ends at once; 5 then 3 then end; 4 then 5, 3, end
    script = Script(table)
    written = decode(script, torch.tensor([4, 3, 5]), Vocabulary(EOS), max_tokens=9)
    assert written == [[5, 3, EOS], [EOS], [3, EOS]]
    assert script.batches == [[4, 3, 5], [5, 3], [3]]


def test_limit_cuts_without_an_end_for_all_rows_or_for_each():
    table = torch.full((6, 6), -9.0)
    table[3, 4] = table[4, 3] = 0.0
    assert decode(Script(table), torch.tensor([3, 4]), Vocabulary(EOS), max_tokens=3) == [[4, 3, 4], [3, 4, 3]]
    assert decode(Script(table), torch.tensor([3, 4]), Vocabulary(EOS), max_tokens=[1, 3]) == [[4], [3, 4, 3]]


def test_forbidden_ids_are_never_written(model, src):
    alone = src[:1]
    all_but_two = Vocabulary(EOS, tuple(id_ for id_ in range(23) if id_ not in {5, 6}))
    (written,) = decode(_stepper(model, alone), torch.tensor([1]), all_but_two, max_tokens=12)
    assert set(written) <= {5, 6}
    assert len(written) == 12


def test_the_likeliest_that_may_be_written():
    logits = torch.tensor([[0.1, 0.4, 0.2, 0.3], [0.7, 0.05, 0.05, 0.2]])
    assert Vocabulary(EOS).likeliest_ids(logits) == [1, 0]
    assert Vocabulary(EOS, (2,)).likeliest_ids(logits) == [1, 0]
    assert Vocabulary(EOS, (1, 2)).likeliest_ids(logits) == [3, 0]
    assert Vocabulary(EOS, (0, 1, 2)).likeliest_ids(logits) == [3, 3]
    assert float(logits.sum()) == 2, "what was given stays"


LOGITS = torch.tensor([[0.1, 0.4, 0.2, 0.3], [0.7, 0.05, 0.05, 0.2]]).log()


@each_case(
    ("options", "expected"),
    [
        ({}, [[0.1, 0.4, 0.2, 0.3], [0.7, 0.05, 0.05, 0.2]]),
        ({"top_k": 1}, [[0, 1, 0, 0], [1, 0, 0, 0]]),
        ({"top_k": 2}, [[0, 4 / 7, 0, 3 / 7], [7 / 9, 0, 0, 2 / 9]]),
        ({"top_k": 9}, [[0.1, 0.4, 0.2, 0.3], [0.7, 0.05, 0.05, 0.2]]),
        ({"top_p": 0.69}, [[0, 4 / 7, 0, 3 / 7], [1, 0, 0, 0]]),
        ({"top_p": 0.71}, [[0, 4 / 9, 2 / 9, 3 / 9], [7 / 9, 0, 0, 2 / 9]]),
        ({"top_p": 1.0}, [[0.1, 0.4, 0.2, 0.3], [0.7, 0.05, 0.05, 0.2]]),
        ({"top_p": 1e-9}, [[0, 1, 0, 0], [1, 0, 0, 0]]),
        ({"top_k": 3, "top_p": 0.5}, [[0, 4 / 7, 0, 3 / 7], [1, 0, 0, 0]]),
        (
            {"temperature": 0.5},
            [[1 / 30, 16 / 30, 4 / 30, 9 / 30], [0.49 / 0.535, 0.0025 / 0.535, 0.0025 / 0.535, 0.04 / 0.535]],
        ),
    ],
)
def test_distribution_by_hand(options, expected):
    probabilities = Sampling(torch.Generator(), **options).probabilities(LOGITS)
    torch.testing.assert_close(probabilities, torch.tensor(expected, dtype=torch.float32), rtol=0, atol=1e-6)


@pytest.mark.parametrize("options", [{"top_p": 1e-320}, {"temperature": 1e-3}, {"temperature": 1e-3, "top_p": 1e-9}])
def test_the_least_that_may_be_asked_for_draws_the_likeliest(options):
    logits = torch.tensor([[300.0, -float("inf"), 299.0, -300.0]])
    probabilities = Sampling(torch.Generator(), **options).probabilities(logits)
    torch.testing.assert_close(probabilities, torch.tensor([[1.0, 0.0, 0.0, 0.0]]))


def test_draws_follow_the_distribution():
    sampling = Sampling(torch.Generator().manual_seed(4), top_k=3)
    drawn = sampling(LOGITS[:1].expand(20_000, -1)).bincount(minlength=4) / 20_000
    expected = torch.tensor([0.0, 4 / 9, 2 / 9, 3 / 9])
    assert (drawn - expected).abs().max().item() < 5 * math.sqrt(0.25 / 20_000)
    assert drawn[0] == 0


def test_sampling_is_repeatable_and_its_own(model, src):
    def write(seed: int) -> list[list[int]]:
        choose = Sampling(torch.Generator().manual_seed(seed), temperature=1.5)
        return decode(_stepper(model, src), torch.tensor([1, 1]), VOCABULARY, max_tokens=12, choose=choose)

    before = torch.get_rng_state()
    first = write(3)
    assert torch.equal(torch.get_rng_state(), before)
    assert first == write(3)
    assert first != write(4)
    assert not {id_ for row in first for id_ in row} & set(NEVER)


def test_sampling_of_the_likeliest_only_is_greedy(model, src):
    greedy = decode(_stepper(model, src), torch.tensor([1, 1]), VOCABULARY, max_tokens=12)
    choose = Sampling(torch.Generator().manual_seed(0), top_k=1)
    assert decode(_stepper(model, src), torch.tensor([1, 1]), VOCABULARY, max_tokens=12, choose=choose) == greedy
    assert likeliest_ids(LOGITS).tolist() == [1, 0]


@each_case(
    ("options", "reason"),
    [
        ({"temperature": 0.0}, "temperature must be a number of at least 0.001, not 0"),
        ({"temperature": 1e-45}, "at least 0.001, not 1e-45"),
        ({"temperature": math.inf}, "at least 0.001, not inf"),
        ({"temperature": math.nan}, "at least 0.001, not nan"),
        ({"top_k": 0}, "top_k must be at least 1"),
        ({"top_p": 0.0}, "top_p must be"),
        ({"top_p": 1.1}, "top_p must be"),
    ],
)
def test_impossible_sampling_is_refused(options, reason):
    with pytest.raises(ValueError, match=reason):
        Sampling(torch.Generator(), **options)


@pytest.mark.parametrize("cached", [True, False])
def test_a_row_that_may_have_no_token_gets_none_and_leaves_the_others_alone(model, src, cached):
    first = torch.ones(len(src), dtype=torch.long)
    whole = decode(_stepper(model, src, cached=cached), first, VOCABULARY, max_tokens=5)
    limits = [0 if row == 0 else 5 for row in range(len(src))]
    assert decode(_stepper(model, src, cached=cached), first, VOCABULARY, max_tokens=limits) == [[], *whole[1:]]
    assert decode(_stepper(model, src, cached=cached), first, VOCABULARY, max_tokens=0) == [[]] * len(src)
