"""Sampling, beams and teachers: what is chosen, what is fed, and that the same seed chooses the same."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

import attnviz
from attnviz.models.translator.stepwise import steps
from attnviz.models.translator.translator import Translator
from attnviz.tracing.trace import Trace
from attnviz.transformer.beam import Beam
from attnviz.transformer.decoding import Sampling
from tests.models.stepping import TARGET, TEXT, judged_run, plan_of, run

pytestmark = pytest.mark.computes


def make_sampling(seed: int) -> Sampling:
    return Sampling(torch.Generator().manual_seed(seed), temperature=1.3, top_k=40, top_p=0.95)


def test_sampling_is_repeatable_by_its_seed(tiny: Translator) -> None:
    ids = [run(tiny, "cached", choose=make_sampling(seed))[0].ids for seed in (7, 7, 8)]
    assert ids[0] == ids[1] != ids[2]


def test_sampled_steps_equal_the_pass_over_what_was_drawn(tiny: Translator) -> None:
    assert judged_run(tiny, "recomputed", choose=make_sampling(7)).holds


def test_a_beam_is_repeatable_and_finds_nothing_worse_than_greedy(tiny: Translator) -> None:
    first, _ = run(tiny, "cached", choose=Beam(4))
    again, _ = run(tiny, "recomputed", choose=Beam(4))
    alone, _ = run(tiny, "cached", choose=Beam(1))
    greedy, _ = run(tiny, "cached")
    assert first.ids == again.ids
    assert alone.ids == greedy.ids
    assert judged_run(tiny, "cached", choose=Beam(4)).holds, "the rows kept are those on the way to the best sentence"
    assert first.hypotheses[-1][0].log_probability >= alone.hypotheses[-1][0].log_probability - 1e-5


def test_a_beams_choices_are_those_of_its_best_sentence(tiny: Translator) -> None:
    made, _ = run(tiny, "cached", choose=Beam(4))
    best = made.hypotheses[-1][0].ids
    assert tuple(token.id for token in made.chosen) == best
    assert tuple(token.id for token in made.fed[1:]) == best[:-1]


def test_a_beam_shows_its_live_hypotheses(tiny: Translator) -> None:
    made, _ = run(tiny, "cached", choose=Beam(3))
    assert [len(kept) for kept in made.hypotheses[:2]] == [3, 3]
    assert {len(hypothesis.ids) for hypothesis in made.hypotheses[1] if not hypothesis.finished} == {2}


def test_a_beams_step_is_a_trace_of_all_its_hypotheses_and_can_be_saved_with_its_maps(
    tiny: Translator, tmp_path: Path
) -> None:
    _, second, *_ = steps(tiny, TEXT, replace(plan_of(tiny, "cached"), choose=Beam(3)))
    trace = second.trace
    assert len(trace.sentences) == 3
    assert torch.equal(trace.attn("encoder_self", item=2), trace.attn("encoder_self"))
    assert torch.equal(trace.layer_output("encoder", 0, item=2), trace.layer_output("encoder", 0))
    attnviz.save(trace, tmp_path / "beam.npz", maps=True)
    again = attnviz.load_trace(tmp_path / "beam.npz")
    assert isinstance(again, Trace)
    torch.testing.assert_close(again.attn("cross", item=2), trace.attn("cross", item=2), rtol=0, atol=1e-6)


def test_a_teacher_is_fed_whatever_the_model_would_choose(tiny: Translator) -> None:
    given = tiny.codec.encode_target(TARGET, "fr")
    made, _ = run(tiny, "teacher")
    assert [token.id for token in made.fed] == list(given.ids[:-1])
    assert len(made.chosen) == len(given.ids) - 1
    assert [token.id for token in made.chosen] != list(given.ids[1:]), "an untrained model does not know the target"


def test_a_beam_refuses_a_teacher(tiny: Translator) -> None:
    with pytest.raises(ValueError, match="cannot use a teacher's prefix"):
        next(steps(tiny, TEXT, replace(plan_of(tiny, "teacher"), choose=Beam())))
