"""Beam search: a beam of one is greedy, and a wide beam finds what trying everything finds."""

import itertools

import pytest
import torch

from attnviz.transformer.beam import Beam, Hypothesis, beam_steps
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.decoding import Stepper, Vocabulary, decode
from attnviz.transformer.transformer import Transformer
from tests.each_case import each_case

EOS = 2
VOCABULARY = Vocabulary(EOS, (0, 1))
SRC = torch.tensor([[3, 4, 5]])
FIRST = torch.tensor([1])


def _model(seed: int) -> Transformer:
    model = Transformer(ModelConfig(6, d_model=10, n_heads=2, n_layers=1, d_ff=7)).initialise(seed)
    with torch.no_grad():
        model.embedding.weight.mul_(3)  # decided enough that hypotheses differ
    return model.requires_grad_(False).eval()


def _stepper(model: Transformer, capacity: int = 8) -> Stepper:
    return Stepper(model, model.encode(SRC, None), None, capacity=capacity)


def _log_probability(model: Transformer, ids: tuple[int, ...]) -> float:
    logits = VOCABULARY.forbid(model(SRC, torch.tensor([[1, *ids[:-1]]]))[0])
    return float(logits.log_softmax(-1)[range(len(ids)), list(ids)].sum())


def _every_ended_sentence(max_tokens: int) -> list[tuple[int, ...]]:
    words = (3, 4, 5)
    return [(*rest, EOS) for n in range(max_tokens) for rest in itertools.product(words, repeat=n)]


@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_a_beam_of_one_is_greedy(penalty):
    for model in map(_model, range(8)):
        *_, last = beam_steps(_stepper(model), FIRST, VOCABULARY, max_tokens=8, beam=Beam(1, penalty))
        assert [list(last[0].ids)] == decode(_stepper(model), FIRST, VOCABULARY, max_tokens=8)


@each_case("seed", range(4))
@each_case("penalty", [0.0, 0.6, 1.0])
def test_a_wide_beam_equals_exhaustive_search(seed, penalty):
    model = _model(seed)
    *_, last = beam_steps(_stepper(model), FIRST, VOCABULARY, max_tokens=4, beam=Beam(200, penalty))
    ended = [hypothesis for hypothesis in last if hypothesis.finished]
    every = {ids: _log_probability(model, ids) / len(ids) ** penalty for ids in _every_ended_sentence(4)}
    assert [h.ids for h in ended] == sorted(every, key=every.__getitem__, reverse=True)
    for hypothesis in ended:
        assert hypothesis.score(penalty) == pytest.approx(every[hypothesis.ids], abs=1e-5)


def test_every_step_shows_the_best_first_and_no_more_than_twice_the_size():
    for step, hypotheses in enumerate(
        beam_steps(_stepper(_model(1)), FIRST, VOCABULARY, max_tokens=6, beam=Beam(3)), 1
    ):
        live = [h for h in hypotheses if not h.finished]
        ended = [h for h in hypotheses if h.finished]
        assert [*ended, *live] == list(hypotheses)
        assert len(live) <= 3
        assert len(ended) <= 3
        assert all(len(h.ids) == step for h in live)
        for group in (live, ended):
            scores = [h.score(1.0) for h in group]
            assert scores == sorted(scores, reverse=True)


class Told:
    """A stepper that looks the next token's probabilities up: by hand, where a model would compute them."""

    def __init__(self, table: dict[str, dict[str, float]]) -> None:
        self.table, self.rows = table, [""]

    def step(self, ids: torch.Tensor, /) -> torch.Tensor:
        self.rows = [row + "e__ab?"[id_] for row, id_ in zip(self.rows, ids.tolist(), strict=True)]
        rows = [self.table.get(row.lstrip("?"), {"a": 0.6, "b": 0.4, "e": 1e-9}) for row in self.rows]
        return torch.tensor([[row["e"], 0, 0, row["a"], row["b"], 0] for row in rows]).log()

    def select_rows(self, rows: torch.Tensor, /) -> None:
        self.rows = [self.rows[row] for row in rows.tolist()]


def test_a_beam_of_two_by_hand():
    """An end that comes later but scores higher takes the place of a worse one; it goes on while a living one could.

    Scores are ln p / length. After three steps: aae -0.36, ae -1.06, aaa -1.00, so that a fourth is worth its while;
    after it aaae -0.77 and abaa -0.96, so that no fifth is.
    """
    table = {
        "": {"a": 0.6, "b": 0.1, "e": 0.3},
        "a": {"a": 0.7, "b": 0.1, "e": 0.2},
        "b": {"a": 0.3, "b": 0.2, "e": 0.5},
        "aa": {"a": 0.12, "b": 0.08, "e": 0.8},
        "aaa": {"a": 0.06, "b": 0.04, "e": 0.9},
    }
    found = beam_steps(Told(table), torch.tensor([5]), Vocabulary(0), max_tokens=9, beam=Beam(2))
    assert [" ".join("".join("e__ab?"[id_] for id_ in h.ids) for h in step) for step in found] == [
        "e a b",
        "ae e aa ab",
        "aae ae aaa aba",
        "aae aaae abaa abab",
    ]


def test_log_probabilities_are_those_of_the_model():
    model = _model(2)
    *_, last = beam_steps(_stepper(model), FIRST, VOCABULARY, max_tokens=5, beam=Beam(2))
    for hypothesis in last:
        assert hypothesis.log_probability == pytest.approx(_log_probability(model, hypothesis.ids), abs=1e-5)


def test_score_divides_by_length():
    assert Hypothesis((3, 4, EOS), -6.0).score(0.0) == -6.0
    assert Hypothesis((3, 4, EOS), -6.0).score(1.0) == -2.0


def test_a_beam_of_none_is_refused():
    with pytest.raises(ValueError, match="at least 1 hypothesis, not 0"):
        Beam(0)
