"""Beam search: a beam of one is greedy, and a wide beam finds what trying everything finds."""

import itertools

import pytest
import torch

from attnviz.transformer.beam import Beam, Hypothesis, beam_steps
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.decoding import Stepper, Vocabulary, decode
from attnviz.transformer.transformer import Transformer

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


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_a_beam_of_one_is_greedy(seed, penalty):
    model = _model(seed)
    *_, last = beam_steps(_stepper(model), FIRST, VOCABULARY, max_tokens=8, beam=Beam(1, penalty))
    assert [list(last[0].ids)] == decode(_stepper(model), FIRST, VOCABULARY, max_tokens=8)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0])
def test_a_wide_beam_equals_exhaustive_search(seed, penalty):
    model = _model(seed)
    *_, last = beam_steps(_stepper(model), FIRST, VOCABULARY, max_tokens=4, beam=Beam(200, penalty))
    ended = [hypothesis for hypothesis in last if hypothesis.ended]
    every = {ids: _log_probability(model, ids) / len(ids) ** penalty for ids in _every_ended_sentence(4)}
    assert [h.ids for h in ended] == sorted(every, key=every.__getitem__, reverse=True)
    for hypothesis in ended:
        assert hypothesis.score(penalty) == pytest.approx(every[hypothesis.ids], abs=1e-5)


def test_every_step_shows_the_best_first_and_no_more_than_twice_the_size():
    for step, hypotheses in enumerate(
        beam_steps(_stepper(_model(1)), FIRST, VOCABULARY, max_tokens=6, beam=Beam(3)), 1
    ):
        live = [h for h in hypotheses if not h.ended]
        ended = [h for h in hypotheses if h.ended]
        assert [*ended, *live] == list(hypotheses)
        assert len(live) <= 3
        assert len(ended) <= 3
        assert all(len(h.ids) == step for h in live)
        for group in (live, ended):
            scores = [h.score(1.0) for h in group]
            assert scores == sorted(scores, reverse=True)


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
